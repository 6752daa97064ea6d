#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/schedules/attention_case.h"

using namespace attune;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr Shape two_heads = {1, 2, 1, 130, 300, 16, 16};

/// Rows of the result with a NaN, of zeros only, and others.
struct Rows {
  int with_nan = 0, of_zeros = 0, others = 0;
  bool operator==(const Rows&) const = default;
};

Rows rows_of(const Halide::Buffer<float>& result, int h) {
  Rows rows;
  for (int i = 0; i < result.dim(1).extent(); ++i) {
    bool has_nan = false, is_zero = true;
    for (int d = 0; d < result.dim(0).extent(); ++d) {
      has_nan = has_nan || std::isnan(result(d, i, 0, h, 0));
      is_zero = is_zero && result(d, i, 0, h, 0) == 0;
    }
    ++(has_nan ? rows.with_nan : is_zero ? rows.of_zeros : rows.others);
  }
  return rows;
}

/// The kernels of a case by each template.
class Kernels {
 public:
  explicit Kernels(AttentionCase (*make)()) : make_(make), attention_(make()) {}

  /// Runs them on arguments that `change` has changed; every result is what plain loops give, and passes `check`.
  template <class Change, class Check>
  void run(Change change, Check check) {
    for (const SoftmaxTemplate& by : softmax_templates) {
      Arguments a(two_heads, 7);
      change(a);
      const Halide::Buffer<float> result = computed(kernel_of(make_, by), a);
      CAPTURE(by.name, by.size == SizeClass::large);
      CHECK(difference(attention_, a, result) == "");
      check(result);
    }
  }

 private:
  AttentionCase (*make_)();
  const AttentionCase attention_;
};

}  // namespace

TEST_CASE("a NaN in a key reaches the rows that see it", "[causal]") {
  Kernels kernels(causal);
  for (const int j : {5, 100, 129}) {
    const auto change = [=](Arguments& a) { a.k(3, j, 0, 0) = not_a_number; };
    kernels.run(change, [=](const Halide::Buffer<float>& result) {
      CHECK(rows_of(result, 0) == Rows{130 - j, 0, j});
      CHECK(rows_of(result, 1) == Rows{0, 0, 130});
    });
  }
}

TEST_CASE("special queries, keys and values do what they do in a softmax", "[dense]") {
  Kernels kernels(dense);
  const auto nan_queries = [](Arguments& a) {
    a.q(3, 41, 0, 0, 0) = not_a_number;
    a.q(3, 42, 0, 0, 0) = -not_a_number;
    a.q(3, 43, 0, 0, 0) = std::bit_cast<float>(0xffffffffu);
  };
  kernels.run(nan_queries, [](const Halide::Buffer<float>& result) { CHECK(rows_of(result, 0) == Rows{3, 0, 127}); });

  // The sign of q(3, i) decides whether the score is infinite, or minus infinity, which has no weight.
  const auto infinite_key = [](Arguments& a) { a.k(3, 77, 0, 0) = infinity; };
  kernels.run(infinite_key, [](const Halide::Buffer<float>& result) {
    const Rows rows = rows_of(result, 0);
    CHECK(rows.with_nan > 0);
    CHECK(rows.others > 0);
    CHECK(rows.with_nan + rows.others == 130);
  });

  const auto special_values = [](Arguments& a) {
    a.q.for_each_value([](float& e) { e *= 0.1f; });  // every weight is above zero
    a.v(2, 7, 0, 0) = infinity;
    a.v(3, 8, 1, 0) = not_a_number;
  };
  kernels.run(special_values, [](const Halide::Buffer<float>& result) {
    CHECK(result(2, 100, 0, 0, 0) == infinity);
    CHECK(rows_of(result, 1) == Rows{130, 0, 0});
  });

  for (const float factor : {1e-30f, 100.f, 1e15f}) {
    const auto scaled = [=](Arguments& a) { a.q.for_each_value([=](float& e) { e *= factor; }); };
    kernels.run(scaled, [](const Halide::Buffer<float>& result) { CHECK(rows_of(result, 0) == Rows{0, 0, 130}); });
  }
}

TEST_CASE("infinities and NaN in a bias do what they do in a softmax", "[biased]") {
  Kernels kernels(biased);
  const auto special = [](Arguments& a) {
    for (int j = 0; j < 300; ++j) {
      a.bias(j, 10) = -infinity;                // the whole row
      if (j != 299) a.bias(j, 11) = -infinity;  // all but the last key
      if (j < 256) a.bias(j, 12) = -infinity;   // whole blocks
      if (j % 2 == 0) a.bias(j, 13) = -infinity;
    }
    a.bias(200, 14) = infinity;
    a.bias(0, 15) = not_a_number;
    a.bias(299, 16) = not_a_number;
  };
  kernels.run(special, [](const Halide::Buffer<float>& result) { CHECK(rows_of(result, 1) == Rows{3, 1, 126}); });
  const auto far_below = [](Arguments& a) { a.bias.fill(-1e38f); };
  kernels.run(far_below, [](const Halide::Buffer<float>& result) { CHECK(rows_of(result, 0) == Rows{0, 0, 130}); });
}

TEST_CASE("a length of zero gives zeros, and keys beyond a length may be NaN", "[padded]") {
  Kernels kernels(padded);
  const auto none = [](Arguments& a) { a.lengths(0) = 0; };
  kernels.run(none, [](const Halide::Buffer<float>& result) { CHECK(rows_of(result, 0) == Rows{0, 130, 0}); });
  const auto beyond = [](Arguments& a) {
    a.lengths(0) = 290;
    for (int j = 290; j < 300; ++j) a.k(3, j, 0, 0) = not_a_number;
  };
  kernels.run(beyond, [](const Halide::Buffer<float>& result) { CHECK(rows_of(result, 0) == Rows{0, 0, 130}); });
}

TEST_CASE("a row that a mask hides altogether is zeros", "[masked]") {
  Kernels kernels(GENERATE(masked, masked_by_blocks));
  const auto change = [](Arguments& a) {
    for (int i : {0, 64, 129})
      for (int j = 0; j < 300; ++j) a.mask(j, i, 0) = 0;
    a.k(3, 17, 1, 0) = not_a_number;
    for (int i = 0; i < 130; ++i) a.mask(17, i, 0) = 0;
  };
  kernels.run(change, [](const Halide::Buffer<float>& result) { CHECK(rows_of(result, 1) == Rows{0, 3, 127}); });
}
