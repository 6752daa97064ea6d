/// What a test calls the kernel `product` with, which Halide made.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/kernel.h"

namespace attune {

/// out[r, c] = keep[r] ? sum_i 2 * a[r, i] * b[i, c] : 0 beside a plain loop. All numbers are small integers: sums are exact.
struct ProductCase {
  std::int64_t rows, inner, columns;
  std::vector<float> a, out, expected;
  std::vector<bfloat16> b;
  std::vector<std::uint8_t> keep;

  ProductCase(std::int64_t rows, std::int64_t inner, std::int64_t columns) : rows(rows), inner(inner), columns(columns) {
    for (std::int64_t n = 0; n < rows * inner; ++n) a.push_back(static_cast<float>(n % 7 - 3));
    for (std::int64_t n = 0; n < inner * columns; ++n) b.emplace_back(static_cast<float>(n % 5 - 2));
    for (std::int64_t r = 0; r < rows; ++r) keep.push_back(r % 3 != 1);
    out.assign(static_cast<std::size_t>(rows * columns), -1);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (std::int64_t i = 0; i < inner; ++i)
          sum += 2 * a[static_cast<std::size_t>(r * inner + i)] * float(b[static_cast<std::size_t>(i * columns + c)]);
        expected.push_back(keep[static_cast<std::size_t>(r)] != 0 ? sum : 0);
      }
  }

  Result<void> run(const Kernel& kernel, Workspace* workspace = nullptr) {
    const std::array<Argument, 4> arguments{{{"a", Tensor(a, {rows, inner})},
                                             {"b", Tensor(b, {inner, columns})},
                                             {"keep", Tensor(reinterpret_cast<const bool*>(keep.data()), {rows})},
                                             {"out", Tensor(out, {rows, columns})}}};
    return kernel.call(arguments, workspace);
  }
};

}  // namespace attune
