/// Codes with a kernel for compute capability 9.0 beside those for all devices: which of them a call takes, on several devices and threads, and what
/// comes back where the driver fails.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "runtime/signature.h"
#include "tests/codegen/device_trial.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

constexpr int of_8_0 = 80, of_9_0 = 90;
constexpr const char *aligned = "rows=37,columns=40,over=72", *not_aligned = "rows=37,columns=37,over=37";

/// out [rows x columns] = a [rows x over] b [over x columns] of bf16.
KernelCase product_case(const std::string& schedule = "") {
  load_driver(2);
  auto& g = *new Graph;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  g.output("out", matmul(g.input("a", {rows, over}), g.input("b", {over, columns}), over), {rows, columns});
  g.finish();
  return KernelCase(g, "product", {.target = "cuda", .types = "bf16", .schedule = schedule});
}

bool has_launched_by_warpgroups(const std::function<void()>& call) {
  const ptx::Counts counts = counts_of(call);
  return std::ranges::any_of(counts.instructions, [](const auto& counted) { return counted.first.starts_with("wgmma.mma_async."); });
}

std::string difference_on(const KernelCase& kernel, const Kernel& there, const std::string& shape) {
  const Shape extents = fill_shape(kernel.graph(), parse_shape(shape, "shape").extents).extents;
  Trial trial = trial_of(there, extents, random_inputs(kernel.graph(), extents, 1));
  if (const Result<void> called = trial.call(there); !called) return called.error().message;
  const TrialVerdict verdict = trial.compare_with_interpreter(kernel.graph());
  return verdict.agrees ? verdict.problem : verdict.text;
}

}  // namespace

TEST_CASE("a call takes the kernel for compute capability 9.0 there, where its tensors are aligned", "[cuda]") {
  const KernelCase kernel = product_case();
  for (const int capability : {of_9_0, of_8_0, of_9_0})
    for (const char* shape : {aligned, not_aligned}) {
      CAPTURE(capability, shape);
      fresh_driver_state().capability = capability;
      CHECK(has_launched_by_warpgroups([&] { CHECK(kernel.difference(shape, 1) == ""); }) == (capability == of_9_0 && shape == aligned));
      CHECK(difference_on_device(kernel.graph(), kernel.kernel(), shape) == "");
    }
  const KernelCase for_all = product_case("mma_gemm");
  fresh_driver_state().capability = of_9_0;
  CHECK(!has_launched_by_warpgroups([&] { CHECK(for_all.difference(aligned, 1) == ""); }));
  fresh_driver_state();
}

TEST_CASE("a code with two kernels says what blocks share of the one for all devices", "[cuda]") {
  const KernelCase kernel = product_case(), for_all = product_case("mma_gemm");
  const auto said = [](const KernelCase& of) { return codes_of(steps_of(of.kernel().manifest())[0])[0].shared_bytes(); };
  CHECK(said(kernel) == said(for_all));
  fresh_driver_state().capability = of_9_0;
  CHECK(counts_of([&] { CHECK(kernel.difference(aligned, 1) == ""); }).shared_bytes > static_cast<std::size_t>(48 << 10));
  fresh_driver_state();
}

TEST_CASE("the kernel for compute capability 9.0 runs on several devices, from several threads at once, and is loaded once", "[cuda]") {
  const KernelCase kernel = product_case();
  ptx::DriverState& state = fresh_driver_state();
  state.capability = of_9_0;
  const std::array<Kernel, 2> kernels = {kernel.kernel().on("cuda:0").value(), kernel.kernel().on("cuda:1").value()};
  std::array<std::string, 6> differences;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < differences.size(); ++t)
    threads.emplace_back([&, t] { differences[t] = difference_on(kernel, kernels[t % 2], aligned); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& difference : differences) CHECK(difference == "");
  CHECK(state.calls["cuLibraryLoadData"] == state.calls["cuLibraryUnload"] + 1);
  for (const Kernel& there : kernels) CHECK(difference_on(kernel, there, aligned) == "");
  CHECK(state.calls["cuLibraryLoadData"] == state.calls["cuLibraryUnload"] + 1);
  CHECK(state.calls["cuModuleLoadDataEx"] == 0);
  CHECK(std::ranges::count(state.launches, 1, &ptx::LaunchPlace::device) == 4);
  fresh_driver_state();
}

TEST_CASE("a closed file unloads the kernel for compute capability 9.0", "[cuda]") {
  {
    const KernelCase kernel = product_case();
    fresh_driver_state().capability = of_9_0;
    CHECK(kernel.difference(aligned, 1) == "");
    CHECK(driver_state().calls["cuLibraryUnload"] == 0);
  }
  CHECK(driver_state().calls["cuLibraryUnload"] == 1);
  fresh_driver_state();
}

TEST_CASE("a failure of the driver comes back from the kernel for compute capability 9.0 in its words, and the next call works", "[cuda]") {
  struct Failing {
    const char* function;
    int status;
    const char* words;
  };
  for (const Failing& failing : {Failing{"cuCtxPushCurrent", 201, "CUDA_ERROR_INVALID_CONTEXT"},
                                 {"cuLibraryLoadData", 218, "CUDA error: CUDA_ERROR_INVALID_PTX cuLibraryLoadData failed"},
                                 {"cuLibraryGetKernel", 500, "CUDA error: CUDA_ERROR_NOT_FOUND cuLibraryGetKernel failed"},
                                 {"cuKernelSetAttribute", 1, "CUDA error: CUDA_ERROR_INVALID_VALUE cuKernelSetAttribute failed"},
                                 {"cuLaunchKernel", 719, "CUDA error: CUDA_ERROR_LAUNCH_FAILED cuLaunchKernel failed"}}) {
    const KernelCase kernel = product_case();  // of which nothing is loaded
    int failed = 0;
    for (int before = 0; failed == before; ++before) {
      CAPTURE(failing.function, before);
      ptx::DriverState& state = fresh_driver_state();
      state.capability = of_9_0;
      state.failing_function = failing.function;
      state.failing_status = failing.status;
      state.calls_before = before;
      const std::string said = kernel.difference(aligned, 1);
      failed += state.failed_calls > 0 ? 1 : 0;
      if (state.failed_calls > 0)
        CHECK_THAT(said, Catch::Contains(failing.words));
      else
        CHECK(said == "");
    }
    CHECK(failed > 0);
  }
  fresh_driver_state();
}

}  // namespace attune
