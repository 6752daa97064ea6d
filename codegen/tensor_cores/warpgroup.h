/// What a warpgroup, four warps side by side, computes together on compute capability 9.0 (wgmma): products of 16-bit elements whose second operand,
/// and where it is wanted the first, is read from shared memory.
///
/// The order of calls: writes to shared memory, show_to_products, a barrier; begin_products, products, end_products; and before what the products
/// wrote or read is touched, wait_for_products.
#pragma once

#include <array>
#include <variant>
#include <vector>

#include "codegen/tensor_cores/warp.h"

namespace attune::tensor_cores {

/// A matrix in shared memory, as an instruction is told of it.
struct MatrixInMemory {
  mlir::Value descriptor;              ///< i64
  bool is_by_contracted_rows = false;  ///< the contracted dim runs from row to row of memory, and not along them
};

/// Panels of `rows` rows of 64 elements, one behind the other from a place in shared memory on that is a multiple of 1024 bytes; `rows` is a multiple
/// of 8. Each lies as a SharedTile of pitch 64.
class Panels {
 public:
  static constexpr int columns = 64, row_bytes = 2 * columns;

  Panels(const Code& code, mlir::Value place, int rows);

  /// An operand whose own dim runs from row to row, and whose contracted dim runs along the columns of all panels: 16 of these from `column` on, and
  /// all rows from `row` on. Multiples of 16 and of 8.
  MatrixInMemory by_own_rows(int row, int column) const;
  /// An operand whose contracted dim runs from row to row, and whose own dim runs along the columns of all panels: 16 rows from `row` on, and all
  /// columns from `column` on. Multiples of 16 and of 64.
  MatrixInMemory by_contracted_rows(int row, int column) const;

 private:
  mlir::Value descriptor(int leading_bytes, int bytes_behind) const;

  const Code& code_;
  mlir::Value first_;  // the bits of the place in a descriptor
  int panel_bytes_;
};

/// A first operand of 64 x 16 elements: in memory, or the 16 x 16 of each warp in four registers, as those of `multiplied` of warp.h.
using FirstOperand = std::variant<MatrixInMemory, std::array<mlir::Value, 4>>;

/// Sums of 64 x `columns` elements by lanes, columns / 2 of each: number i is in row 16 w + lane / 4 + 8 (i / 2 % 2) and column
/// 8 (i / 4) + 2 (lane % 4) + i % 2, with w the warp's number in its warpgroup. Four that follow each other are Sums of warp.h.
using WarpgroupSums = Code::Values;
WarpgroupSums joined(const std::vector<Sums>& blocks);
std::vector<Sums> in_blocks(const WarpgroupSums& sums);

/// This thread's writes to shared memory, copies that it has waited for too, become such as products see; those of others do behind a barrier.
void show_to_products(const Code& code);

/// Before the first product, and wherever registers that products take, their sums above all, were written by anything but products: gives the values
/// to use from here on.
Code::Values begin_products(const Code& code, const Code::Values& registers);

/// The sums of a first operand times a second of 16 x `columns` elements, beside what stands in `sums`, or alone if there are none; columns is a
/// multiple of 8 up to 256. They are there after the wait.
WarpgroupSums multiplied(const Code& code, Element element, const FirstOperand& a, const MatrixInMemory& b, int columns, const WarpgroupSums& sums);

/// The products since the last end become a group.
void end_products(const Code& code);
/// The value that the warp's first lane has, of one that all have: of descriptors that stand on it the assembler then knows that lanes agree.
mlir::Value of_first_lane(const Code& code, mlir::Value value);

/// Waits for all groups but the last `pending`: gives the values of what they wrote or read, `registers`, to use from here on.
Code::Values wait_for_products(const Code& code, int pending, const Code::Values& registers);

}  // namespace attune::tensor_cores
