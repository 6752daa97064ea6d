/// Calls on tensors that are on a device of CUDA, which is the interpreter of PTX: what is copied, when it is done, and what is refused.
#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <vector>

#include "mixed_causal.h"
#include "runtime/attune.h"
#include "tests/codegen/device_trial.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

const KernelCase& causal_on_cuda() {
  load_driver(2);
  static const auto& made = *new KernelCase("causal", {.target = "cuda"});
  return made;
}

/// A trial of the causal kernel, with its tensors on a device.
struct CausalTrial {
  Kernel kernel;
  Trial trial;
  DeviceTrial there;
  std::vector<Tensor> tensors;

  explicit CausalTrial(const std::string& device = "cuda:0", const std::string& shape = "queries=5,keys=37")
      : kernel(causal_on_cuda().kernel().on(device).value()), trial(made(kernel, shape)), there(kernel, trial), tensors(there.tensors()) {}

  static Trial made(const Kernel& kernel, const std::string& shape) {
    const Graph& graph = causal_on_cuda().graph();
    const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
    return trial_of(kernel, extents, random_inputs(graph, extents, 1));
  }

  Result<void> call(const CallOptions& options = {}) const { return kernel.call(tensors, options); }
  std::string refusal() const {
    const Result<void> called = call();
    return called ? "" : called.error().message;
  }
  bool agrees() {
    there.fetch(trial);
    return trial.compare_with_interpreter(causal_on_cuda().graph()).agrees;
  }
};

}  // namespace

TEST_CASE("a call on tensors of the device copies nothing", "[cuda]") {
  for (const char* device : {"cuda:0", "cuda:1"}) {
    INFO(device);
    CausalTrial causal(device);
    ptx::DriverState& state = fresh_driver_state();
    causal.call().value();
    CHECK((state.bytes_to_device == 0 && state.bytes_to_host == 0 && state.bytes_inside == 0));
    CHECK(state.launches.size() == 1);
    CHECK(causal.agrees());
  }
}

TEST_CASE("what steps store for one another stays on the device, and only arguments of the host are copied", "[cuda]") {
  load_driver(2);
  const KernelCase kernel("multi_head", {.settings = {"weights=true"}, .target = "cuda"});
  REQUIRE(kernel.kernel().manifest().step_count > 4);
  const Graph& graph = kernel.graph();
  const std::string shape = fitting("batch=2,tokens=7,keys=9,memory_tokens=9,model=24,heads=2,depth=5", graph);
  const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
  Trial trial = trial_of(kernel.kernel(), extents, random_inputs(graph, extents, 1));
  std::uint64_t in = 0, out = 0;
  for (std::size_t i = 0; i < trial.arrays.size(); ++i) (i < trial.input_count ? in : out) += trial.arrays[i].bytes.size();
  trial.call(kernel.kernel()).value();
  ptx::DriverState& state = fresh_driver_state();
  const std::size_t before = state.allocated_bytes;
  trial.call(kernel.kernel()).value();
  CHECK(state.bytes_to_device == in);
  CHECK(state.bytes_to_host == out);
  CHECK(state.bytes_inside == 0);
  CHECK(state.calls["cuMemAlloc"] == 0);  // the memory of the call before is used again
  CHECK(state.allocated_bytes == before);
  CHECK(difference_on_device(graph, kernel.kernel().on("cuda").value(), shape) == "");
  Workspace measured;
  trial.call(kernel.kernel(), &measured).value();
  CHECK(measured.peak_bytes() < 8192);  // of the host nothing but what describes what is stored
}

TEST_CASE("tensors on a device begin at any element", "[cuda]") {
  CausalTrial causal("cuda:0", "queries=5,keys=37,depth=64");
  for (std::size_t t = 0; t < causal.trial.input_count; ++t) {
    const Tensor whole = causal.tensors[t];
    const auto count = whole.element_count();
    std::vector<float> moved(static_cast<std::size_t>(count) + 1);
    std::memcpy(moved.data() + 1, causal.trial.arrays[t].bytes.data(), causal.trial.arrays[t].bytes.size());
    DeviceTensor memory = allocate_on(*causal.kernel.device(), attune_f32, {count + 1}).value();
    memory.copy_from(Tensor(moved, {count + 1})).value();
    causal.tensors[t].data = static_cast<std::byte*>(memory.view().data) + sizeof(float);
    ptx::DriverState& state = fresh_driver_state();
    causal.call().value();
    CHECK(state.launches.size() == 1);
    CHECK(causal.agrees());
    causal.tensors[t] = whole;
  }
}

TEST_CASE("tensors of the host and of the device go together", "[cuda]") {
  CausalTrial causal;
  for (std::size_t t = 0; t < causal.tensors.size(); ++t) {
    std::vector<Tensor> mixed = causal.tensors;
    mixed[t] = causal.trial.arrays[t].tensor();
    const ptx::DriverState& state = fresh_driver_state();
    causal.kernel.call(mixed).value();
    CHECK(state.bytes_to_device + state.bytes_to_host == causal.trial.arrays[t].bytes.size());
    if (t >= causal.trial.input_count) CHECK(causal.trial.compare_with_interpreter(causal_on_cuda().graph()).agrees);
  }
}

TEST_CASE("views of tensors on a device have strides and places as those on the host", "[cuda]") {
  const Kernel kernel = causal_on_cuda().kernel().on("cuda:1").value();
  // q, k, v and out of 3 tokens and depth 2, side by side in rows of 8; two heads read the same
  const DeviceTensor memory = [&] {
    DeviceTensor made = allocate_on(*kernel.device(), attune_f32, {3, 8}).value();
    const std::array<float, 24> rows{1, 2, 1, 0, 10, 20, -1, -1, 3, 4, 0, 1, 30, 40, -1, -1, 5, 6, 1, 1, 50, 60, -1, -1};
    made.copy_from(Tensor(rows, {3, 8})).value();
    return made;
  }();
  auto* first = static_cast<float*>(memory.view().data);
  const auto view = [&](std::ptrdiff_t column) { return Tensor(first + column, {1, 1, 3, 2}, {0, 0, 8, 1}).on_device(attune_cuda, 1); };
  const auto behind = [&](std::int64_t column) { return Tensor(first, {1, 1, 3, 2}, {0, 0, 8, 1}).on_device(attune_cuda, 1, column * 4); };
  kernel(view(0), view(2), behind(4), view(6)).value();
  std::array<float, 24> got{};
  memory.copy_to(Tensor(got, {3, 8})).value();
  CHECK((got[0] == 1 && got[4] == 10 && got[23] != -1));
  CHECK((got[6] == 10 && got[7] == 20));  // the first token sees itself alone
  CHECK(kernel(view(0), view(2), view(4), view(5)).error().message ==
        "kernel 'causal': output 'out' overlaps input 'v' in memory; expected memory of its own");
  CHECK(kernel(behind(0), behind(2), behind(4), behind(5)).error().message ==
        "kernel 'causal': output 'out' overlaps input 'v' in memory; expected memory of its own");
  const Tensor turned = Tensor(first + 16, {1, 1, 3, 2}, {0, 0, -8, 1}).on_device(attune_cuda, 1);
  CHECK(kernel(turned, view(2), view(4), view(6)).error().message ==
        "kernel 'causal': input 'q' has stride -8 along queries; this call runs on cuda:1, which takes strides from 0 up (contiguous() makes such a "
        "copy)");
}

TEST_CASE("a tensor that is where the call does not run is refused", "[cuda]") {
  CausalTrial causal;
  causal.tensors[1].device_number = 1;
  CHECK(causal.refusal() == "kernel 'causal': input 'k' is on cuda:1; this call runs on cuda:0, which takes memory of cuda:0 and of the cpu");
  causal.tensors[1].device = attune_opencl;
  CHECK(causal.refusal() == "kernel 'causal': input 'k' is on opencl:1; this call runs on cuda:0, which takes memory of cuda:0 and of the cpu");
  const CausalTrial other("cuda:1");
  causal.tensors[1] = other.tensors[1].on_device(attune_cuda, 0);
  CHECK(causal.refusal() == "kernel 'causal': input 'k' lies on cuda:1, not on cuda:0 as its tensor says");
}

TEST_CASE("memory that a device does not have is refused before anything runs", "[cuda]") {
  CausalTrial causal;
  const ptx::DriverState& state = fresh_driver_state();
  causal.tensors[2].data = reinterpret_cast<void*>(4096);
  CHECK(causal.refusal() ==
        "kernel 'causal': input 'v' is at address 4096, where the driver knows no memory: cuPointerGetAttribute: CUDA_ERROR_INVALID_VALUE (invalid "
        "argument)");
  causal.tensors[2] = causal.there.tensors()[2];
  const auto bytes = static_cast<std::int64_t>(causal.trial.arrays[2].bytes.size());
  causal.tensors[2].byte_offset = 8;
  CHECK(causal.refusal() ==
        "kernel 'causal': input 'v' reaches bytes 8 to " + std::to_string(bytes + 7) + "; its memory on cuda:0 has " + std::to_string(bytes));
  causal.tensors[2].byte_offset = 2;
  CHECK(causal.refusal() == "kernel 'causal': input 'v' lies 2 bytes beyond a multiple of 4; an address of f32 is a multiple of 4");
  CHECK(state.launches.empty());
}

TEST_CASE("empty tensors on a device have no memory", "[cuda]") {
  CausalTrial causal("cuda:0", "queries=5,keys=0");
  CHECK(causal.tensors[1].data == nullptr);
  causal.call().value();
  CHECK(causal.agrees());
  // nor does a call leave any behind, of the row that stands for them
  const auto before = driver_state().allocated_bytes;
  for (int call = 0; call < 3; ++call) causal.call().value();
  CHECK(driver_state().allocated_bytes == before);
}

TEST_CASE("tensors on a device are allocated and copied, or refused in words", "[cuda]") {
  DriverDevice& device = *causal_on_cuda().kernel().on("cuda:1").value().device();
  const std::size_t before = driver_state().allocated_bytes;
  {
    DeviceTensor there = allocate_on(device, attune_i32, {2, 3}).value();
    CHECK(place_of(there) == "cuda:1");
    const std::array<std::int32_t, 6> numbers{1, 2, 3, 4, 5, 6};
    std::array<std::int32_t, 6> back{};
    there.copy_from(Tensor(numbers, {2, 3})).value();
    DeviceTensor moved = std::move(there);
    moved.copy_to(Tensor(back, {2, 3})).value();
    CHECK(back == numbers);
    const std::string who = "copy between i32 [2 x 3] on cuda:1 and ";
    CHECK(moved.copy_to(Tensor(numbers, {2, 3})).error().message ==
          who + "i32 [2 x 3]: the memory of the cpu is read-only; expected memory to write to");
    CHECK(moved.copy_to(Tensor(back, {3, 2})).error().message == who + "i32 [3 x 2]: they differ; expected the same storage and extents");
    CHECK(moved.copy_to(Tensor(back, {2, 3}, {1, 2})).error().message ==
          who + "i32 [2 x 3]: the elements on the cpu do not lie one behind the other; contiguous() makes such a copy");
    CHECK(moved.copy_from(Tensor(std::span(numbers).first(5), {2, 3})).error().message == who + "i32 [2 x 3]: the memory of the cpu has 5 elements");
    CHECK(moved.copy_from(moved.view()).error().message == who + "i32 [2 x 3]: the other tensor is on cuda:1; expected memory of the cpu");
    CHECK(driver_state().allocated_bytes == before + 24);
  }
  CHECK(driver_state().allocated_bytes == before);
  CHECK(
      allocate_on(device, attune_f32, {1 << 20, 1 << 20}).error().message ==
      "tensor f32 [1048576 x 1048576]: there is no memory for its 4398046511104 bytes: cuda:1: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  CHECK(allocate_on(device, attune_f32, {2, -1}).error().message == "tensor f32 [2 x -1]: has a negative extent");
}

TEST_CASE("a call in C takes tensors on a device, and memory there", "[cuda]") {
  load_driver(2);
  attune_library* library = attune_link(&attune_kernel_v5_mixed_causal);
  REQUIRE(library != nullptr);
  const attune_kernel* kernel = attune_find_kernel_on(library, "mixed_causal", "cuda:1");
  REQUIRE(kernel != nullptr);
  attune_place place{};
  REQUIRE(attune_device_of(kernel, &place) == 0);
  CHECK((place.device == attune_cuda && place.number == 1 && place.byte_offset == 0));
  CHECK(attune_device_name(kernel) == std::string("interpreter B of PTX"));
  // q, k and v of one head, 2 tokens and depth 1, then the result; k = 0: the second token sees the mean of both
  const std::array<float, 6> inputs{1, 1, 0, 0, 10, 20};
  void* memory = attune_device_allocate(kernel, 32);
  REQUIRE(attune_device_write(kernel, memory, inputs.data(), sizeof inputs, nullptr) == 0);
  const std::array<std::int64_t, 4> extents{1, 1, 2, 1};
  std::array<attune_tensor, 4> tensors;
  std::array<attune_place, 4> places;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    tensors[t] = {nullptr, memory, attune_f32, 4, extents.data(), nullptr};
    places[t] = {attune_cuda, 1, 8 * t};
  }
  attune_call_options options{};
  options.places = places.data();
  CHECK(attune_call_with(kernel, tensors.data(), 4, &options) == 0);
  std::array<float, 8> got{};
  CHECK(attune_device_read(kernel, memory, got.data(), sizeof got, nullptr) == 0);
  CHECK((got[6] == 10 && got[7] == 15));
  places[3].number = 0;
  CHECK(attune_call_with(kernel, tensors.data(), 4, &options) == -1);
  CHECK(attune_last_error() ==
        std::string("kernel 'mixed_causal': output 'out' is on cuda:0; this call runs on cuda:1, which takes memory of cuda:1 and of the cpu"));
  attune_device_free(kernel, memory);
  const attune_kernel* cpu = attune_find_kernel_on(library, "mixed_causal", "cpu");
  CHECK(attune_device_of(cpu, &place) == -1);
  CHECK(attune_last_error() == std::string("attune_device: kernel 'mixed_causal' runs on the cpu; attune_find_kernel_on names a device"));
  CHECK(attune_device_name(cpu) == nullptr);
  CHECK(attune_call_with(cpu, tensors.data(), 4, &options) == -1);
  CHECK(attune_last_error() ==
        std::string("kernel 'mixed_causal': input 'q' is on cuda:1; this call runs on the cpu, which takes memory of the cpu"));
  attune_close(library);
}

}  // namespace attune
