/// A matrix product turned so that it can be tiled, and the two ways to compute it: what the files of the gemm template share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/prefetch.h"
#include "schedules/common/tiles.h"

namespace attune {

/// Work of a task: some 10 us, many times what starting a task costs.
inline constexpr int multiplications_per_task = 256 * 1024;

/// How a product is cut.
struct GemmTile {
  int rows = 1;       ///< rows of the tile in registers
  int vectors = 1;    ///< vectors along its columns
  int sums = 1;       ///< vectors of sums for which a product that reads its operands in place has registers
  int lanes = 16;     ///< of a vector, of f32
  int row_block = 1;  ///< most tiles of rows in a task
  PrefetchInto prefetch = PrefetchInto::nowhere;
  bool has_bf16_dot = false;     ///< sums products of bf16 in pairs
  bool in_matrix_tiles = false;  ///< in tile registers (AMX)
};

/// A product whose columns end in the result's innermost dim, and whose contraction ends in the operands' innermost one if that can be.
struct Product {
  Gemm body;
  Extents extents;
  Flat rows;
  bool a_along_over = false;     ///< the contraction's last dim is innermost in a
  bool a_along_rows = false;     ///< the only dim of the rows is innermost in a
  bool b_along_over = false;
  bool b_along_columns = false;  ///< the columns' last dim is innermost in b
};
Product product_of(const Gemm& body, const Extents& extents);

/// The dims of `dims` that the piece has, in that order.
std::vector<std::string> dims_in(const std::vector<std::string>& dims, const Piece& piece);

/// What the sum of products of bf16 is multiplied by; none if an operand is none and may not be rounded to it: elements are multiplied as f32.
std::optional<Halide::Expr> factor_of_bf16(const Gemm& body, const Extents& extents);

/// Both give the result, scheduled and computed at the root.
Stored packed_gemm(const Product& product, const GemmTile& tile);
Stored direct_gemm(const Product& product, const GemmTile& tile);

/// The loops of a stage that is written by an update: extents collected first, then one RVar each, starting at 0.
class Loops {
 public:
  /// Adds a loop and returns its number.
  int add(const Halide::Expr& extent) {
    ranges_.emplace_back(0, extent);
    return static_cast<int>(ranges_.size()) - 1;
  }
  Halide::RDom domain(const std::string& name) const { return Halide::RDom(ranges_, name); }

 private:
  Halide::Region ranges_;
};

/// The loops from this number on as one: tasks, and the batch.
Halide::RVar fused_from(Halide::Stage stage, const Halide::RDom& loops, int first);

/// The element of the result: finish(sum, at).
Halide::Expr finished(const Gemm& body, const Halide::Expr& sum, const Coordinates& at);
/// The result's Func's arguments, innermost first: Vars named like the dims.
std::vector<Halide::Var> result_vars(const std::vector<std::string>& dims);

}  // namespace attune
