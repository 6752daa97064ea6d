/// What holds of attention whatever its numbers are: in which order keys stand, what is added to all scores, where tiles end, how 16 bits round.
#include <catch2/catch.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "runtime/bfloat16.h"
#include "runtime/float16.h"
#include "runtime/signature.h"
#include "tests/codegen/kernel_case.h"
#include "tests/thinned.h"

namespace attune {
namespace {

/// Calls of each size: tiny, few queries, small and large ones; one batch of two heads.
constexpr std::pair<std::int64_t, std::int64_t> sizes_of_each_kind[] = {{9, 33}, {3, 601}, {20, 300}, {129, 701}};

Shape of_size(const KernelCase& kernel, std::int64_t queries, std::int64_t keys) {
  const Shape given{{"batch", 1}, {"heads", 2}, {"queries", queries}, {"keys", keys}, {"depth", 16}, {"value_depth", 16}};
  return fill_shape(kernel.graph(), given).extents;
}

/// Scores of random inputs and values are below 4 each: 1e-5 and four roundings of a score, which is `score` at most,
/// twice, as two results are compared.
void check_near(const std::vector<double>& got, const std::vector<double>& expected, double score) {
  REQUIRE(got.size() == expected.size());
  double error = 0;
  for (std::size_t i = 0; i < got.size(); ++i) error = std::isfinite(got[i]) ? std::max(error, std::fabs(got[i] - expected[i])) : HUGE_VAL;
  CHECK(error <= 2 * (1e-5 + 4 * 0x1p-24 * score * 4));
}

/// The rows, each `width` long, of each group of `order.size()` rows in another order.
std::vector<double> reordered(const std::vector<double>& all, const std::vector<std::size_t>& order, std::size_t width) {
  std::vector<double> moved;
  for (std::size_t group = 0; group < all.size(); group += order.size() * width)
    for (const std::size_t row : order)
      for (std::size_t i = 0; i < width; ++i) moved.push_back(all[group + row * width + i]);
  return moved;
}

/// The numbers behind `name=` in the schedules of the kernel's codes: the sizes of its tiles.
std::set<std::int64_t> parameters_of(const Kernel& kernel, const std::string& name) {
  std::set<std::int64_t> found;
  for (const attune_step_v1& step : steps_of(kernel.manifest()))
    for (const attune_code_v3& code : codes_of(step)) {
      const std::string schedule = code.schedule;
      std::int64_t value = 0;
      if (const std::size_t at = schedule.find("," + name + "="); at != std::string::npos)
        if (std::from_chars(schedule.data() + at + name.size() + 2, schedule.data() + schedule.size(), value).ec == std::errc{}) found.insert(value);
    }
  return found;
}

double rounded_to(const std::string& type, double x) {
  const auto single = static_cast<float>(x);
  return static_cast<double>(type == "bf16" ? static_cast<float>(bfloat16(single)) : static_cast<float>(float16(single)));
}

/// By output, how far a kernel of the type is from the exact result, and the same computation in which each result is rounded to the type once.
void check_rounding(const KernelCase& kernel, const std::string& type, const Shape& extents) {
  Arrays inputs = random_inputs(kernel.graph(), extents, 3);
  for (auto& [name, array] : inputs)
    if (array.type.kind == Kind::real)
      for (double& x : array.data) x = rounded_to(type, x);
  const WalkedGraph walked = walk(kernel.graph(), inputs, 2, [&](const Evaluated& node) {
    if (node.graph.node(node.node).type.kind == Kind::real)
      for (double& x : node.lanes[1].data) x = rounded_to(type, x);
  });
  REQUIRE(walked.problem == "");
  for (const auto& [name, got] : kernel.outputs(extents, inputs)) {
    const std::vector<double>&exact = walked.lanes[0].at(name).data, &once = walked.lanes[1].at(name).data;
    REQUIRE(got.size() == exact.size());
    double of_kernel = 0, of_rounding = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      of_kernel = std::isfinite(got[i]) ? std::max(of_kernel, std::fabs(got[i] - exact[i])) : HUGE_VAL;
      of_rounding = std::max(of_rounding, std::fabs(once[i] - exact[i]));
    }
    CAPTURE(name, type);
    CHECK(of_kernel <= 2 * of_rounding);
  }
}

/// A mask in each storage of 16 bits by calls of each size, and a layer by few and by many tokens.
void check_roundings(Tried tried) {
  const char* const layers[] = {"batch=1,heads=2,tokens=5,depth=16,value_depth=16,model=37",
                                "batch=1,heads=2,tokens=129,depth=16,value_depth=16,model=37"};
  std::size_t row = 0;
  for (const char* type : {"bf16", "f16"}) {
    const KernelCase kernel("causal", {.types = type}), layer("multi_head", {.settings = {"weights=true"}, .types = type});
    for (std::size_t column = 0; column < std::size(sizes_of_each_kind); ++column)
      if (is_tried(tried, row, column, std::size(sizes_of_each_kind)))
        check_rounding(kernel, type, of_size(kernel, sizes_of_each_kind[column].first, sizes_of_each_kind[column].second));
    for (std::size_t column = 0; column < std::size(layers); ++column)
      if (is_tried(tried, row, column, std::size(layers)))
        check_rounding(layer, type, fill_shape(layer.graph(), parse_shape(layers[column], "shape").extents).extents);
    ++row;
  }
}

}  // namespace

TEST_CASE("attention does not depend on the order of its keys", "[property]") {
  const KernelCase kernel("masked");
  for (const auto& [queries, keys] : sizes_of_each_kind) {
    CAPTURE(queries, keys);
    const Shape extents = of_size(kernel, queries, keys);
    Arrays inputs = random_inputs(kernel.graph(), extents, 3);
    const std::vector<double> before = kernel.outputs(extents, inputs).at("out");
    std::vector<std::size_t> order(static_cast<std::size_t>(keys));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937(7));
    for (const char* name : {"k", "v"}) inputs.at(name).data = reordered(inputs.at(name).data, order, 16);
    inputs.at("mask").data = reordered(inputs.at("mask").data, order, 1);
    check_near(kernel.outputs(extents, inputs).at("out"), before, 16);
  }
}

TEST_CASE("what is added to all scores of a query changes nothing", "[property]") {
  const KernelCase kernel("biased");
  for (const auto& [queries, keys] : sizes_of_each_kind)
    for (const double added : {100.0, -300.0}) {
      CAPTURE(queries, keys, added);
      const Shape extents = of_size(kernel, queries, keys);
      Arrays inputs = random_inputs(kernel.graph(), extents, 3);
      const std::vector<double> before = kernel.outputs(extents, inputs).at("out");
      for (double& x : inputs.at("bias").data) x += added;
      check_near(kernel.outputs(extents, inputs).at("out"), before, std::fabs(added) + 16);
    }
}

TEST_CASE("numbers of queries and keys around vectors and tiles of the schedules are right", "[property]") {
  const KernelCase kernel("causal");
  const auto around = [&](const std::string& tile) {
    std::set<std::int64_t> lengths{1, 7, 9, 15, 17};  // vectors have 8 and 16 numbers
    for (const std::int64_t size : parameters_of(kernel.kernel(), tile))
      for (const std::int64_t length : {size - 1, size, size + 1, 2 * size + 1}) lengths.insert(length);
    return lengths;
  };
  const std::set<std::int64_t> queries = around("query_tile"), keys = around("key_tile");
  REQUIRE((queries.size() > 5 && keys.size() > 5));
  const auto check = [&](std::int64_t of_queries, std::int64_t of_keys) {
    CHECK(kernel.difference("batch=1,heads=1,depth=5,queries=" + std::to_string(of_queries) + ",keys=" + std::to_string(of_keys), 5) == "");
  };
  for (const std::int64_t count : queries) check(count, 37);
  for (const std::int64_t count : keys) check(21, count);
  check(*queries.rbegin(), *keys.rbegin());
}

TEST_CASE("kernels of 16 bits are at most twice as far from the exact result as roundings of each operation", "[property]") {
  check_roundings(Tried::part);
}

TEST_CASE("kernels of both storages of 16 bits are as near to the exact result at every size of call", "[.full]") { check_roundings(Tried::whole); }

}  // namespace attune
