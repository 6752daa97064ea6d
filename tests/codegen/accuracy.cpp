/// How near a kernel in f32 is to the result in double precision, where scores are large and their maxima move.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/codegen/kernel_case.h"

namespace attune {
namespace {

double largest_size(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values) most = std::max(most, std::fabs(x));
  return most;
}

/// A call of `masked` with one batch and one head: what is not changed is random and visible.
struct AccuracyCall {
  const KernelCase& kernel;
  Shape extents;
  Arrays inputs;
  std::int64_t queries, keys, depth;

  AccuracyCall(const KernelCase& masked, std::int64_t query_count, std::int64_t key_count, std::int64_t width)
      : kernel(masked), queries(query_count), keys(key_count), depth(width) {
    const std::string shape =
        "batch=1,heads=1,queries=" + std::to_string(queries) + ",keys=" + std::to_string(keys) + ",depth=" + std::to_string(depth);
    extents = fill_shape(kernel.graph(), parse_shape(shape, "shape").extents).extents;
    inputs = random_inputs(kernel.graph(), extents, 3);
    std::ranges::fill(inputs.at("mask").data, 1.0);
  }
  /// Makes scores of about `size`, up to four times it.
  void enlarge(double size) {
    for (double& x : inputs.at("q").data) x *= size;
  }
  /// Makes score (i, j) grow with j, from -size to size, so that blocks of keys bring other maxima, of a large size every one of them; the rest of the depth adds noise.
  void ramp(double size) {
    std::vector<double>&q = inputs.at("q").data, &k = inputs.at("k").data;
    for (std::int64_t i = 0; i < queries; ++i) q[static_cast<std::size_t>(i * depth)] = std::sqrt(static_cast<double>(depth));
    for (std::int64_t j = 0; j < keys; ++j)
      k[static_cast<std::size_t>(j * depth)] = size * (2.0 * static_cast<double>(j) / static_cast<double>(keys) - 1);
  }
  /// Hides these keys from every other query.
  void hide(std::int64_t first, std::int64_t end) {
    for (std::int64_t i = 0; i < queries; i += 2)
      for (std::int64_t j = first; j < end; ++j) inputs.at("mask").data[static_cast<std::size_t>(i * keys + j)] = 0;
  }

  /// The largest of the sizes of the visible scores, in plain loops.
  double largest_score() const {
    const std::vector<double>&q = inputs.at("q").data, &k = inputs.at("k").data, &mask = inputs.at("mask").data;
    double most = 0;
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < depth; ++d) score += q[static_cast<std::size_t>(i * depth + d)] * k[static_cast<std::size_t>(j * depth + d)];
        if (mask[static_cast<std::size_t>(i * keys + j)] != 0) most = std::max(most, std::fabs(score) / std::sqrt(static_cast<double>(depth)));
      }
    return most;
  }

  /// Fails where an element is off by more than 1e-5 + 4 * 2^-24 * max|score| * max|value|.
  void check() {
    for (const char* input : {"q", "k", "v"})
      for (double& x : inputs.at(input).data) x = static_cast<double>(static_cast<float>(x));
    const std::vector<double> got = kernel.outputs(extents, inputs).at("out"), expected = interpret(kernel.graph(), inputs).outputs.at("out").data;
    REQUIRE(got.size() == expected.size());
    double error = 0;
    for (std::size_t i = 0; i < got.size(); ++i) error = std::isfinite(got[i]) ? std::max(error, std::fabs(got[i] - expected[i])) : HUGE_VAL;
    const double score = largest_score(), allowed = 1e-5 + 4 * 0x1p-24 * score * largest_size(inputs.at("v").data);
    CAPTURE(queries, keys, depth, score);
    CHECK(error <= allowed);
  }
};

}  // namespace

TEST_CASE("a kernel is as near to the exact result as the size of its scores lets it be", "[accuracy]") {
  const KernelCase masked("masked");
  // calls of each size: tiny, few queries, small and large ones
  for (const auto& [queries, keys, depth] : {std::tuple{9, 33, 16}, std::tuple{3, 601, 33}, std::tuple{20, 300, 64}, std::tuple{129, 701, 64}}) {
    for (const double size : {1.0, 150.0}) {
      AccuracyCall call(masked, queries, keys, depth);
      call.enlarge(size);
      call.check();
      call.hide(0, keys / 2);
      call.check();
    }
    for (const double size : {3.0, 20.0, 400.0}) {
      AccuracyCall call(masked, queries, keys, depth);
      call.ramp(size);
      call.check();
      call.hide(0, keys / 2);
      call.check();
      // no score of a hidden key counts, however large
      AccuracyCall hidden(masked, queries, keys, depth);
      hidden.ramp(size);
      hidden.hide(keys / 2, keys);
      hidden.check();
    }
  }
}

}  // namespace attune
