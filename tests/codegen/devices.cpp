/// Kernels for CPUs and devices in one object and in one file, as attune_add_kernel makes them.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "device_only.h"
#include "mixed_causal.h"
#include "other_tiles.h"
#include "runtime/attune.h"
#include "runtime/driver_device.h"
#include "runtime/library.h"
#include "runtime/signature.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"
#include "tools/attune/trial.h"
#include "tools/measure/example.h"
#include "tuned_tiles.h"

namespace attune {
namespace {

/// Why no OpenCL kernel can run here; empty if one can.
std::string opencl_problem() {
  const Result<Kernel> kernel = Kernel::from(attune_kernel_v5_device_only);
  if (!kernel) return kernel.error().message;
  const Graph graph = variant_graph("causal");
  const Shape extents = fill_shape(graph, parse_shape("queries=1,keys=1", "shape").extents).extents;
  const Result<void> called = trial_of(*kernel, extents, random_inputs(graph, extents, 1)).call(*kernel);
  return !called && called.error().message.find("clGet") != std::string::npos ? called.error().message : std::string();
}

void check_shapes(const Kernel& kernel) {
  const Graph graph = variant_graph("causal");
  for (const char* shape : {"queries=1,keys=1,depth=1", "queries=5,keys=37,depth=17", "heads=1,queries=37,keys=129,depth=5", "queries=5,keys=0"}) {
    INFO(shape);
    const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
    Trial trial = trial_of(kernel, extents, random_inputs(graph, extents, 1));
    trial.call(kernel).value();
    const TrialVerdict verdict = trial.compare_with_interpreter(graph);
    INFO(verdict.text << verdict.problem);
    CHECK(verdict.agrees);
  }
}

/// The devices of the code that calls may take.
void check_codes(const Kernel& kernel, attune_device device) {
  CHECK(!kernel.usable_targets().empty());
  for (const UsableTarget& target : kernel.usable_targets()) CHECK(target.device == device);
}

std::string schedules_of(const attune_kernel_v5& kernel) {
  std::string schedules;
  for (const attune_step_v1& step : steps_of(kernel))
    for (const attune_code_v3& code : codes_of(step)) schedules += std::string(code.schedule) + "\n";
  return schedules;
}

}  // namespace

TEST_CASE("a kernel holds code for CPUs and devices, the CPU's first", "[devices]") {
  std::string names;
  for (const KernelTarget& target : Kernel::from(attune_kernel_v5_mixed_causal).value().targets()) names += std::string(target.name) + " ";
  CHECK(names == "x86-64-v4 x86-64-v3 opencl cuda ");
}

TEST_CASE("linked code of CPUs and of devices agrees with the interpreter", "[devices]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_mixed_causal).value();
  check_codes(kernel.on("cpu").value(), attune_cpu);
  check_shapes(kernel.on("cpu").value());
  if (const std::string problem = opencl_problem(); !problem.empty()) return skip(problem);
  check_codes(kernel.on("opencl").value(), attune_opencl);
  check_shapes(kernel.on("opencl").value());
}

TEST_CASE("code of CPUs and of devices in one file agrees with the interpreter", "[devices]") {
  const Library library = Library::open(MIXED_FILE).value();
  check_codes(library.kernel("mixed_causal", "cpu").value(), attune_cpu);
  check_shapes(library.kernel("mixed_causal", "cpu").value());
  if (const std::string problem = opencl_problem(); !problem.empty()) return skip(problem);
  check_codes(library.kernel("mixed_causal", "opencl").value(), attune_opencl);
  check_shapes(library.kernel("mixed_causal", "opencl").value());
}

TEST_CASE("a device of OpenCL is named by its number, and one that there is not is refused", "[devices]") {
  if (const std::string problem = opencl_problem(); !problem.empty()) return skip(problem);
  const Kernel kernel = Kernel::from(attune_kernel_v5_device_only).value();
  const Kernel first = kernel.on("opencl:0").value();
  CHECK(first.device()->text() == "opencl:0");
  CHECK(first.device()->shared_bytes() > 0);
  check_shapes(first);
  CHECK(kernel.on("opencl:" + first.device()->name()).value().device() == first.device());
  CHECK(kernel.on("opencl:99")
            .error()
            .message.starts_with(
                "kernel 'device_only': this machine cannot run its code for 'opencl:99': its driver has no device 99; it has opencl:0 (" +
                first.device()->name() + ")"));
}

TEST_CASE("an object for a device alone links and agrees with the interpreter", "[devices]") {
  if (const std::string problem = opencl_problem(); !problem.empty()) return skip(problem);
  check_shapes(Kernel::from(attune_kernel_v5_device_only).value());
}

TEST_CASE("a device without a driver, and one that there is not, are refused in words", "[devices]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_mixed_causal).value();
  CHECK(kernel.on("vulkan").error().message ==
        "kernel 'mixed_causal': holds no code for 'vulkan'; it holds x86-64-v4 (cpu), x86-64-v3 (cpu), opencl, cuda");
  CHECK(Library::open(MIXED_FILE).value().kernel("causal", "cpu").error().message.ends_with("has no kernel 'causal'; it holds mixed_causal"));
  const Result<Kernel> cuda = kernel.on("cuda");
  if (cuda) return skip("there is a driver for CUDA");
  INFO(cuda.error().message);
  CHECK(cuda.error().message.starts_with(
      "kernel 'mixed_causal': this machine cannot run its code for 'cuda': cuda (lacking here: cuda: its driver libcuda.so.1 cannot be loaded ("));
  CHECK(cuda.error().message.find("); of what it holds it runs x86-64-v") != std::string::npos);
}

TEST_CASE("programs in C name a linked kernel's device", "[devices]") {
  attune_library* library = attune_link(&attune_kernel_v5_mixed_causal);
  REQUIRE(library != nullptr);
  const auto* cpu = attune_find_kernel_on(library, "mixed_causal", "cpu");
  REQUIRE(cpu != nullptr);
  CHECK(attune_find_kernel_on(library, "mixed_causal", "cpu") == cpu);
  CHECK(attune_target_count(cpu) == 4);
  CHECK(attune_target_name(cpu, 2) == std::string("opencl"));
  CHECK(attune_find_kernel_on(library, "mixed_causal", "vulkan") == nullptr);
  CHECK(std::string(attune_last_error()).starts_with("kernel 'mixed_causal': holds no code for 'vulkan'"));
  CHECK(attune_find_kernel_on(library, "causal", "cpu") == nullptr);
  CHECK(attune_last_error() == std::string("attune_find_kernel: has no kernel 'causal'; it holds mixed_causal"));
  attune_close(library);
}

TEST_CASE("a project gives its kernels a schedule or tuned files", "[devices]") {
  CHECK(schedules_of(attune_kernel_v5_other_tiles).find("online_softmax,query_tile=48,") != std::string::npos);
  CHECK(schedules_of(attune_kernel_v5_tuned_tiles).find("online_softmax,query_tile=96,") != std::string::npos);
}

}  // namespace attune
