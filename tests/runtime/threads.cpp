/// Calls from many threads at once; this file is also built with the thread sanitizer.
#include "runtime/threads.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "runtime/library.h"
#include "tests/runtime/kernel_files.h"
#include "tests/runtime/kernels/kernels.h"
#include "tests/runtime/product_case.h"

namespace attune {
namespace {

constexpr int callers = 8, calls = 40;

/// Calls `linear` again and again with numbers that only this caller has; counts wrong results.
int wrong_results(const Kernel& linear, int caller) {
  constexpr std::int64_t rows = 9, inner = 4, columns = 5;
  std::array<float, rows * inner> a{};
  std::array<float, inner * columns> b{};
  std::array<float, columns> bias{};
  a.fill(static_cast<float>(caller));
  b.fill(2);
  int wrong = 0;
  for (int call = 0; call < calls; ++call) {
    bias.fill(static_cast<float>(call));
    std::array<float, rows * columns> out{}, expected{};
    expected.fill(static_cast<float>(caller * 2 * inner + call));
    Workspace workspace;
    const std::array<Tensor, 4> tensors{Tensor(a, {rows, inner}), Tensor(b, {inner, columns}), Tensor(bias, {columns}),
                                        Tensor(out, {rows, columns})};
    const Result<void> result = linear.call(tensors, call % 2 == 0 ? &workspace : nullptr);
    if (!result || out != expected) ++wrong;
  }
  return wrong;
}

template <class Body>
void on_all_callers(const Body& body) {
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) threads.emplace_back(body, caller);
  for (std::thread& thread : threads) thread.join();
}

/// The sentence of a `refuses` call whose element `n` is negative.
std::string refusal(const Kernel& refuses, std::size_t n) {
  std::array<float, 8> x{};
  float out = 0;
  x[n] = -1;
  const Result<void> result = refuses(Tensor(x, {8}), Tensor(&out, {}));
  return result ? "" : result.error().message;
}

}  // namespace

TEST_CASE("eight callers at once get right results", "[threads]") {
  set_num_threads(4).value();
  const Folder folder;
  const Kernel from_file = Library::open(kernel_file(folder, "kernels")).value().kernel("linear").value();
  const Kernel linked = Kernel::from(attune_kernel_v5_linear).value();
  std::atomic<int> wrong = 0;
  on_all_callers([&](int caller) { wrong += wrong_results(caller % 2 == 0 ? from_file : linked, caller); });
  CHECK(wrong == 0);
}

TEST_CASE("eight callers at once of Halide's kernels in two files get right results for extents of their own", "[threads]") {
  set_num_threads(4).value();
  const Folder folder;
  const Kernel product = Library::open(kernel_file(folder, "product")).value().kernel("product").value();
  const Kernel linear = Library::open(kernel_file(folder, "kernels")).value().kernel("linear").value();
  const Kernel linked = Kernel::from(attune_kernel_v5_product).value();
  std::atomic<int> wrong = 0;
  on_all_callers([&](int caller) {
    for (int call = 0; call < calls; ++call) {
      ProductCase c(1 + caller + call % 5, 1 + 3 * caller, 37 - call % 7);
      Workspace workspace;
      const Result<void> result = c.run(caller % 2 == 0 ? product : linked, call % 3 == 0 ? &workspace : nullptr);
      if (!result || c.out != c.expected) ++wrong;
    }
    wrong += wrong_results(linear, caller);
  });
  CHECK(wrong == 0);
}

TEST_CASE("each caller gets the error of its own call", "[threads]") {
  set_num_threads(4).value();
  const Folder folder;
  const Kernel refuses = Library::open(kernel_file(folder, "kernels")).value().kernel("refuses").value();
  CHECK(refusal(refuses, 3) == "kernel 'refuses': its code for any stopped with Halide's error -1: row 3 is negative");
  std::atomic<int> wrong = 0;
  on_all_callers([&](int caller) {
    const std::string expected = "row " + std::to_string(caller) + " is negative";
    for (int call = 0; call < calls; ++call)
      if (refusal(refuses, static_cast<std::size_t>(caller)).find(expected) == std::string::npos) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("a file is opened and closed from many threads at once", "[threads]") {
  const Folder folder;
  const std::filesystem::path path = kernel_file(folder, "kernels");
  std::atomic<int> wrong = 0;
  on_all_callers([&](int caller) {
    for (int i = 0; i < 5; ++i) {
      const Result<Library> library = Library::open(path);
      if (!library || wrong_results(library->kernel("linear").value(), caller) != 0) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("the number of threads is set and kept", "[threads]") {
  set_num_threads(3).value();
  CHECK(num_threads() == 3);
  CHECK(set_num_threads(0).error().message == "set_num_threads: got 0; expected 1 to 256");
  CHECK(set_num_threads(257).error().message == "set_num_threads: got 257; expected 1 to 256");
  CHECK(num_threads() == 3);
}

}  // namespace attune
