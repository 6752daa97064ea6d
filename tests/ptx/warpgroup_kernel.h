/// Kernels by hand with products of a warpgroup, and their factors in shared memory as the manual of PTX (ISA 8.0, "wgmma.mma_async") draws
/// them.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "tests/ptx/small_kernel.h"

namespace attune::ptx {

/// A factor in shared memory: rows of a, columns of b, by k. Rows of `width` bytes along k, or if it is transposed, along the rows; eight
/// of them are an atom, in which they are swizzled. 16 bytes are not swizzled.
struct FactorLayout {
  std::size_t width = 128;
  bool is_transposed = false;
  std::size_t start = 0, extent = 64, depth = 64, element_bytes = 2;

  /// Between atoms there is room for another, so that strides are not what they would be by chance.
  std::size_t atom_stride() const { return 16 * width; }
  /// From the last atom of a column of atoms to the next column.
  std::size_t panel_stride() const { return atom_stride() * (is_transposed ? depth : extent) / 8; }
  std::size_t bytes() const { return panel_stride() * (is_transposed ? extent : depth) * element_bytes / width + panel_stride(); }

  std::size_t address(std::size_t row, std::size_t k) const {
    const std::size_t along = (is_transposed ? row : k) * element_bytes, across = is_transposed ? k : row, line = across % 8;
    const std::size_t phase = width == 128 ? line : width == 64 ? line / 2 : width == 32 ? line / 4 : 0;
    return start + along / width * panel_stride() + across / 8 * atom_stride() + line * width + (along % width / 16 ^ phase) * 16 +
           along % 16;
  }
  /// Of the product over k from there on.
  std::uint64_t descriptor(std::size_t k) const {
    const bool is_stride_of_atoms = !is_transposed || width != 16;
    const std::uint64_t stride = is_stride_of_atoms ? atom_stride() : panel_stride(),
                        leading = is_stride_of_atoms ? panel_stride() : atom_stride();
    const std::uint64_t swizzle = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
    return address(0, k) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62;
  }
};

inline constexpr const char* until_all_is_written = "\tfence.proxy.async;\n\tbar.sync \t0;\n";
inline constexpr const char* end_products = "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned \t0;\n";

/// A kernel for sm_90a with so many bytes of shared memory.
inline std::string warpgroup_kernel(const std::string& body, std::size_t shared_bytes) {
  std::string text = kernel(body, "\t.shared .align 1024 .b8 tile[" + std::to_string(shared_bytes) + "];\n");
  return text.replace(text.find("sm_80"), 5, "sm_90a");
}

/// So many words of the input become the shared memory of 128 threads.
inline std::string copied_to_shared(std::size_t words) {
  std::string text = addresses(4) + "\tshl.b32 \t%r3, %r2, 2;\n";
  for (std::size_t i = 0; i < words; i += 128)
    text += "\tld.global.b32 \t%r4, [%rd3+" + std::to_string(4 * i) + "];\n\tst.shared.b32 \t[%r3+" + std::to_string(4 * i) + "], %r4;\n";
  return text;
}

/// "{%r100, %r101}"
inline std::string registers_from(std::size_t first, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "%r" : ", %r") + std::to_string(first + i);
  return text + "}";
}

/// Sums of a product, %r100 on, set to a number.
inline std::string set_sums(std::size_t count, const std::string& number = "0f00000000") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "\tmov.b32 \t%r" + std::to_string(100 + i) + ", " + number + ";\n";
  return text;
}

/// As LLVM prints a piece of assembly with a predicate. `a` is a descriptor or registers; `last` begins with the scales.
inline std::string product_text(const std::string& types, std::size_t columns, const std::string& a, std::uint64_t b, bool is_added,
                                const std::string& last = "1, 1, 0, 0") {
  return "\tmov.b64 \t%rd8, " + std::to_string(static_cast<std::int64_t>(b)) +
         ";\n\t// begin inline asm\n\t{\n.reg .pred p;\nsetp.ne.b32 p, " + (is_added ? "1" : "0") +
         ", 0;\nwgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + types + " " + registers_from(100, columns / 2) + ",\n" + a +
         ", %rd8, p, " + last + ";\n}\n\n\t// end inline asm\n";
}
inline std::string in_memory(std::uint64_t descriptor) { return std::to_string(static_cast<std::int64_t>(descriptor)); }

inline std::string stored_sums(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += "\tst.global.b32 \t[%rd4+" + std::to_string(512 * i) + "], %r" + std::to_string(100 + i) + ";\n";
  return text;
}

}  // namespace attune::ptx
