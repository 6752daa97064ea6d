#include <mlir/Dialect/Arith/IR/Arith.h>

#include "codegen/tensor_cores/gemm_builder.h"

namespace attune::tensor_cores {

using mlir::Value;

GemmBuilder::Lines GemmBuilder::lines(const Side& side, Value stage, int first, int count) const {
  if (side.is_by_own) return lines_by_own(side, stage, first, count);
  const Value row = code_.add(side.warp_first, code_.divide(lane_, 4)), column = code_.multiply(code_.remainder(lane_, 4), 4);
  Lines lines;
  for (int line = first; line < first + count; ++line) {
    const std::vector<Value> loaded = tile(side, tile_place(side, stage)).reals(row, line * column_block, column, 0);
    lines.push_back({loaded[0], loaded[1], loaded[2], loaded[3]});
  }
  return lines;
}

// Element 4 t + 2 s + h of the chunk is row 2 t + h + 8 s of the tile (contracted_of_row).
GemmBuilder::Lines GemmBuilder::lines_by_own(const Side& side, Value stage, int first, int count) const {
  const int in_line = line_bytes / element_bytes(side.operand.element);
  const Value place = code_.behind(tile_place(side, stage), code_.multiply(code_.divide(side.warp_first, in_line), line_bytes));
  const Value column = code_.add(code_.remainder(side.warp_first, in_line), code_.multiply(code_.divide(lane_, 4), 4));
  Lines lines(static_cast<std::size_t>(count));
  for (int line = 0; line < count; line += 4)
    for (int element = 0; element < 4; ++element) {
      const Value row = code_.add(code_.multiply(code_.remainder(lane_, 4), 2), element % 2);
      const std::vector<Value> loaded = tile(side, place).reals(row, element / 2 * column_block, column, (first + line) * column_block);
      for (std::size_t i = 0; i < 4; ++i) lines[static_cast<std::size_t>(line) + i][static_cast<std::size_t>(element)] = loaded[i];
    }
  return lines;
}

void GemmBuilder::multiply_split(Value stage, Code::Values& sums) const {
  const Splitter split(code_, is_careful_);
  // An infinity of 16 bits has parts, too, where products are careful: beside a number's two it is NaN.
  const auto part = [&](const Side& side, const Value& real) {
    return is_careful_ || side.operand.element == Element::f32 ? split(real) : SplitReal{real, {}};
  };
  const Lines of_rows = lines(*a_, stage, 0, 2 * row_fragments());
  std::array<Rows, steps> rows;
  for (std::size_t s = 0; s < steps; ++s)
    for (std::size_t m = 0; m < static_cast<std::size_t>(row_fragments()); ++m) {
      const auto& upper = of_rows[2 * m];
      const auto& lower = of_rows[2 * m + 1];
      rows[s].push_back({part(*a_, upper[2 * s]), part(*a_, lower[2 * s]), part(*a_, upper[2 * s + 1]), part(*a_, lower[2 * s + 1])});
    }
  const int blocks = b_->is_by_own ? 4 : 1;
  for (int block = 0; block < column_blocks(); block += blocks) {
    const Lines of_columns = lines(*b_, stage, block, blocks);
    for (std::size_t n = 0; n < of_columns.size(); ++n) {
      Columns columns;
      for (std::size_t s = 0; s < steps; ++s) columns[s] = {part(*b_, of_columns[n][2 * s]), part(*b_, of_columns[n][2 * s + 1])};
      add_block(rows, columns, block + static_cast<int>(n), sums);
    }
  }
}

// The small parts are summed before the others, from 0 on: tensor cores round towards zero, which then is little of the small parts, and twice of the
// sum over the chunk's 16 elements. That is added to the sums before by FADD, which rounds to the nearest.
void GemmBuilder::add_block(const std::array<Rows, steps>& rows, const Columns& columns, int block, Code::Values& sums) const {
  const Value zero = code_.real(0);
  std::vector<Sums> products(rows[0].size(), Sums{zero, zero, zero, zero});
  for (const auto& add : {add_corrections, add_high_product})
    for (std::size_t s = 0; s < steps; ++s)
      for (std::size_t m = 0; m < products.size(); ++m) add(code_, rows[s][m], columns[s], products[m]);
  for (std::size_t m = 0; m < products.size(); ++m)
    for (std::size_t i = 0; i < 4; ++i) {
      Value& sum = sums[sum_at(static_cast<int>(m), block) + i];
      sum = code_.add(sum, products[m][i]);
    }
}

// Without care all products of an infinity, and some of what is nearly one, are NaN; 0 times an infinite sum is NaN, too.
Code::Values GemmBuilder::walk_again_with_care(const Code::Values& sums) {
  Value all = code_.real(0);
  for (const Value& sum : sums) all = code_.fused(sum, code_.real(0), all);
  const Value is_odd = builder_.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::UNO, all, all);
  const Value is_any = code_.in_any_warp(is_odd, shared_, warp_, lane_, tiles_.threads() / 32);
  const auto with_care = [&] {
    is_careful_ = true;
    return walk();
  };
  return code_.either(is_any, with_care, [&] { return sums; });
}

}  // namespace attune::tensor_cores
