/// Every variant in kernels for OpenCL and Vulkan, on this machine's CPU where it has no other device. (tests/ptx has those for CUDA.)
#include <catch2/catch.hpp>

#include <span>

#include "tests/codegen/device_problem.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/quick_opencl.h"
#include "tests/codegen/small_tiles.h"
#include "tests/folder.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

/// The schedule, of variants that have scores.
std::string if_attention(std::string_view variant, const std::string& schedule) {
  return variant == "merge_partials" || variant == "recurrent_attention" ? std::string() : schedule;
}

/// The variant's kernel, for the dims of `known` that it has of these extents; for any extents without.
KernelCase kernel_of(std::string_view variant, const KernelOptions& given, const std::string& schedule, const std::string& known) {
  KernelOptions options = given;
  options.schedule = if_attention(variant, schedule);
  if (const std::string fits = fitting(known, variant_graph(variant)); !fits.empty()) options.set = {fits};
  const Folder folder;
  if (given.target == "opencl") options.tuned = {folder.write("tuned.json", small_products)};
  return KernelCase(std::string(variant), options);
}

/// OpenCL's compiler takes two thirds of the time where these are known; numbers of queries and keys are not.
constexpr const char *known_sizes = "heads=3,group=2,depth=5,value_depth=3,model=9", *any_size = "";

void check_variant(const std::string& target, std::string_view variant, const std::string& types, const std::string& known) {
  CAPTURE(variant, types);
  const KernelCase kernel = kernel_of(variant, {.target = target, .types = types}, target == "opencl" ? single_rows : small_tiles, known);
  // Most of the time of a call on OpenCL goes by its launches, so that there are two calls: one of single queries and keys, one of odd extents.
  const std::string one = known == any_size ? "heads=1,group=1,depth=1," : "";
  CHECK(kernel.difference(fitting(one + "batch=1,queries=1,keys=1,tokens=1,memory_tokens=1", kernel.graph()), 1) == "");
  const std::string odd = "batch=1,queries=5,keys=37,tokens=7,memory_tokens=37" + (known == any_size ? std::string(",") + known_sizes : "");
  CHECK(kernel.difference(fitting(odd, kernel.graph()), 1) == "");
}

/// Every so many of the variants from the first on: no single test runs for long where OpenCL's compiler has kept nothing.
struct Part {
  std::size_t first = 0, every = 1;
};

void check_variants(const std::string& target, Part part, const std::string& known) {
  const QuickOpencl quick;
  if (const std::string problem = device_problem(target); !problem.empty()) return skip(problem);
  for (std::size_t n = part.first; n < names_of_variants().size(); n += part.every) check_variant(target, names_of_variants()[n], "f32", known);
}

void check_types(const std::string& target) {
  const QuickOpencl quick;
  if (const std::string problem = device_problem(target); !problem.empty()) return skip(problem);
  for (const char* variant : {"causal", "grouped_query", "multi_head"}) check_variant(target, variant, "bf16", any_size);
  for (const char* variant : {"alibi", "multi_head"}) check_variant(target, variant, "f16", any_size);
}

void check_few_queries(const std::string& target, std::span<const std::string_view> variants, const std::string& schedule) {
  const QuickOpencl quick;
  if (const std::string problem = device_problem(target); !problem.empty()) return skip(problem);
  for (const std::string_view variant : variants) {
    CAPTURE(variant);
    const KernelCase kernel = kernel_of(variant, {.target = target}, schedule, "heads=2,group=3,depth=17,value_depth=9,model=9");
    const char* shape = "batch=2,queries=3,keys=300,tokens=3,memory_tokens=300";
    CHECK(kernel.difference(fitting(shape, kernel.graph()), 1) == "");
  }
}

constexpr const char* small_splits = "gpu_split_keys,size=few,split_tile=64,block_columns=4,block_rows=2,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1";

/// Of each way in which scores are masked or changed and keys are stored one. (tests/ptx and Vulkan have others.)
constexpr std::string_view different_variants[] = {"causal_offset", "sliding_window", "document", "chosen_blocks", "soft_cap", "alibi", "relative_bias", "padded",
                                                   "masked", "grouped_query", "paged", "ragged", "additive", "sink_logit", "differential"};

}  // namespace

TEST_CASE("every variant on OpenCL agrees with the interpreter: the first quarter", "[opencl]") { check_variants("opencl", {0, 4}, known_sizes); }
TEST_CASE("every variant on OpenCL agrees with the interpreter: the second quarter", "[opencl]") { check_variants("opencl", {1, 4}, known_sizes); }
TEST_CASE("every variant on OpenCL agrees with the interpreter: the third quarter", "[opencl]") { check_variants("opencl", {2, 4}, known_sizes); }
TEST_CASE("every variant on OpenCL agrees with the interpreter: the last quarter", "[opencl]") { check_variants("opencl", {3, 4}, known_sizes); }
TEST_CASE("every variant on OpenCL agrees with the interpreter where no extent is known", "[opencl][.full]") { check_variants("opencl", {}, any_size); }
TEST_CASE("variants of bf16 and f16 on OpenCL agree with the interpreter", "[opencl]") { check_types("opencl"); }
TEST_CASE("every variant on Vulkan agrees with the interpreter", "[vulkan]") { check_variants("vulkan", {}, any_size); }
TEST_CASE("variants of bf16 and f16 on Vulkan agree with the interpreter", "[vulkan]") { check_types("vulkan"); }

TEST_CASE("calls of few queries and many keys on OpenCL agree with the interpreter", "[opencl]") { check_few_queries("opencl", different_variants, small_splits); }
TEST_CASE("calls of few queries and many keys of every variant on OpenCL agree with the interpreter", "[opencl][.full]") {
  check_few_queries("opencl", names_of_variants(), small_splits);
}
TEST_CASE("calls of few queries and many keys of every variant on Vulkan agree with the interpreter", "[vulkan]") {
  check_few_queries("vulkan", names_of_variants(), "");
}

}  // namespace attune
