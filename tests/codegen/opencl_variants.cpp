/// Every variant in kernels for OpenCL.
#include <catch2/catch.hpp>

#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/opencl_problem.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

/// Small tiles, of which the calls below have several: this device's compiler takes three times as long for those of the default, which tests of
/// single variants have.
constexpr const char* small_tiles = "gpu_online_softmax,block_columns=4,block_rows=4,thread_rows=2,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1";

/// False where OpenCL cannot run here, which is then said.
bool check_on_opencl(std::string_view variant, const std::string& types) {
  CAPTURE(variant, types);
  const KernelCase kernel(std::string(variant), {.target = "opencl", .types = types, .schedule = variant == "merge_partials" ? "" : small_tiles});
  // Most of the time of a call on this device goes by its launches, so that there are two calls: one of single elements, one of odd extents.
  const std::string one = fitting("batch=1,heads=1,group=1,queries=1,keys=1,tokens=1,memory_tokens=1,depth=1", kernel.graph());
  const std::string odd = fitting("batch=1,heads=3,group=2,queries=5,keys=37,tokens=7,memory_tokens=37,depth=5,value_depth=3,model=9", kernel.graph());
  if (const std::string problem = opencl_problem(kernel, one); !problem.empty()) {
    skip(problem);
    return false;
  }
  for (const std::string& shape : {one, odd}) CHECK(kernel.difference(shape, 1) == "");
  return true;
}

}  // namespace

TEST_CASE("every variant on OpenCL agrees with the interpreter", "[opencl]") {
  for (const std::string_view variant : names_of_variants())
    if (!check_on_opencl(variant, "f32")) return;
}

TEST_CASE("variants of bf16 on OpenCL agree with the interpreter", "[opencl]") {
  for (const char* variant : {"causal", "grouped_query", "multi_head"})
    if (!check_on_opencl(variant, "bf16")) return;
}

}  // namespace attune
