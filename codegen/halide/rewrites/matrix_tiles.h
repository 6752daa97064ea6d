/// Products of bf16 by the tile registers of a CPU (AMX).
#pragma once

#include <Halide.h>

namespace attune {

/// Edges of a tile of sums: rows of one operand, columns of the other; and how many elements of either a step of a product takes, in pairs.
inline constexpr int tile_rows = 16, tile_columns = 16, tile_depth = 32, tile_pairs = tile_depth / 2;

/// Functions that are stored in Halide's MemoryType::AMXTile become tile registers. A schedule makes loops around each of their elements that are
/// vectorized along rows and columns of a tile, and what is around these may be unrolled: each tile then has a place of its own, which is a constant.
///   for (row, 0, 16) for (column, 0, 16) sums[..] = 0                                            ->  tilezero
///   for (row, 0, 16) for (column, 0, 16) for (of_pairs, 0, 16) for (of_pair, 0, 2)
///     sums[..] = sums[..] + f32(a[..]) * f32(b[..])                                              ->  tileloadd of a and b, tdpbf16ps
///   for (row, 0, 16) for (column, 0, 16) result[..] = sums[..]                                   ->  tilestored
/// a[row, pair] and b[pair, column] are bits of bf16, those of a pair beside each other, and so are a's pairs and b's columns. They may also be words of
/// a pair (codegen/halide/rewrites/bf16_dots.h), without the innermost loop: sums[..] = bf16_dot(sums[..], a[..], b[..]).
/// Where the target has no such registers (of tests: the CPU that they run on) the same places are walked by plain loops.
/// Halide::CompileError where a loop nest is another one. For statements before they are vectorized: Halide 21's own extraction, which reads
/// vectors, knows one tile at a time.
Halide::Internal::Stmt with_matrix_tiles(const Halide::Internal::Stmt& s, const Halide::Target& target);

}  // namespace attune
