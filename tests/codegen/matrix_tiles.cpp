/// Attention by the tile registers of a CPU: what it computes, on any x86-64 machine by loops in their stead.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "codegen/targets/targets.h"
#include "tests/codegen/kernel_case.h"
#include "tests/skip.h"

namespace attune {
namespace {

constexpr const char* target = "sapphirerapids-amx";

/// Small tiles, so that small calls have all kinds of blocks.
const std::vector<std::string> tilings = {
    "amx_online_softmax,query_tile=32,key_tile=128,middle_tile=64,edge_tile=32,register_rows=16,register_vectors=2",
    "amx_online_softmax,query_tile=64,key_tile=64,middle_tile=64,edge_tile=64,register_rows=32,register_vectors=2",
    "amx_online_softmax,query_tile=48,key_tile=256,middle_tile=128,edge_tile=64,register_rows=16,register_vectors=4",
};

/// Calls for the schedule of large calls, round and odd: below and above an edge of a tile, and a single key.
std::vector<std::string> shapes_with(const std::string& settings) {
  std::vector<std::string> shapes;
  for (const char* extents : {"queries=65,keys=129", "queries=129,keys=37", "queries=97,keys=1", "queries=128,keys=256", "queries=70,keys=663"})
    shapes.push_back(std::string(extents) + settings);
  return shapes;
}

struct Case {
  const char* variant;
  std::vector<std::string> set;  ///< depth and value_depth, where they are known when the kernel is compiled
  std::vector<std::string> settings = {};
  std::string others = ",batch=2,heads=3";
};

const std::vector<Case> cases = {
    {"scaled_dot_product", {"depth=64", "value_depth=64"}},
    {"scaled_dot_product", {"depth=37", "value_depth=5"}},
    {"scaled_dot_product", {"depth=1", "value_depth=129"}},
    {"scaled_dot_product", {"depth=129", "value_depth=80"}},
    {"causal", {"depth=32", "value_depth=33"}},
    {"sliding_window", {"depth=40", "value_depth=40"}, {"window=50"}},
    {"alibi", {"depth=16", "value_depth=48"}},
    {"soft_cap", {"depth=20", "value_depth=16"}},
    {"masked", {"depth=24", "value_depth=24"}},
    {"sigmoid_attention", {"depth=32", "value_depth=32"}},
    {"scaled_dot_product", {}, {}, ",batch=2,heads=3,depth=37,value_depth=65"},
    {"soft_cap", {}, {}, ",batch=1,heads=2,depth=64,value_depth=16"},
};

/// One batch and one head of a kernel with random inputs, of which the tests change single elements.
struct Call {
  const KernelCase& kernel;
  Shape extents;
  Arrays inputs;

  Call(const KernelCase& called, const std::string& shape) : kernel(called) {
    extents = kernel.filled("batch=1,heads=1," + shape).extents;
    inputs = random_inputs(kernel.graph(), extents, 7);
  }
  double& at(const char* name, std::int64_t row, std::int64_t column) {
    const std::int64_t width = inputs.at(name).extents.back();
    return inputs.at(name).data[static_cast<std::size_t>(row * width + column)];
  }
  /// Whether a row of the result is of numbers alone.
  std::vector<bool> finite_rows(std::int64_t rows, const std::vector<std::int64_t>& columns) const {
    const std::vector<double> out = kernel.outputs(extents, inputs).at("out");
    const std::size_t width = out.size() / static_cast<std::size_t>(rows);
    std::vector<bool> finite(static_cast<std::size_t>(rows), true);
    for (std::size_t row = 0; row < finite.size(); ++row)
      for (const std::int64_t column : columns) finite[row] = finite[row] && std::isfinite(out[row * width + static_cast<std::size_t>(column)]);
    return finite;
  }
};

bool runs_model() {
  const TargetInfo* host = find_target("host");
  return host != nullptr && host->triple == find_target(target)->triple;
}

std::string unlike(const Case& of, const KernelOptions& options) {
  const KernelCase kernel(of.variant, options);
  unsigned seed = 7;
  for (const std::string& shape : shapes_with(of.others))
    if (const std::string answer = kernel.difference(shape, ++seed); !answer.empty()) return shape + ": " + answer;
  return {};
}

}  // namespace

TEST_CASE("attention in tiles of bf16 is what the interpreter computes, whatever the extents", "[matrix_tiles]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  const auto number = static_cast<std::size_t>(GENERATE(range(0, 12)));
  REQUIRE(cases.size() == 12);
  const Case& of = cases[number];
  const std::string& tiling = tilings[number % tilings.size()];
  CAPTURE(of.variant, of.set, tiling);
  CHECK(unlike(of, {.settings = of.settings, .target = target, .types = "bf16", .schedule = tiling, .set = of.set, .is_modelled = true}) == "");
}

TEST_CASE("what is not a number comes into those results alone that it is for", "[matrix_tiles]") {
  if (!runs_model()) return skip("this CPU is not of x86-64");
  constexpr std::int64_t queries = 70;
  const std::vector<std::string> set = {"depth=20", "value_depth=24"};
  const auto options = [&](std::size_t tiling) {
    return KernelOptions{.target = target, .types = "bf16", .schedule = tilings[tiling], .set = set, .is_modelled = true};
  };
  const KernelCase plain("scaled_dot_product", options(0)), masked("masked", options(2));
  const std::vector<bool> all(queries, true), none(queries, false);
  for (const int keys : {37, 129, 160}) {
    CAPTURE(keys);
    const std::string shape = "queries=70,keys=" + std::to_string(keys);
    Call infinite_value(plain, shape);
    infinite_value.at("v", keys - 1, 3) = std::numeric_limits<double>::infinity();
    CHECK(infinite_value.finite_rows(queries, {2, 4, 23}) == all);
    CHECK(infinite_value.finite_rows(queries, {3}) == none);

    Call hidden_key(masked, shape);
    for (std::int64_t query = 0; query < queries; ++query) hidden_key.at("mask", query, 5) = 0;
    hidden_key.at("k", 5, 1) = std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t key = 0; key < keys; ++key) hidden_key.at("mask", 8, key) = 0;
    CHECK(hidden_key.finite_rows(queries, {0, 23}) == all);
    CHECK(hidden_key.kernel.outputs(hidden_key.extents, hidden_key.inputs).at("out")[8 * 24] == 0);

    Call one_query(plain, shape);
    one_query.at("q", 33, 19) = std::numeric_limits<double>::quiet_NaN();
    std::vector<bool> but_one = all;
    but_one[33] = false;
    CHECK(one_query.finite_rows(queries, {0, 23}) == but_one);
  }
}

}  // namespace attune
