/// What the driver says when it fails comes back from a call, wherever that happens; the next call works.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/codegen/device_trial.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

/// Of several steps, opened anew, so that its code is not on the device yet.
KernelCase opened_case(std::vector<std::string> known = {}) {
  load_driver(2);
  return KernelCase("single_head", {.target = "cuda", .set = std::move(known)});
}

constexpr const char* single_head_shape = "batch=2,tokens=5,model=8,depth=4,value_depth=3";

Trial trial_of_shape(const KernelCase& kernel, const char* shape) {
  const Graph& graph = kernel.graph();
  const Shape extents = fill_shape(graph, parse_shape(fitting(shape, graph), "shape").extents).extents;
  return trial_of(kernel.kernel(), extents, random_inputs(graph, extents, 1));
}

struct Failing {
  const char* function;
  int status;
  const char* words;  ///< that the call's error holds
};

/// Lets each of the function's calls fail in turn, until a call of the kernel has none that fails. Gives how many failed.
int fail_in_turn(const KernelCase& kernel, const Failing& failing, const std::function<Result<void>(Trial&)>& call,
                 const char* shape = single_head_shape) {
  for (int before = 0;; ++before) {
    CAPTURE(failing.function, before);
    ptx::DriverState& state = fresh_driver_state();
    Trial trial = trial_of_shape(kernel, shape);
    state.failing_function = failing.function;
    state.failing_status = failing.status;
    state.calls_before = before;
    const Result<void> called = call(trial);
    const bool has_failed = state.failed_calls > 0;
    fresh_driver_state();
    if (!has_failed) {
      CHECK(called.has_value());
      return before;
    }
    REQUIRE(!called);
    CHECK_THAT(called.error().message, Catch::StartsWith("kernel '") && Catch::Contains(failing.words));
    trial.call(kernel.kernel()).value();
    CHECK(trial.compare_with_interpreter(kernel.graph()).agrees);
  }
}

}  // namespace

TEST_CASE("a failure of the driver comes back in its words, at whichever of its functions", "[cuda]") {
  const KernelCase kernel = opened_case();
  for (const Failing& failing :
       {Failing{"cuCtxPushCurrent", 201, "CUDA_ERROR_INVALID_CONTEXT"},
        {"cuMemAlloc", 2, "CUDA_ERROR_OUT_OF_MEMORY cuMemAlloc failed"},
        {"cuMemcpyHtoD", 1, "CUDA_ERROR_INVALID_VALUE cuMemcpyHtoD failed"},
        {"cuLaunchKernel", 719, "CUDA_ERROR_LAUNCH_FAILED cuLaunchKernel failed"},
        {"cuMemcpyDtoH", 719, "CUDA_ERROR_LAUNCH_FAILED cuMemcpyDtoH failed"},
        {"cuStreamSynchronize", 719, "cuda:0: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)"}}) {
    INFO(failing.function);
    // Memory that Halide's runtime keeps would be used again: another kernel has none. A file with the same bytes may be the one that is open.
    const std::string_view function = failing.function;
    if (function == "cuMemAlloc") {
      const KernelCase fresh = opened_case({"depth=4"});
      ptx::DriverState& state = fresh_driver_state();
      state.failing_function = failing.function;
      state.failing_status = failing.status;
      Trial trial = trial_of_shape(fresh, single_head_shape);
      CHECK_THAT(trial.call(fresh.kernel()).error().message, Catch::Contains(failing.words));
      fresh_driver_state();
      trial.call(fresh.kernel()).value();
      CHECK(trial.compare_with_interpreter(fresh.graph()).agrees);
      continue;
    }
    CHECK(fail_in_turn(kernel, failing, [&](Trial& trial) { return trial.call(kernel.kernel()); }) > 0);
  }
}

TEST_CASE("failures of calls on tensors of the device come back, too", "[cuda]") {
  const KernelCase kernel = opened_case();
  const auto call = [&](Trial& trial) -> Result<void> {
    // what is copied and allocated before the call is none of its failures
    ptx::DriverState& state = driver_state();
    const std::string wanted = std::exchange(state.failing_function, "");
    const DeviceTrial there(kernel.kernel(), trial);
    state.failing_function = wanted;
    const std::vector<Tensor> tensors = there.tensors();
    Result<void> called = kernel.kernel().call(tensors);
    state.failing_function = "";
    return called;
  };
  CHECK(fail_in_turn(kernel, {"cuCtxPushCurrent", 201, "CUDA_ERROR_INVALID_CONTEXT"}, call) > 5);
  CHECK(fail_in_turn(kernel, {"cuLaunchKernel", 719, "CUDA_ERROR_LAUNCH_FAILED cuLaunchKernel failed"}, call) > 2);
  CHECK(fail_in_turn(kernel, {"cuStreamSynchronize", 719, "cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED"}, call) == 1);
}

TEST_CASE("a failure of either launch of few queries by tensor cores comes back, and leaves no memory behind", "[cuda]") {
  load_driver(2);
  const KernelCase kernel("grouped_query", {.target = "cuda", .types = "bf16", .set = {"depth=16", "value_depth=16"}});
  const char* shape = "batch=1,heads=2,group=2,queries=1,keys=600,depth=16,value_depth=16";
  trial_of_shape(kernel, shape).call(kernel.kernel()).value();
  const std::size_t allocated = driver_state().allocated_bytes;
  const Failing failing{"cuLaunchKernel", 719, "CUDA_ERROR_LAUNCH_FAILED cuLaunchKernel failed"};
  CHECK(fail_in_turn(kernel, failing, [&](Trial& trial) { return trial.call(kernel.kernel()); }, shape) == 2);
  CHECK(driver_state().allocated_bytes <= allocated);
}

TEST_CASE("code that the driver does not load is refused in its words", "[cuda]") {
  const KernelCase kernel = opened_case();
  ptx::DriverState& state = fresh_driver_state();
  state.failing_function = "cuModuleLoadDataEx";
  state.failing_status = 200;
  Trial trial = trial_of_shape(kernel, single_head_shape);
  CHECK_THAT(trial.call(kernel.kernel()).error().message, Catch::StartsWith("kernel 'single_head': its code for cuda stopped with Halide's error ") &&
                                                              Catch::Contains("CUDA: cuModuleLoadData failed: CUDA_ERROR_INVALID_IMAGE"));
  fresh_driver_state();
  trial.call(kernel.kernel()).value();
  CHECK(trial.compare_with_interpreter(kernel.graph()).agrees);
}

TEST_CASE("a device without enough memory is said so, and works for smaller calls", "[cuda]") {
  const KernelCase kernel = opened_case();
  ptx::DriverState& state = fresh_driver_state();
  state.memory_bytes = state.allocated_bytes + (1 << 16);
  const Graph& graph = kernel.graph();
  const Shape large = fill_shape(graph, parse_shape(fitting("batch=1,tokens=64,model=512,depth=8,value_depth=8", graph), "shape").extents).extents;
  Trial too_large = trial_of(kernel.kernel(), large, random_inputs(graph, large, 1));
  CHECK_THAT(too_large.call(kernel.kernel()).error().message, Catch::Contains("CUDA error: CUDA_ERROR_OUT_OF_MEMORY cuMemAlloc failed"));
  Trial trial = trial_of_shape(kernel, single_head_shape);
  trial.call(kernel.kernel()).value();
  CHECK(trial.compare_with_interpreter(graph).agrees);
}

TEST_CASE("a context that the driver does not give is said so", "[cuda]") {
  const KernelCase kernel = opened_case();
  ptx::DriverState& state = fresh_driver_state();
  state.failing_function = "cuDevicePrimaryCtxRetain";
  state.failing_status = 2;
  const Kernel other = kernel.kernel().on("cuda:1").value();
  Trial trial = trial_of_shape(kernel, single_head_shape);
  if (other.device()->is_in_use()) return;  // by another case of this process: it is asked for once
  CHECK(trial.call(other).error().message == "kernel 'single_head': cuda:1: cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  CHECK_THAT(allocate_on(*other.device(), attune_f32, {4}).error().message,
             Catch::Contains("cuda:1: cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"));
  fresh_driver_state();
  trial.call(other).value();
}

}  // namespace attune
