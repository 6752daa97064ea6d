/// What docs/conventions.md says of other systems, against plain loops that are written from their descriptions.
#include "dsl/conventions.h"

#include <cmath>

#include "tests/dsl/by_heads.h"

namespace attune {
namespace {

/// The graph of softmax(make(g, a)) v; `make` gives the scores.
template <class Make>
Array out_of_scores(Make make, const Arrays& inputs) {
  Graph g;
  const Attention a(g);
  a.output(make(g, a));
  g.finish();
  REQUIRE(text(g.problem()) == "");
  return outputs_of(g, inputs).at("out");
}

/// Both with more keys than queries and with fewer.
const std::pair<Size, Size> both_ways[] = {{3, 7}, {7, 3}, {5, 5}};

/// The mean of the first `count` of the values.
double mean_of_first(const std::vector<double>& values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

TEST_CASE("is_causal of PyTorch's scaled_dot_product_attention is causal, aligned at the top left", "[conventions]") {
  for (const auto& [query_count, key_count] : both_ways) {
    const Arrays inputs = by_heads(query_count, key_count);
    // torch.ones(L, S).tril(diagonal=0)
    check_close(out_of(Causal{}, inputs), expected(inputs, where([](Size, Size i, Size j) { return i >= j; })).out, allowed);
  }
}

TEST_CASE("a boolean mask is true where a query sees a key, and nn.MultiheadAttention's is the opposite", "[conventions]") {
  Arrays inputs = by_heads();
  inputs["mask"] = plain::zeros({batch, queries, keys});
  for (std::size_t n = 0; n < inputs["mask"].data.size(); ++n) inputs["mask"].data[n] = n % 3 == 0 ? 1 : 0;
  const auto given = [&](Size b, Size i, Size j) { return at(inputs["mask"], {b, i, j}) != 0; };
  check_close(out_of(Masked{}, inputs), expected(inputs, where(given)).out, allowed);
  check_close(out_of(Masked{.hides = true}, inputs), expected(inputs, where([&](Size b, Size i, Size j) { return !given(b, i, j); })).out, allowed);
}

TEST_CASE("rows without a visible key are zeros, as in ONNX, PyTorch and FlashAttention", "[conventions]") {
  Arrays inputs = by_heads();
  inputs["mask"] = plain::zeros({batch, queries, keys});
  for (const double x : out_of(Masked{}, inputs).data) CHECK(x == 0);
  // A finite number in place of minus infinity is another convention: there the row is the mean of all values.
  const auto finite = [](Graph& g, const Attention& a) {
    return select(g.input("mask", {a.batch, a.queries, a.keys}, Kind::boolean), a.scores(), -1e30);
  };
  const Array means = out_of_scores(finite, inputs);
  double mean = 0;
  for (Size j = 0; j < keys; ++j) mean += at(inputs["v"], {0, 0, j, 0}) / static_cast<double>(keys);
  CHECK(std::abs(at(means, {0, 0, 2, 0}) - mean) < allowed);
}

TEST_CASE("causal of FlashAttention is causal_offset, aligned at the bottom right", "[conventions]") {
  for (const auto& [query_count, key_count] : both_ways) {
    const Arrays inputs = by_heads(query_count, key_count);
    const Size offset = key_count - query_count;
    check_close(out_of(CausalOffset{}, inputs), expected(inputs, where([&](Size, Size i, Size j) { return j <= i + offset; })).out, allowed);
  }
  // The picture in its documentation, 5 queries and 2 keys: rows see 0, 0, 0, 1 and 2 keys. Equal scores give means of what is seen.
  Arrays equal = {{"q", plain::zeros({1, 1, 5, 1})}, {"k", plain::zeros({1, 1, 2, 1})}, {"v", array({1, 1, 2, 1}, {8, 4})}};
  check_close(out_of(CausalOffset{}, equal), array({1, 1, 5, 1}, {0, 0, 0, 8, 6}), allowed);
}

TEST_CASE("window_size of FlashAttention includes both of its ends", "[conventions]") {
  for (const auto& [query_count, key_count] : both_ways)
    for (const auto& [left, right] : {std::pair{2, 1}, std::pair{0, 0}, std::pair{-1, 1}, std::pair{2, -1}, std::pair{-1, -1}}) {
      const Arrays inputs = by_heads(query_count, key_count);
      const Size offset = key_count - query_count;
      const auto visible =
          where([&](Size, Size i, Size j) { return (left < 0 || j >= i + offset - left) && (right < 0 || j <= i + offset + right); });
      check_close(out_of(Window{.left = left, .right = right, .alignment = Alignment::bottom_right}, inputs), expected(inputs, visible).out, allowed);
      const auto in_place = [&](Graph&, const Attention& a) {
        return mask(a.scores(), in_window(place_of(a, Alignment::bottom_right), a.keys, left, right));
      };
      check_close(out_of_scores(in_place, inputs), expected(inputs, visible).out, allowed);
    }
}

TEST_CASE("a causal window of W keys counts the query's own, of FlashAttention's and attention-gym's sizes there is one key more", "[conventions]") {
  const Arrays inputs = by_heads(7, 7);
  for (const Size size : {1, 2, 5}) {
    // attention-gym: (q_idx - kv_idx <= size) and (q_idx >= kv_idx)
    const plain::Result gym = expected(inputs, where([&](Size, Size i, Size j) { return i - j <= size && i >= j; }));
    check_close(out_of(SlidingWindow{.window = size + 1}, inputs), gym.out, allowed);
    check_close(out_of(Window{.left = size, .right = 0}, inputs), gym.out, allowed);
  }
}

TEST_CASE("ALiBi of FlashAttention is symmetric and aligned at the bottom right, that of attention-gym neither", "[conventions]") {
  for (const auto& [query_count, key_count] : both_ways) {
    Arrays inputs = by_heads(query_count, key_count);
    const auto slope = [](Size h) { return std::exp2(-8 * static_cast<double>(h + 1) / heads); };
    const Size offset = key_count - query_count;
    check_close(out_of(Alibi{}, inputs),
                expected(inputs, [&](Size, Size h, Size i, Size j, double s) { return s + static_cast<double>(j - i) * slope(h); }).out, allowed);
    inputs["slopes"] = array({heads}, {slope(0), slope(1), slope(2)});
    check_close(
        out_of(Alibi{.symmetric = true, .slopes = true, .alignment = Alignment::bottom_right}, inputs),
        expected(inputs, [&](Size, Size h, Size i, Size j, double s) { return s - slope(h) * std::abs(static_cast<double>(i + offset - j)); }).out,
        allowed);
  }
}

TEST_CASE("soft-cap stands before the mask: a masked key stays hidden", "[conventions]") {
  const Arrays inputs = by_heads();
  const auto capped = [](double s) { return 2 * std::tanh(s / 2); };
  const plain::Result right = expected(inputs, [&](Size, Size, Size i, Size j, double s) { return j <= i ? capped(s) : -infinity; });
  check_close(out_of_scores([](Graph&, const Attention& a) { return mask(2 * tanh(a.scores() / 2), index(a.keys) <= index(a.queries)); }, inputs),
              right.out, allowed);
  check_close(out_of(SoftCap{.cap = 2}, inputs), expected(inputs, [&](Size, Size, Size, Size, double s) { return capped(s); }).out, allowed);
  // The other order lets every key through with a score of -2.
  const Array wrong =
      out_of_scores([](Graph&, const Attention& a) { return 2 * tanh(mask(a.scores(), index(a.keys) <= index(a.queries)) / 2); }, inputs);
  CHECK(std::abs(at(wrong, {0, 0, 0, 0}) - at(right.out, {0, 0, 0, 0})) > 0.01);
}

TEST_CASE("log-sum-exp is in natural logarithms, as PyTorch's and FlashAttention's", "[conventions]") {
  const Arrays inputs = by_heads();
  const Array lse = outputs_of(build(ScaledDotProduct{.lse = true}), inputs).at("lse");
  double sum = 0;
  for (Size j = 0; j < keys; ++j) {
    double score = 0;
    for (Size d = 0; d < depth; ++d) score += at(inputs.at("q"), {1, 2, 3, d}) * at(inputs.at("k"), {1, 2, j, d});
    sum += std::exp(score / 2);  // sqrt(depth)
  }
  CHECK(std::abs(at(lse, {1, 2, 3}) - std::log(sum)) < allowed);
  CHECK(std::abs(at(lse, {1, 2, 3}) / std::log(2.0) - std::log2(sum)) < allowed);  // what kernels in base 2, as FlashInfer's, give
}

TEST_CASE("query head h of grouped queries has the keys of head h div group, in all four systems", "[conventions]") {
  constexpr Size group = 2;
  Arrays inputs = by_heads();
  inputs["q"] = plain::random({batch, heads * group, queries, depth}, 4);
  // every key head repeated `group` times in a row
  Arrays repeated = inputs;
  for (const char* name : {"k", "v"}) {
    const Array& from = inputs.at(name);
    Array& into = repeated[name] = plain::zeros({batch, heads * group, from.extents[2], from.extents[3]});
    for (Size b = 0; b < batch; ++b)
      for (Size h = 0; h < heads * group; ++h)
        for (Size j = 0; j < from.extents[2]; ++j)
          for (Size d = 0; d < from.extents[3]; ++d) at(into, {b, h, j, d}) = at(from, {b, h / group, j, d});
  }
  Array right = expected(repeated).out;
  inputs["q"].extents = {batch, heads, group, queries, depth};  // the same memory
  right.extents = {batch, heads, group, queries, value_depth};
  check_close(out_of(GroupedQuery{}, inputs), right, allowed);
}

TEST_CASE("is_causal of ONNX has its offset from the cache or from nonpad_kv_seqlen, and is top left without either", "[conventions]") {
  for (const auto& [query_count, key_count] : both_ways) {
    Arrays inputs = by_heads(query_count, key_count);
    const auto top_left = [](Graph& g, const Attention& a) { return mask(a.scores(), onnx::is_causal(a.queries, a.keys, constant(g, 0))); };
    check_close(out_of_scores(top_left, inputs), expected(inputs, where([](Size, Size i, Size j) { return j <= i; })).out, allowed);
    inputs["nonpad_kv_seqlen"] = array({batch}, {2, 3});  // fewer than queries: the first rows see nothing
    const auto nonpad = [](Graph& g, const Attention& a) {
      const Value lengths = g.input("nonpad_kv_seqlen", {a.batch}, Kind::i64);
      return mask(a.scores(), onnx::is_causal(a.queries, a.keys, lengths - extent(a.queries)) && index(a.keys) < lengths);
    };
    const auto visible = where([&](Size b, Size i, Size j) { return j <= i + 2 + b - query_count && j < 2 + b; });
    check_close(out_of_scores(nonpad, inputs), expected(inputs, visible).out, allowed);
  }
}

TEST_CASE("a mask of three dims is one by head in ONNX", "[conventions]") {
  Arrays inputs = by_heads();
  inputs["mask"] = plain::zeros({heads, queries, keys});
  for (std::size_t n = 0; n < inputs["mask"].data.size(); ++n) inputs["mask"].data[n] = n % 4 < 2 ? 1 : 0;
  check_close(out_of(Masked{.batch = false, .heads = true}, inputs),
              expected(inputs,
                       [&](Size, Size h, Size i, Size j, double s) {
                         return at(inputs["mask"], {h, i, j}) != 0 ? s : -infinity;
                       })
                  .out,
              allowed);
}

TEST_CASE("GroupQueryAttention of ONNX Runtime has lengths minus one and a window that counts the query's own key", "[conventions]") {
  // equal scores; a capacity of 6 keys of which sequence 0 has 4 and sequence 1 has 6, two of them new
  const std::vector<double> values = {8, 4, 12, 16, 2, 30};
  Arrays inputs = {
      {"q", plain::zeros({2, 1, 2, 1})}, {"k", plain::zeros({2, 1, 6, 1})}, {"v", plain::zeros({2, 1, 6, 1})}, {"seqlens_k", array({2}, {3, 5})}};
  for (Size b = 0; b < 2; ++b)
    for (Size j = 0; j < 6; ++j) at(inputs["v"], {b, 0, j, 0}) = values[static_cast<std::size_t>(j)];
  const auto gqa = [&](std::int64_t window) {
    return out_of_scores([=](Graph& g, const Attention& a) {
      return mask(a.scores(), onnxruntime::is_visible(a.queries, a.keys, g.input("seqlens_k", {a.batch}, Kind::i64), window));
    }, inputs);
  };
  check_close(gqa(-1), array({2, 1, 2, 1}, {mean_of_first(values, 3), mean_of_first(values, 4), mean_of_first(values, 5), mean_of_first(values, 6)}),
              allowed);
  check_close(gqa(2), array({2, 1, 2, 1}, {(4 + 12) / 2.0, (12 + 16) / 2.0, (16 + 2) / 2.0, (2 + 30) / 2.0}), allowed);
  check_close(gqa(1), array({2, 1, 2, 1}, {12, 16, 2, 30}), allowed);
}

TEST_CASE("smooth softmax of ONNX Runtime divides by one more, as sink_logit does with a logit of 0", "[conventions]") {
  const Arrays inputs = by_heads();
  const Array out = out_of(SinkLogit{.learned = false}, inputs), plain_out = expected(inputs).out;
  for (Size b = 0; b < batch; ++b)
    for (Size h = 0; h < heads; ++h)
      for (Size i = 0; i < queries; ++i) {
        double sum = 0;
        for (Size j = 0; j < keys; ++j) {
          double score = 0;
          for (Size d = 0; d < depth; ++d) score += at(inputs.at("q"), {b, h, i, d}) * at(inputs.at("k"), {b, h, j, d});
          sum += std::exp(score / 2);  // sqrt(depth)
        }
        for (Size d = 0; d < value_depth; ++d) CHECK(std::abs(at(out, {b, h, i, d}) - at(plain_out, {b, h, i, d}) * sum / (1 + sum)) < allowed);
      }
}

TEST_CASE("position of cached is FlashAttention's cache_seqlens, and ONNX Runtime's seqlens_k + 1 - queries", "[conventions]") {
  // equal scores; rows of a cache for 6 keys, of which 2 are there before the call, and 2 new ones
  Arrays inputs = {{"q", plain::zeros({1, 1, 1, 2, 1})},
                   {"k", plain::zeros({1, 1, 2, 1})},
                   {"v", array({1, 1, 2, 1}, {12, 16})},
                   {"k_cache", plain::zeros({1, 1, 6, 1})},
                   {"v_cache", array({1, 1, 6, 1}, {8, 4, 99, 99, 99, 99})},
                   {"position", array({1}, {2})}};
  const Array out = outputs_of(build(Cached{}), inputs).at("out");
  CHECK(std::abs(out.data[0] - (8 + 4 + 12) / 3.0) < allowed);
  CHECK(std::abs(out.data[1] - (8 + 4 + 12 + 16) / 4.0) < allowed);
  // the same keys, written already: seqlens_k is 3
  Arrays written = {{"q", plain::zeros({1, 1, 2, 1})},
                    {"k", plain::zeros({1, 1, 6, 1})},
                    {"v", array({1, 1, 6, 1}, {8, 4, 12, 16, 99, 99})},
                    {"seqlens_k", array({1}, {3})}};
  const auto gqa = [](Graph& g, const Attention& a) {
    return mask(a.scores(), onnxruntime::is_visible(a.queries, a.keys, g.input("seqlens_k", {a.batch}, Kind::i64)));
  };
  check_close(out_of_scores(gqa, written), array({1, 1, 2, 1}, {out.data[0], out.data[1]}), allowed);
}

}  // namespace attune
