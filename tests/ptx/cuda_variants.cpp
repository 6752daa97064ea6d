/// Every variant in kernels for CUDA, whose PTX is interpreted: no GPU is asked.
#include <catch2/catch.hpp>

#include "tests/codegen/device_trial.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/ptx/driver.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

void check_on_cuda(const std::string& variant, const KernelOptions& given) {
  CAPTURE(variant, given.types, given.settings);
  KernelOptions options = given;
  options.target = "cuda";
  const KernelCase kernel(variant, options);
  const char* const shapes[] = {"batch=1,heads=1,group=1,queries=1,keys=1,tokens=1,memory_tokens=1,depth=1",
                                "batch=1,heads=3,group=2,queries=5,keys=37,tokens=7,memory_tokens=37,depth=16,value_depth=3,model=9",
                                "batch=2,heads=2,group=1,queries=37,keys=5,tokens=37,memory_tokens=5,depth=40,model=24",
                                "batch=1,heads=1,group=1,queries=129,keys=37,tokens=65,memory_tokens=1,depth=64,model=16"};
  check_shapes(kernel, shapes);
  const std::string on_device = fitting("batch=2,heads=2,queries=5,keys=7,tokens=5,memory_tokens=7,depth=8,model=8", kernel.graph());
  CHECK(difference_on_device(kernel.graph(), kernel.kernel_for(kernel.filled(on_device).extents), on_device) == "");
}

/// Every fourth variant: no single test runs for long.
void check_quarter_on_cuda(std::size_t first) {
  load_driver();
  for (std::size_t n = first; n < names_of_variants().size(); n += 4) check_on_cuda(std::string(names_of_variants()[n]), {});
}

}  // namespace

TEST_CASE("every variant on CUDA, on tensors of the host and of the device, agrees with the interpreter: the first quarter", "[cuda]") { check_quarter_on_cuda(0); }
TEST_CASE("every variant on CUDA, on tensors of the host and of the device, agrees with the interpreter: the second quarter", "[cuda]") { check_quarter_on_cuda(1); }
TEST_CASE("every variant on CUDA, on tensors of the host and of the device, agrees with the interpreter: the third quarter", "[cuda]") { check_quarter_on_cuda(2); }
TEST_CASE("every variant on CUDA, on tensors of the host and of the device, agrees with the interpreter: the last quarter", "[cuda]") { check_quarter_on_cuda(3); }

TEST_CASE("attention on CUDA of several tiles of values agrees with the interpreter", "[cuda]") {
  load_driver();
  for (const bool has_log_sum_exp : {false, true}) {
    const KernelCase kernel("scaled_dot_product", {.settings = {has_log_sum_exp ? "lse=true" : "lse=false"}, .target = "cuda", .schedule = "gpu_online_softmax,thread_values=4"});
    for (const char* shape : {"batch=1,heads=2,queries=5,keys=37,depth=8,value_depth=33", "batch=2,heads=1,queries=66,keys=33,depth=33,value_depth=129"})
      CHECK(kernel.difference(shape, 1) == "");
  }
}

TEST_CASE("attention of few queries and many keys on CUDA agrees with the interpreter", "[cuda]") {
  load_driver();
  // Splits of 64 keys, of which calls have up to 5; rows of several heads, in one tile and in three.
  const std::string splits = "gpu_split_keys,size=few,split_tile=64";
  const auto check = [&](const std::string& variant, const KernelOptions& given) {
    CAPTURE(variant);
    KernelOptions options = given;
    options.target = "cuda";
    options.schedule = splits;
    const KernelCase kernel(variant, options);
    for (const char* shape : {"batch=2,heads=2,group=3,queries=1,keys=65,depth=1,value_depth=3", "batch=1,heads=2,group=4,queries=5,keys=300,depth=40,value_depth=33"})
      CHECK(kernel.difference(fitting(shape, kernel.graph()), 1) == "");
  };
  for (const char* variant : {"grouped_query", "causal_offset", "sinks", "document", "padded", "masked", "alibi", "soft_cap", "additive"}) check(variant, {});
  for (const char* type : {"bf16", "f16"}) check("grouped_query", {.types = type});
  check("scaled_dot_product", {.settings = {"lse=true"}});
  const KernelCase known("grouped_query", {.target = "cuda", .schedule = splits, .set = {"queries=1", "group=3", "depth=64", "value_depth=64"}});
  for (const char* shape : {"keys=129", "batch=2,heads=2,keys=200"}) CHECK(known.difference(shape, 1) == "");
}

TEST_CASE("variants of bf16 and f16 on CUDA agree with the interpreter", "[cuda]") {
  load_driver();
  for (const char* variant : {"causal", "grouped_query", "multi_head"}) check_on_cuda(variant, {.types = "bf16"});
  for (const char* variant : {"alibi", "multi_head"}) check_on_cuda(variant, {.types = "f16"});
}

TEST_CASE("optional parts of variants on CUDA agree with the interpreter", "[cuda]") {
  load_driver();
  check_on_cuda("multi_head", {.settings = {"weights=true", "mask=true", "dropout=0.1", "lengths=true", "biases=true"}});
  check_on_cuda("scaled_dot_product", {.settings = {"lse=true"}});
  check_on_cuda("chosen_keys", {.settings = {"count=3", "causal=true"}});
}

TEST_CASE("a call without elements on CUDA is right", "[cuda]") {
  load_driver();
  const KernelCase kernel("causal", {.target = "cuda"});
  for (const char* shape : {"queries=5,keys=0", "queries=0,keys=5"}) CHECK(kernel.difference(shape, 1) == "");
  // parts of what is joined: a kernel reads a row of each
  CHECK(KernelCase("sink_logit", {.target = "cuda"}).difference("queries=5,keys=0", 1) == "");
  CHECK(KernelCase("past_present", {.target = "cuda"}).difference("queries=5,past_keys=0,new_keys=5", 1) == "");
}

}  // namespace attune
