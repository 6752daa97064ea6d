/// Products of matrices of a warpgroup beside plain ones. Which thread has which element is written down as the manual of PTX (ISA 8.0)
/// draws it.
#include <cstring>
#include <random>

#include "runtime/bfloat16.h"
#include "runtime/float16.h"
#include "tests/ptx/warpgroup_kernel.h"

namespace attune::ptx {
namespace {

/// Small whole numbers: products and their sums are exact.
struct Numbers {
  std::size_t columns;
  std::vector<float> elements;
  Numbers(std::size_t rows, std::size_t of_row, unsigned seed) : columns(of_row) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < rows * of_row; ++i) elements.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8));
  }
  float at(std::size_t row, std::size_t column) const { return elements[row * columns + column]; }
};

struct Kind {
  std::string types;
  std::size_t depth, bytes;
  std::uint32_t (*bits)(float);
};
const Kind bf16{"k16.f32.bf16.bf16", 16, 2, [](float x) -> std::uint32_t { return bfloat16(x).bits; }},
    f16{"k16.f32.f16.f16", 16, 2, [](float x) -> std::uint32_t { return float16(x).bits; }},
    tf32{"k8.f32.tf32.tf32", 8, 4, [](float x) { return std::bit_cast<std::uint32_t>(x) | 0x1fffU; }};  // the last bits count for nothing

/// A block's memory: NaN where there is no element.
std::vector<std::uint32_t> memory_of(std::size_t bytes) { return std::vector<std::uint32_t>(bytes / 4, ~0U); }
void put(std::vector<std::uint32_t>& memory, const FactorLayout& layout, const Numbers& numbers, const Kind& kind) {
  for (std::size_t row = 0; row < layout.extent; ++row)
    for (std::size_t k = 0; k < layout.depth; ++k) {
      const std::uint32_t bits = kind.bits(numbers.at(row, k));
      std::memcpy(reinterpret_cast<std::byte*>(memory.data()) + layout.address(row, k), &bits, kind.bytes);
    }
}

float sum_of(const Numbers& a, const Numbers& b, std::size_t row, std::size_t column, float sign) {
  float sum = 0;
  for (std::size_t k = 0; k < a.columns; ++k) sum += sign * a.at(row, k) * b.at(column, k);
  return sum;
}

/// Of 64 x columns sums, each in its thread's register.
void check_sums(const Ran& ran, const Numbers& a, const Numbers& b, std::size_t columns, float sign, float first) {
  REQUIRE(ran.problem == "");
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < 128; ++t)
    for (std::size_t i = 0; i < columns / 2; ++i) {
      const std::size_t row = t / 32 * 16 + t % 32 / 4 + (i % 4 < 2 ? 0 : 8), column = i / 4 * 8 + t % 4 * 2 + i % 2;
      wrong += std::bit_cast<float>(ran.out[128 * i + t]) == first + sum_of(a, b, row, column, sign) ? 0 : 1;
    }
  CHECK(wrong == 0);
}

/// The sums begin with 1 if they are added to, and otherwise with what nobody wants.
void check_product(const Kind& kind, FactorLayout a, FactorLayout b, bool is_added = false, const std::string& signs = "1, 1") {
  CAPTURE(kind.types, a.width, a.is_transposed, b.width, b.is_transposed, b.extent, signs);
  a.element_bytes = b.element_bytes = kind.bytes;
  b.start = (a.bytes() + 1023) / 1024 * 1024;
  const Numbers first(a.extent, a.depth, 1), second(b.extent, b.depth, 2);
  std::vector<std::uint32_t> memory = memory_of(std::max(b.start + (b.bytes() + 1023) / 1024 * 1024, 64 * b.extent * 4));
  put(memory, a, first, kind);
  put(memory, b, second, kind);
  std::string text =
      copied_to_shared(memory.size()) + until_all_is_written + set_sums(b.extent / 2, "0f3F800000") + "\twgmma.fence.sync.aligned;\n";
  const std::string transposed = std::string(", ") + (a.is_transposed ? "1" : "0") + ", " + (b.is_transposed ? "1" : "0");
  for (std::size_t k = 0; k < a.depth; k += kind.depth)
    text += product_text(kind.types, b.extent, in_memory(a.descriptor(k)), b.descriptor(k), is_added || k > 0,
                         signs + (kind.bytes == 2 ? transposed : ""));
  const Ran ran = run_block(warpgroup_kernel(text + end_products + stored_sums(b.extent / 2), 4 * memory.size()), 128, memory);
  check_sums(ran, first, second, b.extent, signs == "1, 1" || signs == "-1, -1" ? 1 : -1, is_added ? 1 : 0);
}

}  // namespace

TEST_CASE("products of a warpgroup are plain ones, however their factors are swizzled and whichever way they run", "[ptx]") {
  for (const std::size_t a_width : {16U, 32U, 64U, 128U})
    for (const std::size_t b_width : {16U, 32U, 64U, 128U})
      for (const bool is_a_transposed : {false, true})
        for (const bool is_b_transposed : {false, true})
          check_product(a_width == 64 ? f16 : bf16, {.width = a_width, .is_transposed = is_a_transposed},
                        {.width = b_width, .is_transposed = is_b_transposed});
}

TEST_CASE("products of a warpgroup have any multiple of eight columns, signs, and sums to begin with", "[ptx]") {
  for (std::size_t columns = 8; columns <= 256; columns += columns < 48 ? 8 : 104)
    check_product(bf16, {.depth = 16}, {.extent = columns, .depth = 16}, true);
  for (const char* signs : {"-1, 1", "1, -1", "-1, -1"}) check_product(f16, {.depth = 16}, {.extent = 24, .depth = 16}, true, signs);
}

TEST_CASE("products of a warpgroup of reals of 32 bits leave out the last bits", "[ptx]") {
  for (const std::size_t width : {16U, 32U, 64U, 128U}) check_product(tf32, {.width = width}, {.width = width, .extent = 40}, true);
}

TEST_CASE("the first factor of a product of a warpgroup may be in registers, two warpgroups beside each other", "[ptx]") {
  const std::size_t columns = 40, shared_words = 1024;
  for (const Kind& kind : {bf16, f16}) {
    const FactorLayout b{.width = 32, .extent = columns, .depth = 16};
    const Numbers first(64, 16, 3), second(columns, 16, 4);
    std::vector<std::uint32_t> memory = memory_of(4 * (std::max(b.bytes() / 4, 64 * columns) + 1024));
    put(memory, b, second, kind);
    // Register r of thread t stands at word 1024 + 128 r + t, behind b.
    for (std::size_t t = 0; t < 128; ++t)
      for (std::size_t r = 0; r < 4; ++r) {
        const std::size_t row = t / 32 * 16 + t % 32 / 4 + (r % 2 == 0 ? 0 : 8), k = t % 4 * 2 + (r < 2 ? 0 : 8);
        memory[shared_words + 128 * r + t] = kind.bits(first.at(row, k)) | kind.bits(first.at(row, k + 1)) << 16;
      }
    std::string text = "\tsetp.gt.u32 \t%p1, %r2, 127;\n\tand.b32 \t%r2, %r2, 127;\n" + addresses(4);
    std::string copy = copied_to_shared(shared_words);
    for (std::size_t place = 0; (place = copy.find("\tst.shared", place)) != std::string::npos; place += 8)
      copy.replace(place, 1, "\t@!%p1 ");
    text += copy;
    for (std::size_t r = 0; r < 4; ++r)
      text += "\tld.global.b32 \t%r" + std::to_string(20 + r) + ", [%rd3+" + std::to_string(4096 + 512 * r) + "];\n";
    text += until_all_is_written + set_sums(columns / 2) + "\twgmma.fence.sync.aligned;\n" +
            product_text(kind.types, columns, registers_from(20, 4), b.descriptor(0), false, "1, 1, 0") + end_products +
            stored_sums(columns / 2);
    const Ran ran = run_block(warpgroup_kernel(text, 4 * shared_words), 256, memory);
    check_sums(ran, first, second, columns, 1, 0);
    CHECK(ran.counts.instructions.at("wgmma.mma_async.sync.aligned.m64n40" + kind.types) == 8);
  }
}

}  // namespace attune::ptx
