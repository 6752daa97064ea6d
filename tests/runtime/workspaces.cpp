/// With a caller's workspace a call allocates nothing; one that is too small is refused.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/threads.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {

/// linear() of ones: [rows x 3] * [3 x columns] + 1 = 4.
struct LinearCase {
  std::int64_t rows, columns;
  std::vector<float> a, b, bias, out;
  const Kernel linear = Kernel::from(attune_kernel_v5_linear).value();

  LinearCase(std::int64_t rows, std::int64_t columns)
      : rows(rows),
        columns(columns),
        a(static_cast<std::size_t>(rows * 3), 1),
        b(static_cast<std::size_t>(3 * columns), 1),
        bias(static_cast<std::size_t>(columns), 1),
        out(static_cast<std::size_t>(rows * columns)) {}

  Result<void> run(Workspace* workspace) {
    const std::array<Tensor, 4> tensors{Tensor(a, {rows, 3}), Tensor(b, {3, columns}), Tensor(bias, {columns}),
                                        Tensor(out, {rows, columns})};
    return linear.call(tensors, workspace);
  }
  bool is_right() const { return out == std::vector<float>(out.size(), 4); }
};

}  // namespace

TEST_CASE("what measuring finds is enough, and a byte less than its blocks is not", "[workspace]") {
  set_num_threads(1).value();
  LinearCase c(20, 100);
  Workspace measuring;
  c.run(&measuring).value();
  CHECK(c.is_right());
  // One row's sums, rounded up to 128 bytes with 8 to spare, a header of 128, and 128 for the alignment of the caller's memory.
  CHECK(measuring.peak_bytes() == 512 + 128 + 128);
  for (std::size_t offset : {0, 1, 64, 127}) {
    std::vector<std::byte> memory(measuring.peak_bytes() + offset);
    Workspace workspace{std::span(memory).subspan(offset)};
    std::fill(c.out.begin(), c.out.end(), 0.0f);
    c.run(&workspace).value();
    CHECK(c.is_right());
    c.run(&workspace).value();
  }
  std::vector<std::byte> memory(512 + 128 - 1);
  Workspace small(memory);
  const Result<void> result = c.run(&small);
  REQUIRE(!result);
  CHECK(result.error().message ==
        "kernel 'linear': its workspace is too small: it has 639 bytes; this call takes at least 768, and a call with an empty Workspace "
        "measures what "
        "is enough");
}

TEST_CASE("n threads need at most n times what one thread needs", "[workspace]") {
  set_num_threads(1).value();
  LinearCase c(300, 50);
  Workspace measuring;
  c.run(&measuring).value();
  constexpr int threads = 6;
  set_num_threads(threads).value();
  std::vector<std::byte> memory(threads * measuring.peak_bytes());
  Workspace workspace(memory);
  for (int i = 0; i < 50; ++i) {
    std::fill(c.out.begin(), c.out.end(), 0.0f);
    c.run(&workspace).value();
    REQUIRE(c.is_right());
  }
}

TEST_CASE("a workspace gives aligned blocks and takes them again at their size", "[workspace]") {
  std::vector<std::byte> memory(4096);
  Workspace workspace(memory);
  REQUIRE(workspace.begin());
  CHECK(!workspace.begin());
  void* first = workspace.take(100);
  void* second = workspace.take(100);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 128 == 0);
  CHECK(second != first);
  workspace.give_back(first);
  CHECK(workspace.take(300) != first);
  CHECK(workspace.take(100) == first);
  CHECK(workspace.take(5000) == nullptr);
  CHECK(workspace.take(SIZE_MAX) == nullptr);
  workspace.end();
  REQUIRE(workspace.begin());
  CHECK(workspace.take(300) == first);
  workspace.end();
}

TEST_CASE("a workspace that a tensor of the call lies in is refused before anything runs", "[workspace]") {
  LinearCase c(20, 100);
  std::vector<float> memory(4096, 1);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(memory));
  Workspace all(bytes), behind(bytes.subspan(8000 + 400));
  const auto message = [&](Workspace& workspace, const Tensor& bias, const Tensor& out) {
    const std::array<Tensor, 4> tensors{Tensor(c.a, {20, 3}), Tensor(c.b, {3, 100}), bias, out};
    const Result<void> ran = c.linear.call(tensors, &workspace);
    return ran ? std::string() : ran.error().message;
  };
  const Tensor out(memory.data(), {20, 100}), bias(&memory[2000], {100});
  CHECK(message(all, Tensor(c.bias, {100}), out) == "kernel 'linear': output 'out' overlaps the workspace in memory; expected a workspace of its own");
  CHECK(message(all, bias, Tensor(c.out, {20, 100})) == "kernel 'linear': input 'bias' overlaps the workspace in memory; expected a workspace of its own");
  CHECK(memory == std::vector<float>(4096, 1));
  CHECK(message(behind, bias, out) == "");
  CHECK(memory[1999] == 4);
}

TEST_CASE("a workspace in use by a call is refused to another", "[workspace]") {
  LinearCase c(2, 2);
  Workspace workspace;
  REQUIRE(workspace.begin());
  CHECK(c.run(&workspace).error().message ==
        "kernel 'linear': its workspace is in use by another call; a workspace serves one call at a time");
  workspace.end();
  c.run(&workspace).value();
}

}  // namespace attune
