#include "schedules/online_softmax/online_softmax.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <span>

#include "codegen/halide/numbers/elements.h"
#include "codegen/halide/numbers/vector_math.h"
#include "tests/schedules/attention_case.h"
#include "tests/thinned.h"

using namespace attune;
using Halide::Expr;

namespace {

const std::vector<Shape> shapes = {
    {1, 1, 1, 1, 1, 1, 1},      {2, 1, 1, 5, 37, 16, 16},  {1, 2, 1, 37, 5, 5, 3},      {1, 1, 2, 129, 129, 64, 64},
    {1, 2, 3, 50, 300, 40, 24}, {1, 1, 1, 1, 129, 8, 130}, {2, 2, 1, 100, 600, 17, 80}, {1, 1, 1, 257, 256, 32, 48},
};

/// One kernel by a template, over all shapes.
void check(AttentionCase (*make)(), const SoftmaxTemplate& by) {
  const AttentionCase attention = make();
  const JitKernel& kernel = kernel_of(make, by);
  unsigned seed = 1;
  for (const Shape& s : shapes) {
    Arguments a(s, ++seed);
    CAPTURE(by.name, by.size == SizeClass::large, seed, s.queries, s.keys, s.depth, s.value_depth);
    CHECK(difference(attention, a, computed(kernel, a)) == "");
  }
}
void check(AttentionCase (*make)(), std::span<const SoftmaxTemplate> templates = softmax_templates) {
  for (const SoftmaxTemplate& by : templates) check(make, by);
}

AttentionCase narrow_window() { return window(70); }

AttentionCase soft_capped() {
  AttentionCase attention = causal();
  attention.body.change = [](const Expr& score, const Coordinates&) { return 2.f * vector_math::tanh(score / 2.f); };
  attention.change = [](double score, const Arguments&, const Pair&) { return 2 * std::tanh(score / 2); };
  return attention;
}

AttentionCase biased_by_distance() {
  AttentionCase attention = causal();
  attention.body.change = [](const Expr& score, const Coordinates& c) {
    const Expr slope = vector_math::exp2(-Halide::cast<float>(c.at("heads") + 1));
    return score + Halide::cast<float>(c.at("keys") - c.at("queries")) * slope;
  };
  attention.change = [](double score, const Arguments&, const Pair& p) { return score + (p.j - p.i) * std::ldexp(1.0, -p.h - 1); };
  return attention;
}

AttentionCase with_fewer_weights() {
  AttentionCase attention = causal();
  const auto kept = [](const auto& i, const auto& j) { return (i * 7 + j * 5) % 4 != 0; };
  attention.body.weight = [=](const Expr& weight, const Coordinates& c) {
    return select(kept(c.at("queries"), c.at("keys")), weight * (4 / 3.f), 0.f);
  };
  attention.weight = [=](double weight, const Arguments&, const Pair& p) { return kept(p.i, p.j) ? weight * 4 / 3 : 0; };
  return attention;
}

AttentionCase additive() {
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
  return attention;
}

AttentionCase of_stored_scores() {
  AttentionCase attention;
  attention.body.score = {{"queries", "keys"},
                          [bias = attention.bias](const Coordinates& c) { return loaded(bias, {c.at("keys"), c.at("queries")}, Element::f32); }};
  attention.score = [](const Arguments& a, const Pair& p) { return static_cast<double>(a.bias(p.j, p.i)); };
  return attention;
}

/// Changes of causal attention that are variants, too, of which test_variant_kernels has kernels of every size: here each by one of the templates.
void check_changes(Tried tried) {
  std::size_t row = 0;
  for (AttentionCase (*make)() : {narrow_window, soft_capped, biased_by_distance, with_fewer_weights}) {
    CAPTURE(row);
    for (std::size_t column = 0; column < std::size(each_template); ++column)
      if (is_tried(tried, row, column, std::size(each_template))) check(make, each_template[column]);
    ++row;
  }
}

}  // namespace

TEST_CASE("dense attention is right at any extents", "[dense]") { check(dense); }

TEST_CASE("causal attention is right", "[causal]") { check(causal, each_template); }

TEST_CASE("keys beyond a length from memory are not seen", "[padded]") { check(padded, each_template); }

TEST_CASE("a mask from memory is right", "[masked]") {
  check(masked, each_template);
  check(masked_by_blocks);
}

TEST_CASE("a bias from memory is right", "[biased]") { check(biased, each_template); }

TEST_CASE("a window, a soft cap, a bias that grows with distance and a change of the weights behind their sum are right", "[scores]") {
  check_changes(Tried::part);
}

TEST_CASE("changes of causal attention are right by every template", "[.full]") { check_changes(Tried::whole); }

TEST_CASE("an additive score is summed over hidden", "[scores]") { check(additive); }

TEST_CASE("a score without a product is taken as it is", "[scores]") { check(of_stored_scores); }
