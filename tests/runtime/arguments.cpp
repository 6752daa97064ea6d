/// Every rule for arguments has a call that breaks it alone and the sentence that it gets.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/words.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {

const Kernel add = Kernel::from(attune_kernel_v5_add).value();
const Kernel formulas = Kernel::from(attune_kernel_v5_formulas).value();

/// The sentence that refuses a call; empty if it ran.
std::string refusal(const Result<void>& result) { return result ? "" : result.error().message; }

/// Arguments of `add` that are right; a test breaks one of them.
struct AddCase {
  std::array<float, 12> a{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, b{100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, out{};
  Tensor ta{a, {3, 4}}, tb{b, {3, 4}}, tout{out, {3, 4}};

  std::string refusal() const { return attune::refusal(add(ta, tb, tout)); }
};

/// Why the manifest of `add` is refused whose only step is changed.
template <class Change>
std::string with_step(const Change& change) {
  attune_step_v1 step = attune_kernel_v5_add.steps[0];
  change(step);
  attune_kernel_v5 wrong = attune_kernel_v5_add;
  wrong.steps = &step;
  return Kernel::from(wrong).error().message;
}

}  // namespace

TEST_CASE("a call by order and one by name give the sum", "[arguments]") {
  AddCase c;
  CHECK(c.refusal() == "");
  CHECK(c.out == std::array<float, 12>{101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112});
  c.out.fill(0);
  CHECK(refusal(add({{"out", c.tout}, {"b", c.tb}, {"a", c.ta}})) == "");
  CHECK(c.out[11] == 112);
}

TEST_CASE("names and number of arguments are checked", "[arguments]") {
  const AddCase c;
  CHECK(refusal(add(c.ta, c.tb)) == "kernel 'add': got 2 tensors; expected 3: a, b, out");
  CHECK(refusal(add({{"a", c.ta}, {"out", c.tout}})) ==
        "kernel 'add': input 'b' is missing: f32 [rows x columns]; the kernel takes a, b, out");
  CHECK(refusal(add({{"a", c.ta}, {"c", c.tb}, {"out", c.tout}})) == "kernel 'add': has no tensor 'c'; it takes a, b, out");
  CHECK(refusal(add({{"a", c.ta}, {"a", c.tb}, {"out", c.tout}})) == "kernel 'add': input 'a' is given twice");
}

TEST_CASE("storage and rank are checked", "[arguments]") {
  AddCase c;
  std::array<std::int32_t, 12> integers{};
  c.tb = Tensor(integers, {3, 4});
  CHECK(c.refusal() == "kernel 'add': input 'b' is i32 [3 x 4], expected f32 [rows x columns]");
  for (const int number : {9, 15}) {  // the enum holds four bits
    c.tb = Tensor(c.b, {3, 4});
    c.tb.storage = static_cast<attune_storage>(number);
    CHECK(c.refusal() == "kernel 'add': input 'b' has the unknown storage " + std::to_string(number) + "; expected f32 [rows x columns]");
  }
  c.tb = Tensor(c.b, {12});
  CHECK(c.refusal() == "kernel 'add': input 'b' is f32 [12], expected f32 [rows x columns]");
  c.tb = Tensor(c.b, {3, 4}, {4});
  CHECK(c.refusal() == "kernel 'add': input 'b' has 2 extents and 1 strides; expected as many strides as extents");
  c.tb = Tensor(c.b, {1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(c.refusal() == "kernel 'add': input 'b' is f32 [1 x 1 x 1 x 1 x 1 x 1 x 1 x 1 x ...], expected f32 [rows x columns]");
}

TEST_CASE("extents out of range are refused", "[arguments]") {
  AddCase c;
  c.ta.extents[1] = -1;
  CHECK(c.refusal() == "kernel 'add': input 'a' is f32 [3 x -1]: columns = -1; expected 0 to 1073741824");
  c.ta.extents[1] = (std::int64_t{1} << 30) + 1;
  CHECK(c.refusal() == "kernel 'add': input 'a' is f32 [3 x 1073741825]: columns = 1073741825; expected 0 to 1073741824");
  c.ta.extents[1] = INT64_MAX;
  CHECK(c.refusal() == "kernel 'add': input 'a' is f32 [3 x 9223372036854775807]: columns = 9223372036854775807; expected 0 to 1073741824");
}

TEST_CASE("two extents of one dim must be the same", "[arguments]") {
  AddCase c;
  c.tb = Tensor(c.b, {3, 3});
  CHECK(c.refusal() == "kernel 'add': input 'b' is f32 [3 x 3]: columns = 3; input 'a' is f32 [3 x 4] and has columns = 4");
  c.tb = Tensor(c.b, {3, 4});
  c.tout = Tensor(c.out, {2, 4});
  CHECK(c.refusal() == "kernel 'add': output 'out' is f32 [2 x 4]: rows = 2; input 'a' is f32 [3 x 4] and has rows = 3");
}

TEST_CASE("derived and fixed dims follow their formulas", "[arguments]") {
  std::array<std::int32_t, 64> x{}, y{}, joined{}, all{}, half{}, alias{};
  const auto call = [&](std::int64_t depth, std::int64_t four, std::int64_t n_joined, std::int64_t n_all, std::int64_t n_half,
                        std::int64_t n_alias) {
    return refusal(formulas(Tensor(x, {3, depth}), Tensor(y, {5, four}), Tensor(joined, {n_joined}), Tensor(all, {n_all}),
                            Tensor(half, {n_half}), Tensor(alias, {n_alias})));
  };
  CHECK(call(6, 4, 36, 8, 3, 3) == "");
  CHECK((joined[35] == 36 && all[7] == 8 && half[2] == 3 && alias[2] == 3));
  CHECK(call(6, 3, 36, 8, 3, 3) == "kernel 'formulas': input 'y' is i32 [5 x 3]: four = 3; expected 4");
  CHECK(call(6, 4, 18, 8, 3, 3) ==
        "kernel 'formulas': output 'joined' is i32 [18]: model = 18; expected 2 * heads * depth = 2 * 3 * 6 = 36");
  CHECK(call(6, 4, 36, 7, 3, 3) == "kernel 'formulas': output 'all' is i32 [7]: all = 7; expected heads + keys = 3 + 5 = 8");
  CHECK(call(6, 4, 36, 8, 6, 3) == "kernel 'formulas': output 'half' is i32 [6]: half = 6; expected depth / 2 = 6 / 2 = 3");
  CHECK(call(6, 4, 36, 8, 3, 6) == "kernel 'formulas': output 'alias' is i32 [6]: renamed = 6; expected heads = 3");
  CHECK(call(7, 4, 42, 8, 3, 3) == "kernel 'formulas': half = depth / 2: 7 is not a multiple of 2");
}

TEST_CASE("a derived extent out of range is refused", "[arguments]") {
  std::array<std::int32_t, 8> memory{};
  const Tensor x(memory.data(), {1 << 20, 1 << 20}), y(memory.data(), {1, 4}), out(memory.data(), {1});
  CHECK(refusal(formulas(x, y, out, out, out, out)) ==
        "kernel 'formulas': model = 2 * heads * depth: 2 * 1048576 * 1048576 is too large; expected 0 to 1073741824");
}

TEST_CASE("strides that kernels cannot follow are refused", "[arguments]") {
  AddCase c;
  c.ta = Tensor(c.a, {3, 4}, {1, 3});
  CHECK(c.refusal() ==
        "kernel 'add': input 'a' has stride 3 along columns, its innermost dim; expected 1 (contiguous() makes such a copy)");
  c.ta = Tensor(c.a.data(), {3, 4}, {std::int64_t{1} << 31, 1});
  CHECK(c.refusal() ==
        "kernel 'add': input 'a' is f32 [3 x 4]: with stride 2147483648 along rows it reaches over more elements than 2147483647, which a "
        "kernel can count");
  c.ta.strides[0] = INT64_MIN;
  CHECK(c.refusal().find("with stride -9223372036854775808 along rows it reaches over more elements") != std::string::npos);
  c = AddCase();
  const std::int64_t rows = 1 << 20, columns = 1 << 11;
  c.ta = Tensor(c.a.data(), {rows, columns}), c.tb = Tensor(c.b.data(), {rows, columns}), c.tout = Tensor(c.out.data(), {rows, columns});
  CHECK(c.refusal() == "kernel 'add': input 'a' is f32 [1048576 x 2048]: it has more elements than 2147483647, which a kernel can count");
}

TEST_CASE("on the CPU a tensor begins at its data", "[arguments]") {
  AddCase c;
  c.ta.byte_offset = 16;
  CHECK(c.refusal() == "kernel 'add': input 'a' has a byte offset of 16 on the cpu, where `data` is the element at index 0; expected 0");
}

TEST_CASE("outputs do not broadcast, and hold each element once", "[arguments]") {
  AddCase c;
  c.tout = Tensor(c.out, {3, 4}, {0, 1});
  CHECK(c.refusal() == "kernel 'add': output 'out' has stride 0 along rows = 3; the call writes to it, so each element needs a place of its own");
  c.tout = Tensor(c.out, {3, 4}, {2, 1});
  CHECK(c.refusal() == "kernel 'add': output 'out' is f32 [3 x 4] with strides that reach an element twice; expected one place for each");
}

TEST_CASE("pointers are checked", "[arguments]") {
  AddCase c;
  c.ta.data = nullptr;
  CHECK(c.refusal() == "kernel 'add': input 'a' is null, but it is f32 [3 x 4]; only a tensor with an extent of 0 may be null");
  std::array<float, 13> shifted{};
  c.ta.data = reinterpret_cast<std::byte*>(shifted.data()) + 2;
  CHECK(c.refusal() == "kernel 'add': input 'a' lies 2 bytes beyond a multiple of 4; an address of f32 is a multiple of 4");
  c = AddCase();
  c.ta = Tensor(std::span(c.a).first(11), {3, 4});
  CHECK(c.refusal() == "kernel 'add': input 'a' is f32 [3 x 4] and reaches elements 0 to 11; its memory has 11");
  c.ta = Tensor(c.a, {3, 4}, {-4, 1});
  CHECK(c.refusal() == "kernel 'add': input 'a' is f32 [3 x 4] and reaches elements -8 to 3; its memory has 12");
  c = AddCase();
  c.ta.device = attune_cuda;
  CHECK(c.refusal() == "kernel 'add': input 'a' is on cuda:0; this call runs on the cpu, which takes memory of the cpu");
}

TEST_CASE("constant memory is an input but no output", "[arguments]") {
  AddCase c;
  c.ta = Tensor(std::span<const float>(c.a), {3, 4});
  CHECK(c.refusal() == "");
  c.tout = Tensor(std::span<const float>(c.out), {3, 4});
  CHECK(c.refusal() == "kernel 'add': output 'out' is read-only memory; expected memory to write to");
}

TEST_CASE("a manifest that makes no sense is refused", "[arguments]") {
  attune_kernel_v5 wrong = attune_kernel_v5_add;
  wrong.abi_version = ATTUNE_ABI_VERSION + 1;
  CHECK(Kernel::from(wrong).error().message == words("kernel: its manifest is of ABI version ", ATTUNE_ABI_VERSION + 1, "; this runtime reads version ", ATTUNE_ABI_VERSION));
  wrong = attune_kernel_v5_add;
  wrong.dim_count = 1;
  CHECK(Kernel::from(wrong).error().message == "kernel 'add': a tensor of its manifest has dim number 1 of 1");
  std::array<attune_dim_v1, 2> dims{attune_kernel_v5_add.dims[0], attune_kernel_v5_add.dims[1]};
  const std::int32_t later = 1;
  dims[0] = {"rows", attune_product, 1, &later, 1};
  wrong = attune_kernel_v5_add;
  wrong.dims = dims.data();
  CHECK(Kernel::from(wrong).error().message ==
        "kernel 'add': dim number 0 of its manifest follows from dim 1, which does not stand before it");
  std::vector<attune_tensor_v1> tensors{attune_kernel_v5_add.tensors[2], attune_kernel_v5_add.tensors[0], attune_kernel_v5_add.tensors[1]};
  wrong = attune_kernel_v5_add;
  wrong.tensors = tensors.data();
  CHECK(Kernel::from(wrong).error().message == "kernel 'add': its manifest has inputs after outputs");
  wrong.tensor_count = 1;
  CHECK(Kernel::from(wrong).error().message == "kernel 'add': dim number 0 of its manifest is free but on no input");
  wrong = attune_kernel_v5_add;
  wrong.step_count = 0;
  CHECK(Kernel::from(wrong).error().message ==
        "kernel 'add': its manifest has 2 dims, 3 tensors, 0 stored between steps, 0 views, 0 sweeps, and 0 steps; expected at most 64, 64, 320, 24 and 16, and 1 to 320");
  CHECK(with_step([](attune_step_v1& step) { step.code_count = 0; }) == "kernel 'add': step 0 of its manifest has 0 codes");
  CHECK(with_step([](attune_step_v1& step) { step.output_count = 0; }) == "kernel 'add': step 0 of its manifest has no table of tensors");
  CHECK(with_step([](attune_step_v1& step) { step.input_count = 1, step.output_count = 2; }) ==
        "kernel 'add': step 0 of its manifest writes tensor number 1, which is an input or written before");
  static constexpr std::int32_t itself[] = {0, 2, 2};
  CHECK(with_step([](attune_step_v1& step) { step.tensors = itself; }) ==
        "kernel 'add': step 0 of its manifest reads tensor number 2, which no step before it writes");
  static constexpr std::int32_t no_dim[] = {2};
  CHECK(with_step([](attune_step_v1& step) { step.dims = no_dim, step.dim_count = 1; }) == "kernel 'add': step 0 of its manifest has dim number 2 of 2");
  CHECK(with_step([](attune_step_v1& step) { step.stage = nullptr; }) == "kernel 'add': step 0 of its manifest lacks the kind of its stage");
}

}  // namespace attune
