/// What bodies of stages are made of, and what templates give: tensors as expressions of coordinates,
/// tensors that are stored, and boxes of coordinates.
#pragma once

#include <Halide.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/halide/numbers/lowered.h"
#include "codegen/halide/rewrites/opaque_numbers.h"

namespace attune {

/// The index along each named dim.
using Coordinates = std::map<std::string, Halide::Expr>;

/// A Var of its own name along each of the dims.
inline Coordinates vars_at(const std::vector<std::string>& dims) {
  Coordinates at;
  for (const std::string& dim : dims) at[dim] = Halide::Var(dim);
  return at;
}

/// The element of a tensor at coordinates: any expression, from one load to a whole pointwise graph.
/// `dims` are the dims that it depends on, outermost first as the graph lists them.
struct Piece {
  std::vector<std::string> dims;
  std::function<Lowered(const Coordinates&)> element;  ///< empty: there is no such tensor

  explicit operator bool() const { return element != nullptr; }
  Halide::Expr at(const Coordinates& coordinates) const { return element(coordinates).expr; }
  /// The one element of memory that it is at most a multiple of, or null.
  std::shared_ptr<const Load> load(const Coordinates& coordinates) const { return element(coordinates).load; }
  /// The same where coordinates are Vars of the dims' names.
  std::shared_ptr<const Load> load() const { return load(vars_at(dims)); }
};

/// A result beside a stage's first.
struct StoredBeside {
  Halide::Func func;
  std::vector<std::string> dims;
};

/// A tensor that is stored between stages: func's arguments are the dims, innermost first (the reverse of `dims`).
struct Stored {
  Halide::Func func;
  std::vector<std::string> dims;
  std::vector<StoredBeside> beside = {};     ///< in the order of the stage's results
  std::vector<OpaqueNumber> numbers = {};    ///< of its loops
  std::vector<std::string> last_first = {};  ///< Vars of func over which parallel loops are to begin at their end; codegen/halide/rewrites/last_first.h
  Halide::Func sums = {};                    ///< computed before func's vectors, whose memory is prefetched before them; codegen/halide/rewrites/prefetch_results.h
};

/// The first and the last index of some along a dim. Where a schedule cuts the dim into blocks of `size` indices, and they are such a
/// block (the last one may be shorter), `number` says which: what is known of tensors by blocks can then be looked up.
struct Span {
  Halide::Expr first, last;
  Halide::Expr number = {};
  int size = 0;  ///< 0: any indices
};

/// A box of coordinates.
using Block = std::map<std::string, Span>;

/// What is known of a predicate on a block, cheap to compute and always sound.
struct Visibility {
  Halide::Expr certainly;  ///< every element of the block is visible
  Halide::Expr possibly;   ///< some element may be visible
};

/// Extent of every dim: a constant where it is known, otherwise an expression of the inputs' extents.
using Extents = std::map<std::string, Halide::Expr>;

/// A result beside a stage's first, as one number for each row of a softmax: its dims outermost first, and what is stored of it.
struct RowResult {
  std::vector<std::string> out;
  std::function<Halide::Expr(Halide::Expr value, const Coordinates&)> finish;  ///< a cast; may be empty
};

}  // namespace attune
