/// Kernels on several devices of a driver, which is the interpreter of PTX: named, called side by side, and what is said of those that there are not.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

#include "mixed_causal.h"
#include "runtime/driver_device.h"
#include "runtime/signature.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"
#include "tests/skip.h"

namespace attune {
namespace {

/// A kernel for CUDA, compiled once.
const KernelCase& causal_case() {
  static const auto& made = []() -> const KernelCase& {
    load_driver(2);  // with assertions, which no other thread may make
    return *new KernelCase("causal", {.target = "cuda"});
  }();
  return made;
}

/// Empty, or how a call on the kernel's device differs from the interpreter of graphs.
std::string difference_on(const Kernel& kernel, const std::string& shape) {
  const Graph& graph = causal_case().graph();
  const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
  Trial trial = trial_of(kernel, extents, random_inputs(graph, extents, 1));
  if (const Result<void> called = trial.call(kernel); !called) return called.error().message;
  const TrialVerdict verdict = trial.compare_with_interpreter(graph);
  return verdict.agrees ? verdict.problem : verdict.text;
}

std::vector<int> devices_of(const std::vector<ptx::LaunchPlace>& launches) {
  std::vector<int> devices;
  for (const ptx::LaunchPlace& launch : launches)
    if (std::ranges::find(devices, launch.device) == devices.end()) devices.push_back(launch.device);
  return devices;
}

}  // namespace

TEST_CASE("a device is named by its number, or by a part of its driver's name for it", "[cuda]") {
  const Kernel kernel = causal_case().kernel();
  for (const auto& [name, number] :
       std::vector<std::pair<std::string, int>>{{"cuda", 0}, {"cuda:0", 0}, {"cuda:1", 1}, {"cuda:interpreter B", 1}, {"cuda:PTX", 0}}) {
    INFO(name);
    const Kernel there = kernel.on(name).value();
    CHECK(there.device()->number() == number);
    CHECK(there.device()->text() == "cuda:" + std::to_string(number));
    CHECK(there.device()->shared_bytes() == 49152);
    const ptx::DriverState& state = fresh_driver_state();
    CHECK(difference_on(there, "queries=5,keys=7") == "");
    CHECK(devices_of(state.launches) == std::vector{number});
  }
  const ptx::DriverState& state = fresh_driver_state();
  CHECK(difference_on(kernel, "queries=5,keys=7") == "");
  CHECK(devices_of(state.launches) == std::vector{0});
}

TEST_CASE("a device that the driver has not is refused with those that it has", "[cuda]") {
  const Kernel kernel = causal_case().kernel();
  const std::string has = "; it has cuda:0 (interpreter A of PTX), cuda:1 (interpreter B of PTX)";
  CHECK(kernel.on("cuda:2").error().message == "kernel 'causal': this machine cannot run its code for 'cuda:2': its driver has no device 2" + has);
  CHECK(kernel.on("cuda:-1").error().message == "kernel 'causal': this machine cannot run its code for 'cuda:-1': its driver has no device -1" + has);
  CHECK(kernel.on("cuda:H100").error().message ==
        "kernel 'causal': this machine cannot run its code for 'cuda:H100': its driver has no device whose name holds 'H100'" + has);
  CHECK(kernel.on("cuda:").error().message == "kernel 'causal': holds no code for 'cuda:'; it holds cuda");
  CHECK(kernel.on("cpu:0").error().message == "kernel 'causal': holds no code for 'cpu:0'; it holds cuda");
  CHECK(kernel.on("opencl:1").error().message == "kernel 'causal': holds no code for 'opencl:1'; it holds cuda");
}

TEST_CASE("two kernels of one file run on two devices, one after the other and at once", "[cuda]") {
  const std::array<Kernel, 2> kernels = {causal_case().kernel().on("cuda:0").value(), causal_case().kernel().on("cuda:1").value()};
  const ptx::DriverState& state = fresh_driver_state();
  for (int round = 0; round < 2; ++round)
    for (const Kernel& kernel : kernels) CHECK(difference_on(kernel, "queries=5,keys=37") == "");
  CHECK(devices_of(state.launches) == std::vector{0, 1});
  std::array<std::string, 4> differences;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < differences.size(); ++t)
    threads.emplace_back([&, t] { differences[t] = difference_on(kernels[t % 2], "queries=37,keys=5"); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& difference : differences) CHECK(difference == "");
}

TEST_CASE("a linked kernel runs on the devices, too", "[cuda]") {
  load_driver(2);
  const Kernel linked = Kernel::from(attune_kernel_v5_mixed_causal).value();
  for (const int number : {1, 0}) {
    const Kernel there = linked.on("cuda:" + std::to_string(number)).value();
    const ptx::DriverState& state = fresh_driver_state();
    CHECK(difference_on(there, "queries=5,keys=37") == "");
    CHECK(devices_of(state.launches) == std::vector{number});
  }
}

TEST_CASE("a kernel says how much memory its blocks share: what its launches take", "[cuda]") {
  load_driver(2);
  for (const char* variant : {"causal", "single_head", "multi_head"}) {
    INFO(variant);
    const KernelCase kernel(variant, {.target = "cuda"});
    int said = 0;
    for (const attune_step_v1& step : steps_of(kernel.kernel().manifest()))
      for (const attune_code_v3& code : codes_of(step)) said = std::max(said, code.shared_bytes());
    // A call of one size launches the kernels of one code, which may need less than another's.
    std::size_t taken = 0;
    for (const char* shape : {"batch=1,heads=2,queries=5,keys=7,tokens=5,depth=8,model=8", "batch=1,heads=1,queries=1,keys=129,tokens=1,depth=8,model=8"})
      taken = std::max(taken, counts_of([&] { CHECK(kernel.difference(fitting(shape, kernel.graph()), 1) == ""); }).shared_bytes);
    CHECK(said > 0);
    CHECK(static_cast<std::size_t>(said) == taken);
    CHECK(said <= 48 << 10);
  }
}

TEST_CASE("a closed file leaves nothing on the devices", "[cuda]") {
  load_driver(2);
  causal_case();
  const std::size_t before = driver_state().allocated_bytes;
  {
    const KernelCase closed("scaled_dot_product", {.target = "cuda"});
    CHECK(closed.difference("queries=5,keys=7", 1) == "");
    CHECK(driver_state().allocated_bytes > before);  // Halide's runtime keeps memory for the next call
  }
  CHECK(driver_state().allocated_bytes == before);
}

TEST_CASE("kernels that are kept have machine code beside their PTX, where NVIDIA's assembler is", "[cuda]") {
  load_driver(2);
  if (!std::filesystem::exists(ATTUNE_PTXAS)) return skip("there is no ptxas: scripts/setup installs it");
  const Kernel kept = Kernel::from(attune_kernel_v5_mixed_causal).value().on("cuda").value();
  CHECK(difference_on(kept, "queries=5,keys=37") == "");
  CHECK(driver_log().machine_codes == 1);
  CHECK(difference_on(causal_case().kernel(), "queries=5,keys=38") == "");
  CHECK(driver_log().machine_codes == 0);
}

}  // namespace attune
