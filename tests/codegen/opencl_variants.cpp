/// Every variant in kernels for OpenCL.
#include <catch2/catch.hpp>

#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/opencl_problem.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

/// False where OpenCL cannot run here, which is then said.
bool check_on_opencl(std::string_view variant, const std::string& types) {
  CAPTURE(variant, types);
  const KernelCase kernel(std::string(variant), {.target = "opencl", .types = types});
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
