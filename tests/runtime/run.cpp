/// What a call does around a kernel's code: errors in words, one thread pool, memory on devices, manifests at random.
#include "runtime/run.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/threads.h"
#include "tests/runtime/kernel_files.h"
#include "tests/runtime/kernels/kernels.h"
#include "tests/runtime/process_threads.h"

namespace attune {
namespace {

void call_linear(const Kernel& linear) {
  std::vector<float> a(400, 1), b(20, 1), bias(5, 1), out(500);
  linear(Tensor(a, {100, 4}), Tensor(b, {4, 5}), Tensor(bias, {5}), Tensor(out, {100, 5})).value();
}

/// A manifest of one step whose code is another one.
struct Changed {
  Changed(const attune_kernel_v5& kernel, int (*run)(void**)) : code(kernel.steps[0].codes[0]), step(kernel.steps[0]), manifest(kernel) {
    code.run = run;
    step.codes = &code;
    manifest.steps = &step;
  }
  Changed(const Changed&) = delete;

  attune_code_v3 code;
  attune_step_v1 step;
  attune_kernel_v5 manifest;
};

// A device whose memory is that of the CPU, to see what the runtime asks of it.
int copies = 0, releases = 0;
bool copying_fails = false;
int copy_to_host(void*, halide_buffer_t* buffer) {
  ++copies;
  if (copying_fails) return halide_error_code_copy_to_host_failed;
  std::memcpy(buffer->host, reinterpret_cast<const void*>(buffer->device), buffer->size_in_bytes());
  return 0;
}
int device_free(void*, halide_buffer_t* buffer) {
  ++releases;
  buffer->device = 0;
  buffer->device_interface = nullptr;
  return 0;
}
halide_device_interface_t device_interface() {
  halide_device_interface_t device{};
  device.copy_to_host = copy_to_host;
  device.device_free = device_free;
  return device;
}

/// out = x + 1, with the result left on the device.
int increment_on_device(void** arguments) {
  static const halide_device_interface_t device = device_interface();
  static std::array<float, 4> result;
  auto *x = static_cast<halide_buffer_t*>(arguments[1]), *out = static_cast<halide_buffer_t*>(arguments[2]);
  if (!x->host_dirty() || out->host_dirty()) return -1;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = reinterpret_cast<const float*>(x->host)[i] + 1;
  for (halide_buffer_t* buffer : {x, out}) {
    buffer->device = reinterpret_cast<std::uint64_t>(result.data());
    buffer->device_interface = &device;
  }
  out->set_device_dirty();
  return 0;
}

}  // namespace

TEST_CASE("linked kernels and those of files share one thread pool", "[run]") {
  const Folder folder;
  const Kernel first = Library::open(kernel_file(folder, "kernels")).value().kernel("linear").value();
  std::filesystem::copy_file(folder / "kernels.so", folder / "copy.so");
  const Kernel second = Library::open(folder / "copy.so").value().kernel("linear").value();
  REQUIRE(&first.manifest() != &second.manifest());
  set_num_threads(6).value();
  call_linear(Kernel::from(attune_kernel_v5_linear).value());
  const auto threads = threads_of_this_process();
  CHECK(threads >= 6);
  call_linear(first);
  call_linear(second);
  CHECK(threads_of_this_process() == threads);
}

TEST_CASE("a kernel's error becomes a sentence, whatever it says itself", "[run]") {
  std::array<float, 2> x{1, -1};
  float out = 0;
  const Tensor tx(x, {2}), tout(&out, {});
  const Kernel refuses = Kernel::from(attune_kernel_v5_refuses).value();
  CHECK(refuses(tx, tout).error().message == "kernel 'refuses': its code for any stopped with Halide's error -1: row 1 is negative");
  const auto said_for = [&](int (*code)(void**)) {
    const Changed kernel(attune_kernel_v5_refuses, code);
    return Kernel::from(kernel.manifest).value()(tx, tout).error().message;
  };
  CHECK(said_for([](void**) -> int { return -27; }) == "kernel 'refuses': its code for any stopped with Halide's error -27: no reason was given");
  for (const auto code : {+[](void**) -> int { return halide_error_code_explicit_bounds_too_small; }, +[](void**) -> int { return halide_error_code_storage_bound_too_small; }})
    CHECK(said_for(code) == "kernel 'refuses': its code for any would store more than its schedule has room for at these extents; nothing is wrong with the call, the compiler made a wrong kernel");
  CHECK(said_for([](void**) -> int { return halide_error_code_out_of_memory; }) == "kernel 'refuses': there is no memory for what it stores between its stages");
}

TEST_CASE("results are fetched from a device, and its memory is released", "[run]") {
  std::array<float, 4> x{1, 2, 3, 4}, out{};
  const Tensor tx(x, {4}), tout(out, {4});
  const std::array<const Tensor*, 2> arguments{&tx, &tout};
  const std::int32_t dim = 0;
  const attune_dim_v1 dims{"n", attune_free, 0, nullptr, 1};
  const std::array<attune_tensor_v1, 2> tensors{{{"x", attune_f32, 0, 1, &dim}, {"out", attune_f32, 1, 1, &dim}}};
  const attune_code_v3 code{"cuda", "s", attune_cuda, 0, nullptr, "", "", increment_on_device, nullptr};
  const std::array<std::int32_t, 2> x_out{0, 1};
  const attune_step_v1 step{"increment", 1, 1, x_out.data(), 0, 1, nullptr, &code};
  const attune_kernel_v5 kernel{ATTUNE_ABI_VERSION, "increment", "increment", "", "0", 1, 2, 0, 1, &dims, tensors.data(), &step, 0, nullptr, 0, nullptr};
  const UsableTarget target{"cuda", attune_cuda, {{&code, 1}}};
  const std::array<std::int64_t, 1> extents{4};
  const CheckedCall call{kernel, target, {}, arguments, extents};
  copies = releases = 0;
  run(call, nullptr).value();
  CHECK(out == std::array<float, 4>{2, 3, 4, 5});
  CHECK((copies == 1 && releases == 2));
  copying_fails = true;
  CHECK(run(call, nullptr).error().message ==
        "kernel 'increment': its code for cuda stopped with Halide's error -14: no reason was given");
  CHECK((copies == 2 && releases == 4));
  copying_fails = false;
}

TEST_CASE("manifests at random are refused, or their calls end in a result or a sentence", "[run]") {
  const auto seed = std::random_device{}();
  std::cout << "run: seed " << seed << std::endl;
  std::mt19937 random(seed);
  const auto pick = [&](std::int32_t bound) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(bound + 2)) - 1; };
  int refused = 0, ran = 0, told = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    attune_kernel_v5 kernel = attune_kernel_v5_formulas;
    std::vector<attune_dim_v1> dims(kernel.dims, kernel.dims + kernel.dim_count);
    std::vector<attune_tensor_v1> tensors(kernel.tensors, kernel.tensors + kernel.tensor_count);
    std::vector<std::int32_t> operands{pick(8), pick(8)}, axes{pick(8), pick(8)};
    attune_dim_v1& dim = dims[random() % dims.size()];
    dim = {dim.name, pick(5), pick(3) % 3, operands.data(), pick(4)};
    if (trial % 3 == 0) tensors[random() % tensors.size()].dims = axes.data();
    kernel.dims = dims.data(), kernel.tensors = tensors.data();
    const Changed changed(kernel, [](void**) -> int { return 0; });
    const Result<Kernel> opened = Kernel::from(changed.manifest);
    if (!opened) {
      ++refused;
      continue;
    }
    std::array<std::array<std::int32_t, 64>, 6> memory{};
    const Result<void> result = (*opened)(Tensor(memory[0], {1, 2}), Tensor(memory[1], {3, 4}), Tensor(memory[2], {4}),
                                          Tensor(memory[3], {4}), Tensor(memory[4], {1}), Tensor(memory[5], {1}));
    if (!result) REQUIRE(result.error().message.rfind("kernel 'formulas': ", 0) == 0);
    (result ? ran : told)++;
  }
  INFO("seed " << seed);
  CHECK(refused > 1000);
  CHECK(ran > 100);
  CHECK(told > 1000);
}

}  // namespace attune
