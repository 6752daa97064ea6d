/// What is done with a tile register, as instructions or as loops over an array in its stead.
#pragma once

#include <Halide.h>

#include <memory>
#include <string>

namespace attune {

/// Elements of bf16 of an operand, or words of pairs, whose rows, or pairs, are `stride` apart.
struct TileOperand {
  const Halide::Internal::Load* load;
  Halide::Expr first, stride;
};

/// Statements on the tile of a name (matrix_tiles.h has its edges).
class TileCode {
 public:
  virtual ~TileCode() = default;
  virtual Halide::Internal::Stmt allocated(const std::string& tile, const Halide::Internal::Stmt& body) const = 0;
  virtual Halide::Internal::Stmt zero(const std::string& tile) const = 0;
  /// Adds the product of rows of `a` and columns of `b`.
  virtual Halide::Internal::Stmt multiply(const std::string& tile, const TileOperand& a, const TileOperand& b) const = 0;
  /// Rows `stride` apart from `first` on, into what `op` stores to.
  virtual Halide::Internal::Stmt store(const std::string& tile, const Halide::Internal::Store* op, const Halide::Expr& first,
                                       const Halide::Expr& stride) const = 0;
};

std::unique_ptr<const TileCode> tile_code(bool has_registers);

}  // namespace attune
