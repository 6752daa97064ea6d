/// Outputs may lie beside inputs in one array, but not on them.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {

const Kernel sum = Kernel::from(attune_kernel_v5_add).value();

std::string refusal(const Tensor& a, const Tensor& b, const Tensor& out) {
  const Result<void> result = sum(a, b, out);
  return result ? "" : result.error().message;
}

}  // namespace

TEST_CASE("inputs may be the same memory", "[overlap]") {
  std::array<float, 4> a{1, 2, 3, 4}, out{};
  CHECK(refusal(Tensor(a, {2, 2}), Tensor(a, {2, 2}), Tensor(out, {2, 2})) == "");
  CHECK(out == std::array<float, 4>{2, 4, 6, 8});
}

TEST_CASE("an output on an input is refused", "[overlap]") {
  std::array<float, 9> memory{};
  std::array<float, 4> b{};
  const std::string sentence = "kernel 'add': output 'out' overlaps input 'a' in memory; expected memory of its own";
  CHECK(refusal(Tensor(&memory[0], {2, 2}), Tensor(b, {2, 2}), Tensor(&memory[0], {2, 2})) == sentence);
  CHECK(refusal(Tensor(&memory[0], {2, 2}), Tensor(b, {2, 2}), Tensor(&memory[3], {2, 2})) == sentence);
  CHECK(refusal(Tensor(&memory[3], {2, 2}, {-2, 1}), Tensor(b, {2, 2}), Tensor(&memory[1], {2, 2})) == sentence);
  CHECK(refusal(Tensor(&memory[0], {2, 2}), Tensor(b, {2, 2}), Tensor(&memory[4], {2, 2})) == "");
}

TEST_CASE("columns of one array may be input and output", "[overlap]") {
  std::array<float, 18> memory{1, 2, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6};
  const Tensor a(&memory[0], {3, 2}, {6, 1}), b(&memory[2], {3, 2}, {6, 1}), out(&memory[4], {3, 2}, {6, 1});
  CHECK(refusal(a, b, out) == "");
  CHECK((memory[4] == 1 && memory[5] == 2 && memory[16] == 5 && memory[17] == 6));
  CHECK(refusal(a, Tensor(&memory[3], {3, 2}, {6, 1}), out) ==
        "kernel 'add': output 'out' overlaps input 'b' in memory; expected memory of its own");
}

TEST_CASE("memory that a call updates is no other argument's, whichever stands first, and may be written to", "[overlap]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_accumulate).value();
  std::array<float, 9> memory{};
  std::array<float, 4> x{1, 2, 3, 4};
  const auto refusal = [&](const Tensor& total, const Tensor& of_x) {
    const Result<void> result = kernel(total, of_x);
    return result ? std::string() : result.error().message;
  };
  const Tensor total(&memory[0], {2, 2}), values(x, {2, 2});
  CHECK(refusal(total, values) == "");
  CHECK(refusal(total, values) == "");
  CHECK((memory[0] == 2 && memory[3] == 8 && memory[4] == 0));
  const std::string who = "kernel 'accumulate': input 'total' ", sentence = who + "overlaps input 'x' in memory; expected memory of its own";
  CHECK(refusal(total, total) == sentence);
  CHECK(refusal(total, Tensor(&memory[3], {2, 2})) == sentence);
  CHECK(refusal(Tensor(&memory[3], {2, 2}), total) == sentence);
  CHECK(refusal(Tensor(static_cast<const float*>(&memory[0]), {2, 2}), values) == who + "is read-only memory; expected memory to write to");
  CHECK(refusal(Tensor(&memory[0], {2, 2}, {0, 1}), values) == who + "has stride 0 along rows = 2; the call writes to it, so each element needs a place of its own");
  CHECK(refusal(Tensor(&memory[0], {0, 2}), Tensor(x, {0, 2})) == "");
  CHECK(kernel.inputs().size() == 2);
  CHECK(kernel.outputs().empty());
  CHECK(kernel.describe().find("  updated total: f32 [rows x columns]\n") != std::string::npos);
}

TEST_CASE("two outputs must not overlap", "[overlap]") {
  const Kernel formulas = Kernel::from(attune_kernel_v5_formulas).value();
  std::array<std::int32_t, 8> memory{}, more{};
  const Result<void> result = formulas(Tensor(more.data(), {1, 2}), Tensor(more.data(), {1, 4}), Tensor(&memory[0], {4}),
                                       Tensor(&memory[3], {2}), Tensor(&memory[5], {1}), Tensor(&memory[6], {1}));
  REQUIRE(!result);
  CHECK(result.error().message == "kernel 'formulas': output 'all' overlaps output 'joined' in memory; expected memory of its own");
}

TEST_CASE("no shared element is missed, and slices of one array that are apart are accepted", "[overlap]") {
  const auto seed = std::random_device{}();
  std::cout << "overlap: seed " << seed << std::endl;
  std::mt19937 random(seed);
  std::array<float, 400> memory{};
  std::vector<float> far(64);
  const auto below = [&](int bound) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(bound)); };
  const auto elements = [](const Tensor& t, std::set<const float*>& places) {
    for (std::int64_t r = 0; r < t.extents[0]; ++r)
      for (std::int64_t c = 0; c < t.extents[1]; ++c)
        if (!places.insert(static_cast<const float*>(t.data) + r * t.strides[0] + c).second) return false;
    return true;
  };
  int refused = 0, accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const std::int64_t rows = 1 + below(5), columns = 1 + below(5);
    const Tensor a(&memory[static_cast<std::size_t>(100 + below(60))], {rows, columns}, {below(41) - 20, 1});
    const Tensor out(&memory[static_cast<std::size_t>(100 + below(60))], {rows, columns}, {below(41) - 20, 1});
    std::set<const float*> written, read;
    bool shares = !elements(out, written);
    elements(a, read);
    for (const float* place : read) shares = shares || written.contains(place);
    const std::string sentence = refusal(a, Tensor(far.data(), {rows, columns}), out);
    INFO("seed " << seed << ", trial " << trial << ": " << sentence);
    if (shares) REQUIRE(!sentence.empty());
    if (!shares && a.strides[0] == out.strides[0] && std::abs(out.strides[0]) >= columns) REQUIRE(sentence.empty());
    (sentence.empty() ? accepted : refused)++;
  }
  CHECK(refused > 1000);
  CHECK(accepted > 1000);
}

}  // namespace attune
