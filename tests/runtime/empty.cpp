/// Extents of 0: nothing runs for empty outputs; empty inputs reach the kernel, which knows what an empty sum is.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <span>
#include <utility>
#include <vector>

#include "runtime/kernel.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {
const Kernel linear = Kernel::from(attune_kernel_v5_linear).value();
}

TEST_CASE("an empty contraction gives the bias", "[empty]") {
  std::array<float, 3> bias{1, 2, 3};
  std::array<float, 6> out{};
  const Tensor a(static_cast<const float*>(nullptr), {2, 0}), b(static_cast<const float*>(nullptr), {0, 3});
  linear(a, b, Tensor(bias, {3}), Tensor(out, {2, 3})).value();
  CHECK(out == std::array<float, 6>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("an input without elements has a row of zeros, however long, and with a workspace, too", "[empty]") {
  constexpr std::int64_t columns = 1 << 20;
  std::vector<float> bias(columns), out(columns);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i);
  const std::array<Tensor, 4> tensors{Tensor(static_cast<const float*>(nullptr), {1, 0}), Tensor(static_cast<const float*>(nullptr), {0, columns}),
                                      Tensor(std::as_const(bias), {columns}), Tensor(out, {1, columns})};
  Workspace workspace;
  for (Workspace* given : {static_cast<Workspace*>(nullptr), &workspace}) {
    std::ranges::fill(out, -1.f);
    linear.call(std::span<const Tensor>(tensors), given).value();
    CHECK(out == bias);
  }
}

TEST_CASE("an empty output may be null and nothing runs", "[empty]") {
  std::array<float, 12> b{};
  std::array<float, 4> bias{};
  const Tensor a(static_cast<const float*>(nullptr), {0, 3}), out(static_cast<float*>(nullptr), {0, 4});
  CHECK(linear(a, Tensor(b, {3, 4}), Tensor(bias, {4}), out));
}

TEST_CASE("arguments of an empty call are checked all the same", "[empty]") {
  std::array<float, 12> b{};
  const Tensor a(static_cast<const float*>(nullptr), {0, 3}), out(static_cast<float*>(nullptr), {0, 5});
  const Result<void> result = linear(a, Tensor(b, {3, 4}), Tensor(b, {4}), out);
  REQUIRE(!result);
  CHECK(result.error().message ==
        "kernel 'linear': output 'out' is f32 [0 x 5]: columns = 5; input 'b' is f32 [3 x 4] and has columns = 4");
}

TEST_CASE("an empty tensor has as many elements as its zero says, whatever its other extents", "[empty]") {
  const std::int64_t most = std::int64_t{1} << 30;
  CHECK(Tensor(static_cast<float*>(nullptr), {most, most, most, 0}).element_count() == 0);
  CHECK(Tensor(static_cast<float*>(nullptr), {most, most, most}).element_count() == -1);
  std::array<float, 4> bias{};
  const Tensor a(static_cast<const float*>(nullptr), {0, most}), b(static_cast<const float*>(nullptr), {most, 0});
  CHECK(linear(a, b, Tensor(bias.data(), {0}), Tensor(static_cast<float*>(nullptr), {0, 0})));
}

}  // namespace attune
