/// Attention of few queries by tensor cores: its PTX is interpreted, and compared with the interpreter of graphs; what it does is counted.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

const std::string splits_of_64 = "mma_split_keys,size=few,split_tile=64";

std::vector<std::string> depths_of(int depth, int value_depth) {
  return {"depth=" + std::to_string(depth), "value_depth=" + std::to_string(value_depth)};
}

KernelCase split_case(const std::string& variant, KernelOptions options) {
  load_driver();
  options.target = "cuda";
  if (options.schedule.empty()) options.schedule = splits_of_64;
  return KernelCase(variant, options);
}

std::uint64_t executed(const ptx::Counts& counts, std::string_view begin) {
  std::uint64_t sum = 0;
  for (const auto& [instruction, times] : counts.instructions)
    if (instruction.starts_with(begin)) sum += times;
  return sum;
}

/// Of calls that agree with the interpreter, and take no bank of shared memory twice where operands are copied whole.
ptx::Counts checked_counts(const KernelCase& kernel, std::initializer_list<const char*> shapes) {
  const ptx::Counts counts = counts_of([&] {
    for (const char* shape : shapes) {
      CAPTURE(shape);
      CHECK(kernel.difference(fitting(shape, kernel.graph()), 1) == "");
    }
  });
  CHECK(executed(counts, "mma.sync.") > 0);
  for (const auto& [instruction, conflicts] : counts.conflicts_of)
    CHECK_THAT(instruction, !Catch::StartsWith("ldmatrix") && !Catch::StartsWith("ld.shared"));
  return counts;
}

constexpr auto few_shapes = {"batch=1,heads=1,group=1,queries=1,keys=1", "batch=2,heads=2,group=3,queries=1,keys=65",
                             "batch=1,heads=2,group=4,queries=5,keys=300"};

}  // namespace

TEST_CASE("attention of few queries by tensor cores agrees with the interpreter for any numbers of queries and keys", "[cuda]") {
  for (const char* type : {"bf16", "f16", "f32"})
    for (const int depth : {64, 128}) {
      CAPTURE(type, depth);
      const KernelCase kernel = split_case("grouped_query", {.types = type, .set = depths_of(depth, depth)});
      checked_counts(kernel, {"batch=1,heads=1,group=2,queries=1,keys=1", "batch=1,heads=2,group=1,queries=3,keys=5", "batch=1,heads=1,group=3,queries=5,keys=37",
                              "batch=1,heads=1,group=4,queries=1,keys=129", "batch=2,heads=1,group=2,queries=16,keys=300"});
    }
}

TEST_CASE("every variant of few queries that tensor cores take agrees with the interpreter", "[cuda]") {
  for (const char* type : {"bf16", "f32"})
    for (const char* variant : {"causal_offset", "document", "soft_cap", "alibi", "padded", "masked", "relative_bias"}) {
      CAPTURE(type, variant);
      checked_counts(split_case(variant, {.types = type, .set = depths_of(16, 16)}), few_shapes);
    }
  for (const auto& [variant, setting] : std::initializer_list<std::pair<const char*, const char*>>{
           {"sliding_window", "window=7"}, {"sinks", "window=9"}, {"scaled_dot_product", "lse=true"}}) {
    CAPTURE(variant);
    checked_counts(split_case(variant, {.settings = {setting}, .types = "bf16", .set = depths_of(16, 16)}), few_shapes);
  }
}

TEST_CASE("attention of few queries by tensor cores of depths that fill no fragment agrees with the interpreter", "[cuda]") {
  for (const auto& [depth, value_depth] : std::initializer_list<std::pair<int, int>>{{40, 24}, {8, 120}, {7, 5}, {127, 33}})
    for (const char* type : {"bf16", "f32"}) {
      CAPTURE(depth, value_depth, type);
      checked_counts(split_case("grouped_query", {.types = type, .set = depths_of(depth, value_depth)}), few_shapes);
    }
}

TEST_CASE("attention of few queries by tensor cores with any tiles agrees with the interpreter", "[cuda]") {
  for (const char* tiles :
       {"row_tile=32,key_tile=16,key_warps=2,stages=3", "row_tile=16,key_tile=32,key_warps=1,stages=4", "row_tile=32,key_tile=64,key_warps=2,stages=2",
        "row_tile=16,key_tile=16,key_warps=8,stages=3", "row_tile=16,key_tile=16,key_warps=4,stages=5", "blocks=132"}) {
    CAPTURE(tiles);
    const KernelCase kernel = split_case("causal_offset", {.types = "bf16", .schedule = splits_of_64 + "," + tiles, .set = depths_of(64, 48)});
    checked_counts(kernel, few_shapes);
  }
}

TEST_CASE("a call of few queries without elements is right", "[cuda]") {
  const KernelCase kernel = split_case("scaled_dot_product", {.settings = {"lse=true"}, .types = "bf16", .set = depths_of(64, 64)});
  for (const char* shape : {"queries=5,keys=0", "queries=0,keys=80", "heads=0,queries=5,keys=80"}) CHECK(kernel.difference(shape, 1) == "");
}

TEST_CASE("few queries of heads that share keys read keys and values by tensor cores once, and wait for no other warp meanwhile", "[cuda]") {
  for (const char* type : {"bf16", "f32"}) {
    CAPTURE(type);
    const auto counts_by = [&](const std::string& schedule, const std::string& extents) {
      const KernelCase kernel = split_case("grouped_query", {.types = type, .schedule = "mma_split_keys,size=few," + schedule, .set = depths_of(64, 64)});
      const Shape shape = fill_shape(kernel.graph(), parse_shape("batch=1,heads=2,group=4,depth=64,value_depth=64," + extents, "shape").extents).extents;
      const Arrays inputs = random_inputs(kernel.graph(), shape, 1);
      CHECK(kernel.difference(shape, inputs) == "");
      return counts_of([&] { kernel.outputs(shape, inputs); });
    };
    const std::uint64_t element = type == std::string("f32") ? 4 : 2, sector = 32, once = 2 * 2 * 1024 * 64 * element / sector;
    const std::string one_split = "split_tile=2048";
    const ptx::Counts some = counts_by(one_split, "queries=1,keys=1024"), more = counts_by(one_split, "queries=1,keys=2048");
    CHECK(more.global_sectors - some.global_sectors == once);
    CHECK(executed(more, "bar.sync") == executed(some, "bar.sync"));
    // Beside keys and values there are queries of each split, and the states of 4 rows.
    CHECK(counts_by("split_tile=256", "queries=1,keys=2048").global_sectors < 2 * once * 21 / 20);
    CHECK(counts_by(one_split, "queries=4,keys=1024").global_sectors < once * 21 / 20);
    CHECK(more.bank_conflicts == 0);
    for (const auto& [instruction, times] : more.instructions) CHECK_THAT(instruction, !Catch::Contains(".local"));
  }
}

TEST_CASE("few queries by tensor cores copy no keys beyond a length or outside of a window", "[cuda]") {
  const auto copies = [](const std::string& variant, const std::vector<std::string>& settings, const std::string& shape, double* length = nullptr) {
    const KernelCase kernel = split_case(variant, {.settings = settings, .types = "bf16", .schedule = "mma_split_keys,size=few,split_tile=2048", .set = depths_of(64, 64)});
    const Shape extents = fill_shape(kernel.graph(), parse_shape(shape + ",depth=64,value_depth=64", "shape").extents).extents;
    const Arrays inputs = random_inputs(kernel.graph(), extents, 1);
    if (length != nullptr) *length = inputs.at("lengths").data.at(0);
    CHECK(kernel.difference(extents, inputs) == "");
    return executed(counts_of([&] { kernel.outputs(extents, inputs); }), "cp.async.cg.shared.global");
  };
  // A block of 32 keys and as many values of 128 bytes is 16 copies of 512 bytes by a warp.
  constexpr double keys_of_block = 32, copies_of_block = 16;
  const auto blocks = [&](std::uint64_t all, std::uint64_t none) { return static_cast<double>(all - none) / copies_of_block; };
  const std::string one = "batch=1,heads=1,queries=1,keys=";
  double length = 0;
  const std::uint64_t padded = copies("padded", {}, one + "1000", &length), queries_alone = copies("scaled_dot_product", {}, one + "0");
  CHECK(length < 1000);
  CHECK(blocks(padded, queries_alone) <= std::ceil(length / keys_of_block));
  CHECK(blocks(copies("sliding_window", {"window=32"}, one + "1000"), queries_alone) == 1);
}

TEST_CASE("infinities and NaN reach the results of few queries by tensor cores as they do those of many", "[cuda]") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const char* type : {"f32", "bf16"})
    for (const double special : {infinite, -infinite, std::nan("")}) {
      CAPTURE(type, special);
      const KernelCase kernel = split_case("scaled_dot_product", {.types = type, .set = depths_of(16, 16)});
      const Shape extents = fill_shape(kernel.graph(), parse_shape("batch=1,heads=1,queries=3,keys=200,depth=16,value_depth=16", "shape").extents).extents;
      Arrays inputs = random_inputs(kernel.graph(), extents, 7);
      inputs.at("v").data.at(70 * 16 + 3) = special;
      CHECK(kernel.difference(extents, inputs) == "");
      inputs.at("k").data.at(130 * 16 + 5) = special;
      CHECK(kernel.difference(extents, inputs) == "");
    }
}

}  // namespace attune
