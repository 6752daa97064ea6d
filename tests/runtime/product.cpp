/// Kernels from Halide itself: linked as a lone object, in a shared file with a Halide runtime of its own, and for OpenCL.
#include <sys/mman.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/library.h"
#include "runtime/threads.h"
#include "tests/runtime/kernel_files.h"
#include "tests/runtime/kernels/kernels.h"
#include "tests/runtime/product_case.h"
#include "tests/skip.h"

namespace attune {
namespace {

using Shapes = std::vector<std::array<std::int64_t, 3>>;
const Shapes full = {{1, 1, 1}, {5, 37, 3}, {64, 16, 65}}, empty = {{4, 0, 5}, {0, 4, 5}, {4, 5, 0}, {1, 0, 1}};

void check_shapes(const Kernel& kernel, const Shapes& shapes) {
  for (const auto& [rows, inner, columns] : shapes) {
    INFO(rows << " x " << inner << " x " << columns);
    ProductCase c(rows, inner, columns);
    c.run(kernel).value();
    CHECK(c.out == c.expected);
  }
}

}  // namespace

TEST_CASE("a lone object runs on the program's Halide runtime", "[product]") {
  check_shapes(Kernel::from(attune_kernel_v5_product).value(), full);
  check_shapes(Kernel::from(attune_kernel_v5_product).value(), empty);
}

TEST_CASE("a shared file runs with the program's threads and memory", "[product]") {
  const Folder folder;
  const Kernel kernel = Library::open(kernel_file(folder, "product")).value().kernel("product").value();
  for (int threads : {1, 4}) {
    set_num_threads(threads).value();
    check_shapes(kernel, full);
    check_shapes(kernel, empty);
  }
  Workspace measuring;
  ProductCase c(5, 37, 3);
  c.run(kernel, &measuring).value();
  CHECK(measuring.peak_bytes() >= 5 * 37 * sizeof(float) + 3 * sizeof(float));  // `doubled` and one row's sums
}

TEST_CASE("strides of rows may be anything, also negative or zero", "[product]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_product).value();
  std::array<float, 6> a{1, 2, 3, 4, 5, 6};
  std::array<bfloat16, 4> b{bfloat16(1), bfloat16(2), bfloat16(10), bfloat16(20)};
  const std::array<bool, 3> keep{true, true, true};
  std::array<float, 12> out{};
  const Tensor tb(b, {2, 2}), tkeep(keep, {3});
  kernel(Tensor(a.data() + 4, {3, 2}, {-2, 1}), tb, tkeep, Tensor(out, {3, 2}, {4, 1})).value();
  CHECK(out == std::array<float, 12>{130, 260, 0, 0, 86, 172, 0, 0, 42, 84, 0, 0});
  kernel(Tensor(a, {3, 2}, {0, 1}), tb, tkeep, Tensor(out.data() + 8, {3, 2}, {-4, 1})).value();
  CHECK(out == std::array<float, 12>{42, 84, 0, 0, 42, 84, 0, 0, 42, 84, 0, 0});
}

TEST_CASE("elements as far apart as the checks allow are reached", "[product]") {
  const std::int64_t far = (std::int64_t{1} << 30) - 1;  // two rows: 2 * far is the largest that Halide takes
  const std::size_t bytes = static_cast<std::size_t>(far + 1) * sizeof(float);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return skip("there is no address space for 4 GB");
  auto* a = static_cast<float*>(memory);
  a[0] = 3, a[far] = 5;
  const std::array<bfloat16, 1> b{bfloat16(1)};
  const std::array<bool, 2> keep{true, true};
  std::array<float, 2> out{};
  const Kernel kernel = Kernel::from(attune_kernel_v5_product).value();
  kernel(Tensor(a, {2, 1}, {far, 1}), Tensor(b, {1, 1}), Tensor(keep, {2}), Tensor(out, {2, 1})).value();
  CHECK(out == std::array<float, 2>{6, 10});
  const Result<void> result = kernel(Tensor(a, {2, 1}, {far + 1, 1}), Tensor(b, {1, 1}), Tensor(keep, {2}), Tensor(out, {2, 1}));
  CHECK(!result);
  munmap(memory, bytes);
}

TEST_CASE("an OpenCL kernel takes and gives memory of the CPU", "[product]") {
  const Folder folder;
  const Result<Kernel> kernel = Library::open(kernel_file(folder, "product_opencl")).value().kernel("product");
  if (!kernel) return skip(kernel.error().message);
  ProductCase first(1, 1, 1);
  const Result<void> run = first.run(*kernel);
  if (!run && run.error().message.find("clGetPlatformIDs") != std::string::npos) return skip(run.error().message);
  run.value();
  check_shapes(*kernel, full);
  ProductCase(0, 4, 5).run(*kernel).value();
}

}  // namespace attune
