/// Calls on tensors that are on a device of OpenCL: in the runtime's context, and in one of the caller's with its queue.
#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <array>
#include <thread>

#include "tests/codegen/device_trial.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/quick_opencl.h"
#include "tests/codegen/small_tiles.h"
#include "tests/folder.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

/// Why no device of OpenCL can be used; empty if one can.
std::string no_opencl() {
  const Result<DriverDevice*> device = find_device(attune_opencl);
  return device ? std::string() : device.error().message;
}

template <class Function>
Function cl(const char* name) {
  INFO(name);
  auto* const function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  REQUIRE(function != nullptr);
  return function;
}

/// Another library's own context for the first device, with a queue and memory, as cl.h declares its functions.
class OtherProgram {
 public:
  OtherProgram() {
    REQUIRE(cl<int (*)(unsigned, void**, unsigned*)>("clGetPlatformIDs")(1, &platform_, nullptr) == 0);
    REQUIRE(cl<int (*)(void*, std::uint64_t, unsigned, void**, unsigned*)>("clGetDeviceIDs")(platform_, 0xffffffff, 1, &device_, nullptr) == 0);
    int status = 0;
    context_ = cl<void* (*)(const std::intptr_t*, unsigned, void* const*, void*, void*, int*)>("clCreateContext")(nullptr, 1, &device_, nullptr,
                                                                                                                  nullptr, &status);
    REQUIRE(status == 0);
    queue_ = cl<void* (*)(void*, void*, std::uint64_t, int*)>("clCreateCommandQueue")(context_, device_, 0, &status);
    REQUIRE(status == 0);
  }
  OtherProgram(const OtherProgram&) = delete;
  ~OtherProgram() {
    for (void* memory : memories_) cl<int (*)(void*)>("clReleaseMemObject")(memory);
    cl<int (*)(void*)>("clReleaseCommandQueue")(queue_);
    cl<int (*)(void*)>("clReleaseContext")(context_);
  }

  /// A cl_mem with the bytes behind `offset` others.
  void* memory_with(const std::vector<std::byte>& bytes, std::size_t offset = 0) {
    std::vector<std::byte> all(offset);
    all.insert(all.end(), bytes.begin(), bytes.end());
    int status = 0;
    constexpr std::uint64_t read_write_copied = 1U | 1U << 5U;
    memories_.push_back(cl<void* (*)(void*, std::uint64_t, std::size_t, void*, int*)>("clCreateBuffer")(context_, read_write_copied, all.size(),
                                                                                                        all.data(), &status));
    REQUIRE(status == 0);
    return memories_.back();
  }
  void read(void* memory, std::vector<std::byte>& bytes, std::size_t offset = 0) const {
    REQUIRE(cl<int (*)(void*, void*, unsigned, std::size_t, std::size_t, void*, unsigned, const void*, void*)>("clEnqueueReadBuffer")(
                queue_, memory, 1, offset, bytes.size(), bytes.data(), 0, nullptr, nullptr) == 0);
  }
  void* queue() const { return queue_; }

  /// From where on the device takes parts of memory.
  std::size_t offset_step() const {
    unsigned bits = 0;
    REQUIRE(cl<int (*)(void*, unsigned, std::size_t, void*, void*)>("clGetDeviceInfo")(device_, 0x1019, sizeof bits, &bits, nullptr) == 0);
    return bits / 8;
  }

 private:
  void *platform_ = nullptr, *device_ = nullptr, *context_ = nullptr, *queue_ = nullptr;
  std::vector<void*> memories_;
};

const KernelCase& causal_on_opencl() {
  static const auto& made = *new KernelCase("causal", {.target = "opencl"});
  return made;
}

Trial causal_trial() {
  const Graph& graph = causal_on_opencl().graph();
  const Shape extents = fill_shape(graph, parse_shape("queries=5,keys=37", "shape").extents).extents;
  return trial_of(causal_on_opencl().kernel(), extents, random_inputs(graph, extents, 1));
}

/// The trial's arrays in a program's memory, all behind the same offset.
std::vector<Tensor> tensors_of(Trial& trial, OtherProgram& program, std::size_t offset = 0) {
  std::vector<Tensor> tensors;
  for (const StoredArray& array : trial.arrays)
    tensors.push_back(Tensor(program.memory_with(array.bytes, offset), array.storage, array.extents)
                          .on_device(attune_opencl, 0, static_cast<std::int64_t>(offset)));
  return tensors;
}

}  // namespace

TEST_CASE("variants on tensors of an OpenCL device agree with the interpreter", "[devices]") {
  if (const std::string problem = no_opencl(); !problem.empty()) return skip(problem);
  const QuickOpencl quick;
  const Folder folder;
  const std::string products = folder.write("tuned.json", small_products);
  for (const char* variant : {"causal", "multi_head", "padded", "embedded"}) {
    INFO(variant);
    const KernelCase kernel(variant, {.target = "opencl", .schedule = single_rows, .tuned = {products}});
    for (const char* shape :
         {"batch=2,heads=2,queries=5,keys=7,tokens=5,depth=8,model=8", "batch=1,heads=1,queries=37,keys=1,tokens=37,depth=5,model=3"})
      CHECK(difference_on_device(kernel.graph(), kernel.kernel_for(kernel.filled(fitting(shape, kernel.graph())).extents),
                                 fitting(shape, kernel.graph())) == "");
  }
}

TEST_CASE("a call runs in the context and the queue of the program whose memory it takes", "[devices]") {
  if (const std::string problem = no_opencl(); !problem.empty()) return skip(problem);
  OtherProgram program;
  for (const std::size_t offset : {std::size_t{0}, program.offset_step()}) {
    INFO("offset " << offset);
    Trial trial = causal_trial();
    const std::vector<Tensor> tensors = tensors_of(trial, program, offset);
    for (int round = 0; round < 2; ++round) {
      causal_on_opencl().kernel().call(tensors, {.stream = program.queue()}).value();
      program.read(tensors.back().data, trial.arrays.back().bytes, offset);
      CHECK(trial.compare_with_interpreter(causal_on_opencl().graph()).agrees);
    }
  }
}

TEST_CASE("tensors of the host go through the program's queue, and the call waits", "[devices]") {
  if (const std::string problem = no_opencl(); !problem.empty()) return skip(problem);
  OtherProgram program;
  Trial trial = causal_trial();
  std::vector<Tensor> tensors = tensors_of(trial, program);
  tensors.back() = trial.arrays.back().tensor();
  causal_on_opencl().kernel().call(tensors, {.stream = program.queue()}).value();
  CHECK(trial.compare_with_interpreter(causal_on_opencl().graph()).agrees);
}

TEST_CASE("memory of OpenCL that a call cannot take is refused in words", "[devices]") {
  if (const std::string problem = no_opencl(); !problem.empty()) return skip(problem);
  OtherProgram program;
  Trial trial = causal_trial();
  const std::vector<Tensor> tensors = tensors_of(trial, program);
  const Kernel& kernel = causal_on_opencl().kernel();
  const auto refusal = [&](const std::vector<Tensor>& given, void* queue) { return kernel.call(given, {.stream = queue}).error().message; };
  CHECK(refusal(tensors, nullptr) ==
        "kernel 'causal': input 'q' is memory of another context than that of the call; the call's stream must be a command queue of the memory's "
        "context");
  std::vector<Tensor> changed = tensors;
  changed[1].byte_offset = 4;
  const auto bytes = trial.arrays[1].bytes.size();
  CHECK(refusal(changed, program.queue()) ==
        "kernel 'causal': input 'k' reaches bytes 4 to " + std::to_string(bytes + 3) + " of its cl_mem, which has " + std::to_string(bytes));
  if (program.offset_step() > 4) {
    changed = tensors_of(trial, program, 4);
    CHECK(refusal(changed, program.queue()) ==
          "kernel 'causal': input 'q' begins 4 bytes into its cl_mem; opencl:0 takes multiples of " + std::to_string(program.offset_step()));
  }
  changed = tensors;
  changed.back() = Tensor(tensors[0].data, attune_f32, trial.arrays.back().extents).on_device(attune_opencl);
  CHECK(refusal(changed, program.queue()) == "kernel 'causal': output 'out' overlaps input 'q' in memory; expected memory of its own");
  changed = tensors;
  changed[2].device = attune_cuda;
  CHECK(refusal(changed, program.queue()) ==
        "kernel 'causal': input 'v' is on cuda:0; this call runs on opencl:0, which takes memory of opencl:0 and of the cpu");
}

TEST_CASE("memory that an OpenCL device does not have is refused in its driver's words", "[devices]") {
  if (const std::string problem = no_opencl(); !problem.empty()) return skip(problem);
  const Result<DeviceTensor> huge = allocate_on(*find_device(attune_opencl).value(), attune_f32, {1 << 20, 1 << 20});
  REQUIRE(!huge);
  CHECK_THAT(huge.error().message,
             Catch::StartsWith("tensor f32 [1048576 x 1048576]: there is no memory for its 4398046511104 bytes: opencl:0: clCreateBuffer: "));
}

TEST_CASE("two kernels' first calls on an OpenCL device may be at once", "[devices]") {
  if (const std::string problem = no_opencl(); !problem.empty()) return skip(problem);
  std::array<std::string, 4> differences;
  std::vector<std::thread> threads;
  const Kernel kernel = causal_on_opencl().kernel();
  for (std::string& difference : differences)
    threads.emplace_back([&] { difference = difference_on_device(causal_on_opencl().graph(), kernel, "queries=5,keys=7"); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& difference : differences) CHECK(difference == "");
}

}  // namespace attune
