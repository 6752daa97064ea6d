/// Every variant in kernels for OpenCL and Vulkan, on this machine's CPU where it has no other device. (tests/ptx has those for CUDA.)
#include <catch2/catch.hpp>

#include "tests/codegen/device_problem.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

/// Small tiles, of which the calls below have several: OpenCL's compiler takes three times as long for those of the default, which tests of
/// single variants have.
constexpr const char* small_tiles = "gpu_online_softmax,block_columns=4,block_rows=4,thread_rows=2,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1";

/// The schedule, of variants that have scores.
std::string if_attention(std::string_view variant, const std::string& schedule) {
  return variant == "merge_partials" || variant == "recurrent_attention" ? std::string() : schedule;
}

void check_variant(const std::string& target, std::string_view variant, const std::string& types) {
  CAPTURE(variant, types);
  const KernelCase kernel(std::string(variant), {.target = target, .types = types, .schedule = if_attention(variant, small_tiles)});
  // Most of the time of a call on OpenCL goes by its launches, so that there are two calls: one of single elements, one of odd extents.
  for (const char* shape : {"batch=1,heads=1,group=1,queries=1,keys=1,tokens=1,memory_tokens=1,depth=1",
                            "batch=1,heads=3,group=2,queries=5,keys=37,tokens=7,memory_tokens=37,depth=5,value_depth=3,model=9"})
    CHECK(kernel.difference(fitting(shape, kernel.graph()), 1) == "");
}

/// Every so many of the variants from the first on: no single test runs for long where OpenCL's compiler has kept nothing.
struct Part {
  std::size_t first = 0, every = 1;
};

void check_variants(const std::string& target, Part part) {
  if (const std::string problem = device_problem(target); !problem.empty()) return skip(problem);
  for (std::size_t n = part.first; n < names_of_variants().size(); n += part.every) check_variant(target, names_of_variants()[n], "f32");
}

void check_types(const std::string& target) {
  if (const std::string problem = device_problem(target); !problem.empty()) return skip(problem);
  for (const char* variant : {"causal", "grouped_query", "multi_head"}) check_variant(target, variant, "bf16");
  for (const char* variant : {"alibi", "multi_head"}) check_variant(target, variant, "f16");
}

void check_few_queries(const std::string& target, Part part, const std::string& schedule) {
  if (const std::string problem = device_problem(target); !problem.empty()) return skip(problem);
  for (std::size_t n = part.first; n < names_of_variants().size(); n += part.every) {
    const std::string_view variant = names_of_variants()[n];
    CAPTURE(variant);
    const KernelCase kernel(std::string(variant), {.target = target, .schedule = if_attention(variant, schedule)});
    const char* shape = "batch=2,heads=2,group=3,queries=3,keys=300,tokens=3,memory_tokens=300,depth=17,value_depth=9,model=9";
    CHECK(kernel.difference(fitting(shape, kernel.graph()), 1) == "");
  }
}

constexpr const char* small_splits = "gpu_split_keys,size=few,split_tile=64,block_columns=4,block_rows=2,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1";

}  // namespace

TEST_CASE("every variant on OpenCL agrees with the interpreter: the first quarter", "[opencl]") { check_variants("opencl", {0, 4}); }
TEST_CASE("every variant on OpenCL agrees with the interpreter: the second quarter", "[opencl]") { check_variants("opencl", {1, 4}); }
TEST_CASE("every variant on OpenCL agrees with the interpreter: the third quarter", "[opencl]") { check_variants("opencl", {2, 4}); }
TEST_CASE("every variant on OpenCL agrees with the interpreter: the last quarter", "[opencl]") { check_variants("opencl", {3, 4}); }
TEST_CASE("variants of bf16 and f16 on OpenCL agree with the interpreter", "[opencl]") { check_types("opencl"); }
TEST_CASE("every variant on Vulkan agrees with the interpreter", "[vulkan]") { check_variants("vulkan", {}); }
TEST_CASE("variants of bf16 and f16 on Vulkan agree with the interpreter", "[vulkan]") { check_types("vulkan"); }

TEST_CASE("calls of few queries and many keys on OpenCL agree with the interpreter: the first half of the variants", "[opencl]") {
  check_few_queries("opencl", {0, 2}, small_splits);
}
TEST_CASE("calls of few queries and many keys on OpenCL agree with the interpreter: the other half of the variants", "[opencl]") {
  check_few_queries("opencl", {1, 2}, small_splits);
}
TEST_CASE("calls of few queries and many keys of every variant on Vulkan agree with the interpreter", "[vulkan]") { check_few_queries("vulkan", {}, ""); }

}  // namespace attune
