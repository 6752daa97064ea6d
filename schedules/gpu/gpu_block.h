/// What templates whose blocks of threads share memory have in common.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"

namespace attune {

inline constexpr int gpu_vector = 4;         ///< elements of a load of 128 bits
inline constexpr int row_padding = gpu_vector;  ///< elements after each row in shared memory, so that the rows of a warp begin in different banks

/// Of a block: `columns` x `rows`, of which each has `thread_rows` neighbouring rows.
struct BlockThreads {
  int columns, rows, thread_rows;
  int count() const { return columns * rows; }
};

/// A Func over [inner.., thread, row, ..] that a block computes: a thread its rows, with the inner Vars unrolled.
void by_threads(Halide::Func func, const Halide::Var& thread, const Halide::Var& row, const BlockThreads& threads,
                const std::vector<Halide::Var>& inner = {});

/// A Func over [inner, outer, ..] of a piece's elements in shared memory, which all threads of a block load together: each at once as many as a
/// vector has along `inner`, whose extent is a multiple of them. Where memory has the elements side by side along the dim `outer_dim`, as
/// neighbouring threads have them, else along `inner`.
void stage_in_block(Halide::Func func, const Piece& piece, const Halide::Var& inner, int extent, const Halide::Var& outer,
                    const std::string& outer_dim, const BlockThreads& threads);

/// Vars of the dims, innermost first.
std::vector<Halide::Var> vars_of_memory(const std::vector<std::string>& dims);

int up_to_multiple(int number, int of);

}  // namespace attune
