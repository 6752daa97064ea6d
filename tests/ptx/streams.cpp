/// Calls in the caller's stream, on a driver that leaves the work of a stream until somebody waits for it.
#include <catch2/catch.hpp>

#include <array>

#include "tests/codegen/device_trial.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

/// A stream of the kernel's device, as a program has one from cudaStreamCreate.
class Stream {
 public:
  explicit Stream(const Kernel& kernel) {
    void *const context = kernel.device()->own_queue().value().context, *popped = nullptr;
    REQUIRE(driver_function<int (*)(void*)>("cuCtxPushCurrent_v2")(context) == 0);
    REQUIRE(driver_function<int (*)(void**, unsigned)>("cuStreamCreate")(&handle_, 1) == 0);
    REQUIRE(driver_function<int (*)(void**)>("cuCtxPopCurrent_v2")(&popped) == 0);
  }
  Stream(const Stream&) = delete;
  ~Stream() { driver_function<int (*)(void*)>("cuStreamDestroy_v2")(handle_); }

  void* handle() const { return handle_; }
  int wait() const { return driver_function<int (*)(void*)>("cuStreamSynchronize")(handle_); }

 private:
  void* handle_ = nullptr;
};

/// A kernel of several steps.
const KernelCase& multi_head_on_cuda() {
  load_driver(2);
  static const auto& made = *new KernelCase("multi_head", {.settings = {"weights=true"}, .target = "cuda"});
  return made;
}

Trial multi_head_trial(const Kernel& kernel, std::uint64_t seed) {
  const Graph& graph = multi_head_on_cuda().graph();
  const Shape extents =
      fill_shape(graph, parse_shape(fitting("batch=2,tokens=5,keys=7,memory_tokens=7,model=8,heads=2,depth=4", graph), "shape").extents).extents;
  return trial_of(kernel, extents, random_inputs(graph, extents, seed));
}

bool agrees(const Trial& trial) { return trial.compare_with_interpreter(multi_head_on_cuda().graph()).agrees; }

}  // namespace

TEST_CASE("a call with a stream and tensors of the device puts its work there and does not wait", "[cuda]") {
  for (const char* device : {"cuda:0", "cuda:1"}) {
    INFO(device);
    const Kernel kernel = multi_head_on_cuda().kernel().on(device).value();
    const Stream stream(kernel);
    Trial trial = multi_head_trial(kernel, 1);
    const DeviceTrial there(kernel, trial);
    const std::vector<Tensor> tensors = there.tensors();
    // The first call allocates, and may free what other calls left to Halide's runtime, for which the driver waits.
    kernel.call(tensors, {.stream = stream.handle()}).value();
    CHECK(stream.wait() == 0);
    ptx::DriverState& state = fresh_driver_state();
    driver_log().counts = {};
    kernel.call(tensors, {.stream = stream.handle()}).value();
    CHECK(!state.launches.empty());
    for (const ptx::LaunchPlace& launch : state.launches) CHECK(launch == ptx::LaunchPlace{kernel.device()->number(), stream.handle()});
    CHECK(driver_log().counts.instructions.empty());
    CHECK((state.calls["cuStreamSynchronize"] == 0 && state.calls["cuCtxSynchronize"] == 0));
    CHECK(stream.wait() == 0);
    CHECK(!driver_log().counts.instructions.empty());
    there.fetch(trial);
    CHECK(agrees(trial));
  }
}

TEST_CASE("a call with a stream waits for it where the host has tensors of the call", "[cuda]") {
  const Kernel kernel = multi_head_on_cuda().kernel().on("cuda:1").value();
  const Stream stream(kernel);
  Trial trial = multi_head_trial(kernel, 1);
  std::vector<Tensor> tensors;
  for (StoredArray& array : trial.arrays) tensors.push_back(array.tensor());
  ptx::DriverState& state = fresh_driver_state();
  kernel.call(tensors, {.stream = stream.handle()}).value();
  for (const ptx::LaunchPlace& launch : state.launches) CHECK(launch == ptx::LaunchPlace{1, stream.handle()});
  CHECK(agrees(trial));
  // An input alone: its memory is the caller's again, whatever the stream would read of it later.
  const DeviceTrial there(kernel, trial);
  tensors = there.tensors();
  tensors[0] = trial.arrays[0].tensor();
  kernel.call(tensors, {.stream = stream.handle()}).value();
  CHECK(state.calls["cuStreamSynchronize"] > 0);
}

TEST_CASE("a call without a stream waits, also for tensors of the device", "[cuda]") {
  const Kernel kernel = multi_head_on_cuda().kernel().on("cuda:0").value();
  Trial trial = multi_head_trial(kernel, 1);
  const DeviceTrial there(kernel, trial);
  const std::vector<Tensor> tensors = there.tensors();
  ptx::DriverState& state = fresh_driver_state();
  kernel.call(tensors).value();
  CHECK(state.calls["cuStreamSynchronize"] == 1);
}

TEST_CASE("calls in several streams do not take one another's memory", "[cuda]") {
  const Kernel kernel = multi_head_on_cuda().kernel().on("cuda:0").value();
  const Stream first(kernel), second(kernel);
  std::array<Trial, 4> trials = {multi_head_trial(kernel, 1), multi_head_trial(kernel, 2), multi_head_trial(kernel, 3), multi_head_trial(kernel, 4)};
  std::vector<DeviceTrial> there;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    there.emplace_back(kernel, trials[t]);
    const std::vector<Tensor> tensors = there.back().tensors();
    kernel.call(tensors, {.stream = (t % 2 == 0 ? first : second).handle()}).value();
  }
  CHECK(second.wait() == 0);
  CHECK(first.wait() == 0);
  for (std::size_t t = 0; t < trials.size(); ++t) {
    there[t].fetch(trials[t]);
    CHECK(agrees(trials[t]));
  }
}

TEST_CASE("a tensor is copied behind the work that is in its stream", "[cuda]") {
  const Kernel kernel = multi_head_on_cuda().kernel().on("cuda:0").value();
  const Stream stream(kernel);
  Trial trial = multi_head_trial(kernel, 5);
  const DeviceTrial there(kernel, trial, stream.handle());
  const std::vector<Tensor> tensors = there.tensors();
  kernel.call(tensors, {.stream = stream.handle()}).value();
  there.fetch(trial, stream.handle());
  CHECK(agrees(trial));
}

TEST_CASE("a stream of another device, and one for the CPU, are refused", "[cuda]") {
  const Kernel kernel = multi_head_on_cuda().kernel().on("cuda:0").value();
  const Stream other(multi_head_on_cuda().kernel().on("cuda:1").value());
  Trial trial = multi_head_trial(kernel, 1);
  const DeviceTrial there(kernel, trial);
  const std::vector<Tensor> tensors = there.tensors();
  CHECK_THAT(kernel.call(tensors, {.stream = other.handle()}).error().message,
             Catch::StartsWith("kernel 'multi_head': its code for cuda stopped with Halide's error ") &&
                 Catch::Contains("CUDA_ERROR_INVALID_HANDLE cuLaunchKernel failed"));
  const KernelCase cpu("causal");
  Trial on_cpu = trial_of(cpu.kernel(), fill_shape(cpu.graph(), {}).extents, random_inputs(cpu.graph(), fill_shape(cpu.graph(), {}).extents, 1));
  std::vector<Tensor> arrays;
  for (StoredArray& array : on_cpu.arrays) arrays.push_back(array.tensor());
  CHECK(cpu.kernel().call(arrays, {.stream = other.handle()}).error().message ==
        "kernel 'causal': got a stream, and runs on the cpu; streams are of devices");
}

}  // namespace attune
