#include "schedules/online_softmax/online_softmax.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <span>

#include "codegen/halide/numbers/elements.h"
#include "codegen/halide/numbers/vector_math.h"
#include "tests/schedules/attention_case.h"

using namespace attune;
using Halide::Expr;

namespace {

const std::vector<Shape> shapes = {
    {1, 1, 1, 1, 1, 1, 1},      {2, 1, 1, 5, 37, 16, 16},  {1, 2, 1, 37, 5, 5, 3},      {1, 1, 2, 129, 129, 64, 64},
    {1, 2, 3, 50, 300, 40, 24}, {1, 1, 1, 1, 129, 8, 130}, {2, 2, 1, 100, 600, 17, 80}, {1, 1, 1, 257, 256, 32, 48},
};

/// One kernel by each template, over all shapes.
void check(const AttentionCase& attention, std::span<const SoftmaxTemplate> templates = softmax_templates) {
  const Machine machine = host_machine();
  for (const SoftmaxTemplate& by : templates) {
    const JitKernel kernel = compiled_by(by, attention, machine);
    unsigned seed = 1;
    for (const Shape& s : shapes) {
      Arguments a(s, ++seed);
      CAPTURE(by.name, by.size == SizeClass::large, seed, s.queries, s.keys, s.depth, s.value_depth);
      CHECK(difference(attention, a, computed(kernel, a)) == "");
    }
  }
}

/// Of attention that is a variant, too: test_variant_kernels has its kernels of every size, and those of small and of tiny calls there alone.
void check_variant(const AttentionCase& attention) { check(attention, each_template); }

}  // namespace

TEST_CASE("dense attention is right at any extents", "[online_softmax]") { check(AttentionCase()); }

TEST_CASE("causal attention is right", "[online_softmax]") { check_variant(causal()); }

TEST_CASE("a sliding window is right", "[online_softmax]") { check_variant(window(70)); }

TEST_CASE("keys beyond a length from memory are not seen", "[online_softmax]") { check_variant(padded()); }

TEST_CASE("a mask from memory is right", "[online_softmax]") {
  check_variant(masked());
  check(masked_by_blocks());
}

TEST_CASE("a bias from memory is right", "[online_softmax]") { check_variant(biased()); }

TEST_CASE("a soft cap is right", "[online_softmax]") {
  AttentionCase attention = causal();
  attention.body.change = [](const Expr& score, const Coordinates&) { return 2.f * vector_math::tanh(score / 2.f); };
  attention.change = [](double score, const Arguments&, const Pair&) { return 2 * std::tanh(score / 2); };
  check_variant(attention);
}

TEST_CASE("a bias that grows with distance and depends on the head is right", "[online_softmax]") {
  AttentionCase attention = causal();
  attention.body.change = [](const Expr& score, const Coordinates& c) {
    const Expr slope = vector_math::exp2(-Halide::cast<float>(c.at("heads") + 1));
    return score + Halide::cast<float>(c.at("keys") - c.at("queries")) * slope;
  };
  attention.change = [](double score, const Arguments&, const Pair& p) { return score + (p.j - p.i) * std::ldexp(1.0, -p.h - 1); };
  check_variant(attention);
}

TEST_CASE("a change of the weights comes after their sum", "[online_softmax]") {
  AttentionCase attention = causal();
  const auto kept = [](const auto& i, const auto& j) { return (i * 7 + j * 5) % 4 != 0; };
  attention.body.weight = [=](const Expr& weight, const Coordinates& c) {
    return select(kept(c.at("queries"), c.at("keys")), weight * (4 / 3.f), 0.f);
  };
  attention.weight = [=](double weight, const Arguments&, const Pair& p) { return kept(p.i, p.j) ? weight * 4 / 3 : 0; };
  check_variant(attention);
}

TEST_CASE("an additive score is summed over hidden", "[online_softmax]") {
  AttentionCase attention;
  attention.body.combine = [wa = attention.wa](const Expr& query, const Expr& key, const Coordinates& c) {
    return wa(c.at("depth")) * vector_math::tanh(query + key);
  };
  attention.score = [](const Arguments& a, const Pair& p) {
    double sum = 0;
    const double scale = 1 / std::sqrt(static_cast<double>(a.shape.depth));
    for (int d = 0; d < a.shape.depth; ++d) sum += a.wa(d) * std::tanh(a.q(d, p.i, p.g, p.h, p.b) * scale + a.k(d, p.j, p.h, p.b));
    return sum;
  };
  check(attention);
}

TEST_CASE("a score without a product is taken as it is", "[online_softmax]") {
  AttentionCase attention;
  attention.body.score = {{"queries", "keys"},
                          [bias = attention.bias](const Coordinates& c) { return loaded(bias, {c.at("keys"), c.at("queries")}, Element::f32); }};
  attention.score = [](const Arguments& a, const Pair& p) { return static_cast<double>(a.bias(p.j, p.i)); };
  check(attention);
}
