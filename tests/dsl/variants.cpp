/// Every variant against plain loops, on odd shapes.
#include <algorithm>

#include "dsl/variants.h"
#include "tests/dsl/plain_attention.h"

namespace attune {
namespace {

using plain::at;
using plain::Size;

constexpr Size batch = 2, heads = 3, queries = 5, keys = 7, depth = 4, value_depth = 6;
const double allowed = rounding(64, 8);

Arrays by_heads(Size query_count = queries, Size key_count = keys) {
  return {{"q", plain::random({batch, heads, query_count, depth}, 1)},
          {"k", plain::random({batch, heads, key_count, depth}, 2)},
          {"v", plain::random({batch, heads, key_count, value_depth}, 3)}};
}
plain::Result expected(const Arrays& inputs, const plain::Change& change = plain::unchanged) {
  return plain::attention(inputs.at("q"), inputs.at("k"), inputs.at("v"), change);
}
/// The change that hides what is not visible.
template <class Visible>
plain::Change where(Visible visible) {
  return [visible](Size b, Size, Size i, Size j, double score) { return visible(b, i, j) ? score : -infinity; };
}
template <class Variant>
Array out_of(const Variant& variant, const Arrays& inputs) {
  return outputs_of(build(variant), inputs).at("out");
}

/// Self-attention with as many tokens as `values`, queries and keys of zeros, values of width 1: all visible keys weigh the same.
Arrays equal_scores(Size head_count, const std::vector<double>& values) {
  const Size length = static_cast<Size>(values.size());
  Arrays inputs = {{"q", plain::zeros({1, head_count, length, 1})}, {"k", plain::zeros({1, head_count, length, 1})},
                   {"v", plain::zeros({1, head_count, length, 1})}};
  for (Size h = 0; h < head_count; ++h)
    for (Size j = 0; j < length; ++j) at(inputs["v"], {0, h, j, 0}) = values[static_cast<std::size_t>(j)];
  return inputs;
}

constexpr Size model = 8, tokens = 5, memory_tokens = 7;

Arrays layer_inputs(bool biases) {
  Arrays inputs = {{"x", plain::random({batch, tokens, model}, 4)},
                   {"wq", plain::random({heads, depth, model}, 5, 0.5)},
                   {"wk", plain::random({heads, depth, model}, 6, 0.5)},
                   {"wv", plain::random({heads, value_depth, model}, 7, 0.5)},
                   {"wo", plain::random({model, heads, value_depth}, 8, 0.5)}};
  if (!biases) return inputs;
  inputs["bq"] = plain::random({heads, depth}, 9);
  inputs["bk"] = plain::random({heads, depth}, 10);
  inputs["bv"] = plain::random({heads, value_depth}, 11);
  inputs["bo"] = plain::random({model}, 12);
  return inputs;
}
Array random_mask(std::vector<Size> extents) {
  Array mask = plain::random(std::move(extents), 13);
  for (double& x : mask.data) x = x > -0.3;
  return mask;
}
const Array lengths = array({batch}, {3, 0});

}  // namespace

TEST_CASE("scaled_dot_product is softmax(q k^T / sqrt(depth)) v", "[variants]") {
  const Arrays inputs = by_heads();
  const Arrays got = outputs_of(build(ScaledDotProduct{.weights = true}), inputs);
  check_close(got.at("out"), expected(inputs).out, allowed);
  check_close(got.at("weights"), expected(inputs).weights, allowed);
}

TEST_CASE("causal is aligned at the top left", "[variants]") {
  for (const auto& [q, k] : {std::pair<Size, Size>{5, 7}, {7, 5}, {1, 4}}) {
    const Arrays inputs = by_heads(q, k);
    check_close(out_of(Causal{}, inputs), expected(inputs, where([](Size, Size i, Size j) { return i >= j; })).out, allowed);
  }
}

TEST_CASE("causal_offset is aligned at the bottom right, leading queries without keys give zeros", "[variants]") {
  for (const auto& [q, k] : {std::pair<Size, Size>{5, 7}, {7, 5}, {1, 4}}) {
    const Arrays inputs = by_heads(q, k);
    const Size past = k - q;
    const Array got = out_of(CausalOffset{}, inputs);
    check_close(got, expected(inputs, where([past](Size, Size i, Size j) { return j <= i + past; })).out, allowed);
    if (past < 0) CHECK(at(got, {0, 0, 0, 0}) == 0);
  }
}

TEST_CASE("sliding_window sees `window` keys, itself among them", "[variants]") {
  const Arrays inputs = by_heads(9, 9);
  for (const std::int64_t window : {1, 3, 100})
    check_close(out_of(SlidingWindow{.window = window}, inputs),
                expected(inputs, where([window](Size, Size i, Size j) { return j <= i && i - j < window; })).out, allowed);
  check_close(out_of(SlidingWindow{.window = 1}, inputs), inputs.at("v"), allowed);
}

TEST_CASE("soft_cap bends the scores", "[variants]") {
  const Arrays inputs = by_heads();
  for (const double cap : {0.5, 30.0})
    check_close(out_of(SoftCap{.cap = cap}, inputs),
                expected(inputs, [cap](Size, Size, Size, Size, double s) { return cap * std::tanh(s / cap); }).out, allowed);
}

TEST_CASE("padded sees the keys of each sequence, a sequence of length 0 gives zeros", "[variants]") {
  Arrays inputs = by_heads();
  const Array got = expected(inputs, where([](Size b, Size, Size j) { return j < (b == 0 ? 3 : 0); })).out;
  inputs["lengths"] = lengths;
  check_close(out_of(Padded{}, inputs), got, allowed);
  check_close(out_of(Padded{.clears_padding = true}, inputs), got, allowed);
}

TEST_CASE("padding may hold NaN: in k always, in v if it is cleared", "[variants]") {
  Arrays inputs = by_heads();
  inputs["lengths"] = lengths;
  const Array clean = out_of(Padded{}, inputs);
  const auto poison = [&](const char* name, Size width) {
    for (Size b = 0; b < batch; ++b)
      for (Size h = 0; h < heads; ++h)
        for (Size j = b == 0 ? 3 : 0; j < keys; ++j)
          for (Size d = 0; d < width; ++d) at(inputs[name], {b, h, j, d}) = quiet_nan;
  };
  poison("k", depth);
  check_close(out_of(Padded{}, inputs), clean);
  poison("v", value_depth);
  check_close(out_of(Padded{.clears_padding = true}, inputs), clean);
}

TEST_CASE("masked sees where the mask is true, in every head", "[variants]") {
  Arrays inputs = by_heads();
  const Array mask = random_mask({batch, queries, keys});
  const Array got = expected(inputs, where([&](Size b, Size i, Size j) { return at(mask, {b, i, j}) != 0; })).out;
  inputs["mask"] = mask;
  check_close(out_of(Masked{}, inputs), got, allowed);
}

TEST_CASE("grouped_query shares a head of keys and values among the queries of a group", "[variants]") {
  const Size group = 3;
  Arrays inputs = by_heads();
  inputs["q"] = plain::random({batch, heads, group, queries, depth}, 1);
  Array repeated_k = plain::zeros({batch, heads * group, keys, depth}), repeated_v = plain::zeros({batch, heads * group, keys, value_depth});
  for (Size b = 0; b < batch; ++b)
    for (Size h = 0; h < heads * group; ++h)
      for (Size j = 0; j < keys; ++j) {
        for (Size d = 0; d < depth; ++d) at(repeated_k, {b, h, j, d}) = at(inputs["k"], {b, h / group, j, d});
        for (Size d = 0; d < value_depth; ++d) at(repeated_v, {b, h, j, d}) = at(inputs["v"], {b, h / group, j, d});
      }
  Array q = inputs["q"];
  q.extents = {batch, heads * group, queries, depth};
  Array wanted = plain::attention(q, repeated_k, repeated_v).out;
  wanted.extents = {batch, heads, group, queries, value_depth};
  check_close(out_of(GroupedQuery{}, inputs), wanted, allowed);
}

TEST_CASE("sinks sees the first keys and the nearest ones", "[variants]") {
  const Arrays inputs = by_heads(9, 9);
  for (const auto& [sinks, window] : {std::pair{0, 3}, {2, 3}, {20, 1}})
    check_close(out_of(Sinks{.sinks = sinks, .window = window}, inputs),
                expected(inputs, where([&](Size, Size i, Size j) { return j <= i && (j < sinks || i - j < window); })).out, allowed);
  // equal scores: rows 0 to 3 are the means of keys 0; 0, 1; 0, 1, 2; and, key 1 having left the window, of 0, 2, 3
  check_close(out_of(Sinks{.sinks = 1, .window = 2}, equal_scores(1, {8, 4, 12, 16})), array({1, 1, 4, 1}, {8, 6, 8, 12}), allowed);
}

TEST_CASE("prefix_lm sees the prefix from everywhere, and is causal behind it", "[variants]") {
  Arrays inputs = by_heads();
  inputs["prefix"] = array({batch}, {3, 0});
  check_close(out_of(PrefixLm{}, inputs), expected(inputs, where([](Size b, Size i, Size j) { return j < (b == 0 ? 3 : 0) || j <= i; })).out,
              allowed);
  Arrays equal = equal_scores(1, {8, 4, 12, 16});
  equal["prefix"] = array({1}, {2});
  check_close(out_of(PrefixLm{}, equal), array({1, 1, 4, 1}, {6, 6, 8, 10}), allowed);
}

TEST_CASE("document sees the keys of the query's document, in any order of documents", "[variants]") {
  Arrays inputs = by_heads(7, 7);
  inputs["ids"] = array({batch, 7}, {0, 0, 0, 1, 1, 2, 2, 5, 3, 5, 3, 3, 5, -1});
  const auto is_own = [&](Size b, Size i, Size j) { return at(inputs["ids"], {b, i}) == at(inputs["ids"], {b, j}); };
  check_close(out_of(Document{}, inputs), expected(inputs, where(is_own)).out, allowed);
  check_close(out_of(Document{.causal = true}, inputs),
              expected(inputs, where([&](Size b, Size i, Size j) { return j <= i && is_own(b, i, j); })).out, allowed);
  Arrays equal = equal_scores(1, {8, 4, 12, 20});
  equal["ids"] = array({1, 4}, {7, 9, 7, 9});
  check_close(out_of(Document{}, equal), array({1, 1, 4, 1}, {10, 12, 10, 12}), allowed);
  check_close(out_of(Document{.causal = true}, equal), array({1, 1, 4, 1}, {8, 4, 10, 12}), allowed);
}

TEST_CASE("alibi adds the distance times the slope of the head", "[variants]") {
  const Arrays inputs = by_heads();
  const auto bias = [](Size, Size h, Size i, Size j, double s) {
    return s + static_cast<double>(j - i) * std::exp2(-8 * static_cast<double>(h + 1) / heads);
  };
  check_close(out_of(Alibi{}, inputs), expected(inputs, bias).out, allowed);
  check_close(out_of(Alibi{.causal = true}, inputs), expected(inputs, [&](Size b, Size h, Size i, Size j, double s) {
                return j <= i ? bias(b, h, i, j, s) : -infinity;
              }).out, allowed);
  // of 8 heads the first has slope 1/2, the last 1/256: the weight of the second of two keys is 1 / (1 + exp(-slope))
  const Array out = out_of(Alibi{}, equal_scores(8, {0, 1}));
  CHECK(std::abs(at(out, {0, 0, 0, 0}) - 0.6224593312018546) < allowed);
  CHECK(std::abs(at(out, {0, 7, 1, 0}) - 0.5009765612582384) < allowed);
}

TEST_CASE("relative_bias of T5 has a row for each small distance and wider ones behind", "[variants]") {
  // the least distances of the buckets from 8 to 15 of 32, 16 of them on a side, up to 128: T5's own
  const std::vector<Size> least = {8, 12, 16, 23, 32, 46, 64, 91};
  const Size length = 130;
  Arrays inputs = equal_scores(1, std::vector<double>(length, 1));
  Array& bias = inputs["bias"] = plain::random({32, 1}, 18);
  for (Size j = 0; j < length; ++j) at(inputs["v"], {0, 0, j, 0}) = static_cast<double>(j % 7);
  const auto bucket = [&](Size distance) {
    const Size size = std::abs(distance), wide = std::ranges::upper_bound(least, size) - least.begin();
    return (distance > 0 ? 16 : 0) + (size < 8 ? size : 7 + wide);
  };
  const auto change = [&](Size, Size, Size i, Size j, double s) { return s + at(bias, {bucket(j - i), 0}); };
  check_close(out_of(RelativeBias{}, inputs), expected(inputs, change).out, allowed);
}

TEST_CASE("relative_bias of a causal T5 spends all rows on what is before the query", "[variants]") {
  // of 8 buckets up to 16: 0 to 3 one by one, then from 4, 5.66, 8 and 11.3, rounded up
  const std::vector<Size> bucket = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7};
  const Size length = static_cast<Size>(bucket.size());
  Arrays inputs = by_heads(length, length);
  inputs["bias"] = plain::random({8, heads}, 18);
  const auto change = [&](Size, Size h, Size i, Size j, double s) {
    return j <= i ? s + at(inputs["bias"], {bucket[static_cast<std::size_t>(i - j)], h}) : -infinity;
  };
  check_close(out_of(RelativeBias{.buckets = 8, .max_distance = 16, .causal = true}, inputs), expected(inputs, change).out, allowed);
}

TEST_CASE("relative_bias clipped has a row for each distance, the ends standing for all beyond", "[variants]") {
  Arrays inputs = by_heads();
  const RelativeBias variant{.distances = Distances::clipped, .max_distance = 2};
  inputs["bias"] = plain::random({5, heads}, 18);
  const auto change = [&](Size, Size h, Size i, Size j, double s) { return s + at(inputs["bias"], {std::clamp<Size>(j - i, -2, 2) + 2, h}); };
  check_close(out_of(variant, inputs), expected(inputs, change).out, allowed);
  // row 0 is that of distance -2: with a bias of ln 2 there, query 2 weighs keys 0, 1, 2 as 2, 1, 1
  Arrays equal = equal_scores(1, {8, 4, 12});
  equal["bias"] = array({5, 1}, {std::log(2.0), 0, 0, 0, 0});
  check_close(out_of(variant, equal), array({1, 1, 3, 1}, {8, 8, 8}), allowed);
  equal["v"].data = {6, 1, 1};
  check_close(out_of(variant, equal), array({1, 1, 3, 1}, {8. / 3, 8. / 3, 3.5}), allowed);

  Arrays causal = by_heads(5, 5);
  causal["bias"] = plain::random({3, heads}, 18);
  const auto before = [&](Size, Size h, Size i, Size j, double s) {
    return j <= i ? s + at(causal["bias"], {std::max<Size>(j - i, -2) + 2, h}) : -infinity;
  };
  check_close(out_of(RelativeBias{.distances = Distances::clipped, .max_distance = 2, .causal = true}, causal), expected(causal, before).out, allowed);
}

TEST_CASE("relative_bias leaves the scores unscaled if T5 itself is wanted", "[variants]") {
  Arrays inputs = by_heads();
  inputs["bias"] = plain::zeros({32, heads});
  const auto unscaled = [](Size, Size, Size, Size, double s) { return s * std::sqrt(static_cast<double>(depth)); };
  check_close(out_of(RelativeBias{.scaled = false}, inputs), expected(inputs, unscaled).out, allowed);
}

TEST_CASE("parameters that make no sense are refused with their values", "[variants]") {
  const auto problem = [](const auto& variant) { return text(build(variant).problem()); };
  CHECK(problem(Sinks{.sinks = -1}) == "sinks: sinks is -1; it must be at least 0");
  CHECK(problem(Sinks{.window = 0}) == "sinks: window is 0; it must be at least 1");
  CHECK(problem(RelativeBias{.buckets = 30}) == "relative_bias: buckets is 30; it must be a multiple of 4 up to 64");
  CHECK(problem(RelativeBias{.buckets = 66, .causal = true}) == "relative_bias: buckets is 66; it must be a multiple of 2 up to 64");
  CHECK(problem(RelativeBias{.max_distance = 8}) == "relative_bias: max_distance is 8; it must be from 9 to 1048576");
  CHECK(problem(RelativeBias{.buckets = 64, .max_distance = 33, .causal = true}) == "");
}

TEST_CASE("multi_head projects, attends and projects back, with and without biases", "[variants]") {
  for (const bool biases : {false, true}) {
    const Arrays inputs = layer_inputs(biases);
    const Arrays got = outputs_of(build(MultiHead{.biases = biases, .weights = true}), inputs);
    const plain::Result wanted = plain::layer(inputs, inputs.at("x"), inputs.at("x"));
    check_close(got.at("out"), wanted.out, allowed);
    check_close(got.at("weights"), wanted.weights, allowed);
  }
}

TEST_CASE("multi_head multiplies the scores, then hides what mask and lengths say", "[variants]") {
  Arrays inputs = layer_inputs(false);
  const Array factors = plain::random({batch, heads, tokens, tokens}, 14), mask = random_mask({batch, tokens, tokens});
  const auto change = [&](Size b, Size h, Size i, Size j, double score) {
    const bool is_visible = at(mask, {b, i, j}) != 0 && static_cast<double>(j) < at(lengths, {b});
    return is_visible ? score * at(factors, {b, h, i, j}) : -infinity;
  };
  const plain::Result wanted = plain::layer(inputs, inputs.at("x"), inputs.at("x"), change);
  inputs["score_weights"] = factors;
  inputs["mask"] = mask;
  inputs["lengths"] = lengths;
  check_close(out_of(MultiHead{.score_weights = true, .mask = true, .lengths = true}, inputs), wanted.out, allowed);
}

TEST_CASE("multi_head drops weights of the sum, not of the second output", "[variants]") {
  Arrays inputs = layer_inputs(false);
  const plain::Result whole = plain::layer(inputs, inputs.at("x"), inputs.at("x"));
  inputs["seed"] = scalar(3);
  inputs["offset"] = scalar(4);
  const Arrays got = outputs_of(build(MultiHead{.dropout = 0.5, .weights = true}), inputs);
  check_close(got.at("weights"), whole.weights, allowed);
  double distance = 0;
  for (std::size_t i = 0; i < whole.out.data.size(); ++i) distance += std::abs(got.at("out").data[i] - whole.out.data[i]);
  CHECK(distance > 1);
}

TEST_CASE("cross attends from x to the memory", "[variants]") {
  Arrays inputs = layer_inputs(true);
  inputs["memory"] = plain::random({batch, memory_tokens, model}, 15);
  const plain::Result wanted = plain::layer(inputs, inputs.at("x"), inputs.at("memory"));
  const Arrays got = outputs_of(build(Cross{.biases = true, .weights = true}), inputs);
  check_close(got.at("out"), wanted.out, allowed);
  check_close(got.at("weights"), wanted.weights, allowed);

  const Array mask = random_mask({batch, tokens, memory_tokens});
  const plain::Result hidden = plain::layer(inputs, inputs.at("x"), inputs.at("memory"), where([&](Size b, Size i, Size j) {
    return at(mask, {b, i, j}) != 0 && static_cast<double>(j) < at(lengths, {b});
  }));
  inputs["mask"] = mask;
  inputs["lengths"] = lengths;
  check_close(out_of(Cross{.biases = true, .mask = true, .lengths = true}, inputs), hidden.out, allowed);
}

TEST_CASE("additive scores a query and a key with a small network", "[variants]") {
  const Size hidden = 5, key_depth = 3;
  const Arrays inputs = {{"q", plain::random({batch, queries, depth}, 1)},      {"k", plain::random({batch, keys, key_depth}, 2)},
                         {"v", plain::random({batch, keys, value_depth}, 3)},   {"wq", plain::random({hidden, depth}, 4)},
                         {"wk", plain::random({hidden, key_depth}, 5)},         {"wa", plain::random({hidden}, 6)}};
  Array weights = plain::zeros({batch, queries, keys}), out = plain::zeros({batch, queries, value_depth});
  for (Size b = 0; b < batch; ++b)
    for (Size i = 0; i < queries; ++i) {
      double total = 0;
      for (Size j = 0; j < keys; ++j) {
        double score = 0;
        for (Size u = 0; u < hidden; ++u) {
          double sum = 0;
          for (Size d = 0; d < depth; ++d) sum += at(inputs.at("wq"), {u, d}) * at(inputs.at("q"), {b, i, d});
          for (Size d = 0; d < key_depth; ++d) sum += at(inputs.at("wk"), {u, d}) * at(inputs.at("k"), {b, j, d});
          score += at(inputs.at("wa"), {u}) * std::tanh(sum);
        }
        total += at(weights, {b, i, j}) = std::exp(score);
      }
      for (Size j = 0; j < keys; ++j) {
        at(weights, {b, i, j}) /= total;
        for (Size d = 0; d < value_depth; ++d) at(out, {b, i, d}) += at(weights, {b, i, j}) * at(inputs.at("v"), {b, j, d});
      }
    }
  const Arrays got = outputs_of(build(Additive{.weights = true}), inputs);
  check_close(got.at("out"), out, allowed);
  check_close(got.at("weights"), weights, allowed);
}

TEST_CASE("embedded adds positions to the embeddings, attends, and adds the result to the embeddings", "[variants]") {
  const Size vocabulary = 11;
  for (const bool is_learned : {false, true})
    for (const bool has_lengths : {false, true}) {
      Arrays inputs = layer_inputs(true);
      inputs.erase("x");
      inputs["tokens"] = array({batch, tokens}, {3, 0, 10, 3, 1, 7, 7, 2, 9, 4});
      inputs["embedding"] = plain::random({vocabulary, model}, 16);
      if (is_learned) inputs["positions"] = plain::random({tokens, model}, 17);
      if (has_lengths) inputs["lengths"] = lengths;
      Array e = plain::zeros({batch, tokens, model}), x = e;
      for (Size b = 0; b < batch; ++b)
        for (Size t = 0; t < tokens; ++t)
          for (Size m = 0; m < model; ++m) {
            const double angle = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(m / 2 * 2) / model);
            const double position = is_learned ? at(inputs["positions"], {t, m}) : m % 2 == 0 ? std::sin(angle) : std::cos(angle);
            at(e, {b, t, m}) = at(inputs["embedding"], {static_cast<Size>(at(inputs["tokens"], {b, t})), m});
            at(x, {b, t, m}) = at(e, {b, t, m}) + position;
          }
      Array wanted = plain::layer(inputs, x, x, where([&](Size b, Size, Size j) {
                       return !has_lengths || static_cast<double>(j) < at(lengths, {b});
                     })).out;
      for (std::size_t i = 0; i < wanted.data.size(); ++i) wanted.data[i] += e.data[i];
      const Positions positions = is_learned ? Positions::learned : Positions::sinusoidal;
      check_close(out_of(Embedded{.positions = positions, .biases = true, .lengths = has_lengths}, inputs), wanted, allowed);
    }
}

TEST_CASE("no queries give nothing, and no keys give zeros", "[variants]") {
  CHECK(out_of(Causal{}, by_heads(0, 4)).data.empty());
  check_close(out_of(SoftCap{}, by_heads(2, 0)), plain::zeros({batch, heads, 2, value_depth}));
}

}  // namespace attune
