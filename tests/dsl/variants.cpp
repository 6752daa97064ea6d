/// Attention by heads against plain loops, on odd shapes.
#include "dsl/variants.h"
#include "tests/dsl/by_heads.h"

namespace attune {

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

TEST_CASE("what a softmax divides by is an output of its own, minus infinity where nothing is seen", "[variants]") {
  Arrays inputs = by_heads();
  Array sums = plain::zeros({batch, heads, queries});
  expected(inputs, [&](Size b, Size h, Size i, Size, double s) {
    at(sums, {b, h, i}) += std::exp(s);
    return s;
  });
  for (double& x : sums.data) x = std::log(x);
  check_close(outputs_of(build(ScaledDotProduct{.lse = true}), inputs).at("lse"), sums, allowed);
  inputs["lengths"] = array({batch}, std::vector<double>(static_cast<std::size_t>(batch), 0));
  const Arrays unseen = outputs_of(build(Padded{.lse = true}), inputs);
  for (const double x : unseen.at("lse").data) CHECK(x == -infinity);
}

TEST_CASE("partial results are merged by their logarithms", "[variants]") {
  // two parts, of which the second query saw the first alone and the third none
  const Arrays inputs = {{"partial", array({2, 1, 1, 3, 2}, {1, 2, 3, 4, 0, 0, 10, 20, 0, 0, 0, 0})},
                         {"partial_lse", array({2, 1, 1, 3}, {std::log(3.), 5, -infinity, 0, -infinity, -infinity})}};
  const Arrays merged = outputs_of(build(MergePartials{}), inputs);
  check_elements(merged.at("out"), {1, 1, 3, 2}, {0.75 * 1 + 0.25 * 10, 0.75 * 2 + 0.25 * 20, 3, 4, 0, 0}, allowed);
  check_elements(merged.at("lse"), {1, 1, 3}, {std::log(4.), 5, -infinity}, allowed);
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

TEST_CASE("scaled_dot_product hides what a mask says, drops weights, and returns them before", "[variants]") {
  Arrays inputs = by_heads();
  const Array mask = random_mask({batch, queries, keys});
  const plain::Result wanted = expected(inputs, where([&](Size b, Size i, Size j) { return at(mask, {b, i, j}) != 0; }));
  inputs["mask"] = mask;
  inputs["seed"] = scalar(3);
  inputs["offset"] = scalar(4);
  const Arrays got = outputs_of(build(ScaledDotProduct{.weights = true, .mask = true, .dropout = 0.5}), inputs);
  check_close(got.at("weights"), wanted.weights, allowed);
  double distance = 0;
  for (std::size_t i = 0; i < wanted.out.data.size(); ++i) distance += std::abs(got.at("out").data[i] - wanted.out.data[i]);
  CHECK(distance > 1);
  inputs.erase("seed"), inputs.erase("offset");
  check_close(out_of(ScaledDotProduct{.mask = true}, inputs), wanted.out, allowed);
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

TEST_CASE("no queries give nothing, and no keys give zeros", "[variants]") {
  CHECK(out_of(Causal{}, by_heads(0, 4)).data.empty());
  check_close(out_of(SoftCap{}, by_heads(2, 0)), plain::zeros({batch, heads, 2, value_depth}));
}

}  // namespace attune
