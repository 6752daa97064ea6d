/// The kernels that measure what a device can do at most.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tools/attune/options.h"
#include "tools/measure/example.h"

namespace attune {

/// Elementwise, with an output [rows x columns].
struct PeakGraph {
  std::string_view name;
  double flops = 0, bytes = 0;  ///< of one element of the output
  double deviation = 1;         ///< of normal inputs for which the output is right
  void (*describe)(Graph& g) = nullptr;

  LoadedGraph graph() const;
};

/// A chain of FMAs in registers, each two operations, of inputs x [columns] and w [rows] that lie in caches: a multiprocessor of an H100
/// does 20 operations in the time in which a byte is written, and the chain has 48 for each. Its code fits into the caches of instructions.
/// And a copy with the sign turned.
std::array<PeakGraph, 2> peak_graphs();

/// For a target: blocks of 256 threads, of eight elements each: so many chains are computed, and so many loads wait for memory, at the same time.
Options peak_options(std::string_view target);

/// Extents of an output with so many elements, a multiple of 1024.
Shape peak_shape(std::int64_t elements);

}  // namespace attune
