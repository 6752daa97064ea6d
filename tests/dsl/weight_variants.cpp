/// Variants whose weights no softmax makes, or more than one, against plain loops and numbers worked out by hand.
#include "tests/dsl/by_heads.h"

namespace attune {
namespace {

/// The scores q k^T / sqrt(depth) of a row as the loops below take them.
using Weight = std::function<double(Size h, Size i, Size j, double score)>;

double product(const Array& a, Size i, const Array& b, Size j, Size head_b, Size head_h) {
  double sum = 0;
  for (Size d = 0; d < a.extents[3]; ++d) sum += at(a, {head_b, head_h, i, d}) * at(b, {head_b, head_h, j, d});
  return sum;
}

/// out = divided(sum_j w v, sum_j w) with w = weight(q k^T / sqrt(depth)).
Array weighted(const Arrays& inputs, const Weight& weight, const std::function<double(double sum, double total)>& divided) {
  const Array &q = inputs.at("q"), &k = inputs.at("k"), &v = inputs.at("v");
  Array out = plain::zeros({q.extents[0], q.extents[1], q.extents[2], v.extents[3]});
  for (Size b = 0; b < out.extents[0]; ++b)
    for (Size h = 0; h < out.extents[1]; ++h)
      for (Size i = 0; i < out.extents[2]; ++i)
        for (Size d = 0; d < out.extents[3]; ++d) {
          double sum = 0, total = 0;
          for (Size j = 0; j < k.extents[2]; ++j) {
            const double w = weight(h, i, j, product(q, i, k, j, b, h) / std::sqrt(static_cast<double>(q.extents[3])));
            sum += w * at(v, {b, h, j, d});
            total += w;
          }
          at(out, {b, h, i, d}) = divided(sum, total);
        }
  return out;
}
Array weighted(const Arrays& inputs, const Weight& weight) {
  return weighted(inputs, weight, [](double sum, double) { return sum; });
}
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// One head of one query [x] and the keys [1], [2] with the values 10 and 100.
Arrays one_query(double x) {
  return {{"q", array({1, 1, 1, 1}, {x})}, {"k", array({1, 1, 2, 1}, {1, 2})}, {"v", array({1, 1, 2, 1}, {10, 100})}};
}

}  // namespace

TEST_CASE("sigmoid_attention weighs each key by itself", "[variants]") {
  const Arrays inputs = by_heads();
  check_close(out_of(SigmoidAttention{.bias = -0.5}, inputs), weighted(inputs, [](Size, Size, Size, double s) { return sigmoid_of(s - 0.5); }),
              allowed);
  check_close(out_of(SigmoidAttention{.key_bias = true, .causal = true}, inputs),
              weighted(inputs, [](Size, Size i, Size j, double s) { return j <= i ? sigmoid_of(s - std::log(7.)) : 0; }), allowed);
  // sigmoid(0) = 1/2
  check_elements(out_of(SigmoidAttention{}, one_query(0)), {1, 1, 1, 1}, {55}, allowed);
}

TEST_CASE("relu_attention takes positive scores, over the number of keys", "[variants]") {
  const Arrays inputs = by_heads();
  const auto over_keys = [](double sum, double) { return sum / 7; };
  check_close(out_of(ReluAttention{}, inputs), weighted(inputs, [](Size, Size, Size, double s) { return std::max(s, 0.); }, over_keys), allowed);
  check_close(out_of(ReluAttention{.squared = true, .causal = true}, inputs),
              weighted(inputs, [](Size, Size i, Size j, double s) { return j <= i && s > 0 ? s * s : 0; }, over_keys), allowed);
  check_elements(out_of(ReluAttention{}, one_query(3)), {1, 1, 1, 1}, {(3 * 10 + 6 * 100) / 2.}, allowed);
  check_elements(out_of(ReluAttention{}, one_query(-3)), {1, 1, 1, 1}, {0}, allowed);
}

TEST_CASE("retention decays by a factor of the head for each key in between", "[variants]") {
  Arrays inputs = by_heads();
  inputs["log_gamma"] = array({heads}, {std::log(0.5), std::log(0.9), 3});  // the last does not decay
  const auto weight = [](Size h, Size i, Size j, double s) {
    return j > i ? 0 : s * std::pow(h == 0 ? 0.5 : h == 1 ? 0.9 : 1, static_cast<double>(i - j));
  };
  check_close(out_of(Retention{}, inputs), weighted(inputs, weight), allowed);
  check_close(out_of(Retention{.normalised = true}, inputs),
              weighted(inputs, weight, [](double sum, double total) { return sum / std::max(std::abs(total), 1.); }), allowed);
  // two queries [1], [4]: the second sees the first key at half its score
  const Arrays two = {{"q", array({1, 1, 2, 1}, {1, 4})},
                      {"k", array({1, 1, 2, 1}, {1, 2})},
                      {"v", array({1, 1, 2, 1}, {10, 100})},
                      {"log_gamma", array({1}, {std::log(0.5)})}};
  check_elements(out_of(Retention{}, two), {1, 1, 2, 1}, {10, 2 * 10 + 8 * 100}, allowed);
  check_elements(out_of(Retention{.normalised = true}, two), {1, 1, 2, 1}, {10, (2 * 10 + 8 * 100) / 10.}, allowed);
}

TEST_CASE("linear_attention is the same summed up first and by pairs", "[variants]") {
  const Arrays inputs = by_heads();
  const auto feature = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  Arrays mapped = inputs;
  for (const char* name : {"q", "k"})
    for (double& x : mapped[name].data) x = feature(x);
  for (const bool causal : {false, true}) {
    const Weight weight = [causal](Size, Size i, Size j, double s) { return causal && j > i ? 0 : s * std::sqrt(static_cast<double>(depth)); };
    check_close(out_of(LinearAttention{.causal = causal}, inputs), weighted(inputs, weight), allowed);
    check_close(out_of(LinearAttention{.feature_map = FeatureMap::elu_plus_1, .normalised = true, .causal = causal}, inputs),
                weighted(mapped, weight, [](double sum, double total) { return sum / total; }), allowed);
  }
}

TEST_CASE("a sink takes weight and has no value", "[variants]") {
  Arrays inputs = by_heads();
  const auto of_sink = [&](const std::vector<double>& sink, bool causal) {
    Array out = plain::zeros({batch, heads, queries, value_depth});
    for (Size b = 0; b < batch; ++b)
      for (Size h = 0; h < heads; ++h)
        for (Size i = 0; i < queries; ++i) {
          double total = std::exp(sink[static_cast<std::size_t>(h)]);
          for (Size j = 0; j < keys; ++j) {
            const double w = causal && j > i ? 0 : std::exp(product(inputs.at("q"), i, inputs.at("k"), j, b, h) / 2);
            total += w;
            for (Size d = 0; d < value_depth; ++d) at(out, {b, h, i, d}) += w * at(inputs.at("v"), {b, h, j, d});
          }
          for (Size d = 0; d < value_depth; ++d) at(out, {b, h, i, d}) /= total;
        }
    return out;
  };
  check_close(out_of(SinkLogit{.learned = false}, inputs), of_sink({0, 0, 0}, false), allowed);
  inputs["sink"] = array({heads, 1}, {0.3, -2, 5});
  check_close(out_of(SinkLogit{.causal = true}, inputs), of_sink({0.3, -2, 5}, true), allowed);
}

TEST_CASE("differential takes a share of the second softmax away", "[variants]") {
  Arrays inputs = by_heads();
  Arrays others = inputs;
  others["q"] = inputs["other_q"] = plain::random({batch, heads, queries, depth}, 21);
  others["k"] = inputs["other_k"] = plain::random({batch, heads, keys, depth}, 22);
  inputs["lambda"] = array({heads}, {0.2, 0.8, -1});
  for (const bool causal : {false, true}) {
    const auto change = where([causal](Size, Size i, Size j) { return !causal || j <= i; });
    Array wanted = expected(inputs, change).out;
    const Array second = expected(others, change).out;
    for (Size b = 0; b < batch; ++b)
      for (Size h = 0; h < heads; ++h)
        for (Size i = 0; i < queries; ++i)
          for (Size d = 0; d < value_depth; ++d) at(wanted, {b, h, i, d}) -= at(inputs["lambda"], {h}) * at(second, {b, h, i, d});
    check_close(out_of(Differential{.causal = causal}, inputs), wanted, allowed);
  }
}

TEST_CASE("prob_weights multiplies the weights behind the softmax", "[variants]") {
  Arrays inputs = by_heads();
  const Array weights = expected(inputs).weights, factors = plain::random({batch, heads, queries, keys}, 23);
  Array wanted = plain::zeros({batch, heads, queries, value_depth});
  for (Size b = 0; b < batch; ++b)
    for (Size h = 0; h < heads; ++h)
      for (Size i = 0; i < queries; ++i)
        for (Size j = 0; j < keys; ++j)
          for (Size d = 0; d < value_depth; ++d)
            at(wanted, {b, h, i, d}) += at(weights, {b, h, i, j}) * at(factors, {b, h, i, j}) * at(inputs["v"], {b, h, j, d});
  inputs["prob_weights"] = factors;
  check_close(out_of(ProbWeights{}, inputs), wanted, allowed);
}

TEST_CASE("without keys, what no softmax weighs is 0", "[variants]") {
  const Arrays inputs = by_heads(queries, 0);
  const Array none = plain::zeros({batch, heads, queries, value_depth});
  check_close(out_of(SigmoidAttention{.key_bias = true}, inputs), none);
  check_close(out_of(ReluAttention{}, inputs), none);
  check_close(out_of(LinearAttention{.normalised = true}, inputs), none);
  check_close(out_of(LinearAttention{.normalised = true, .causal = true}, inputs), none);
}

}  // namespace attune
