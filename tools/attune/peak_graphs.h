/// The graphs of kernels that measure what a device can do at most.
#pragma once

#include <array>
#include <string_view>

#include "tools/attune/graph_source.h"

namespace attune {

/// Elementwise over `elements`: an input x [elements] and an output of the graph's name.
struct PeakGraph {
  std::string_view name;
  double flops = 0, bytes = 0;  ///< of one element
  Value (*compute)(const Value& x) = nullptr;

  LoadedGraph graph() const;
};

/// A chain of FMAs, each two operations, in registers: of numbers below 1 it goes to a number. It takes longer than to load what it begins
/// with, and its code fits into the caches of instructions. And a copy with the sign turned, of f32 read and written.
std::array<PeakGraph, 2> peak_graphs();

}  // namespace attune
