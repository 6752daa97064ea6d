#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

template <>
Lowered lower(const Slice& op, const Site& site) {
  Coordinates at = site.at;
  at[std::string(op.from)] = site.coordinate(op.into) * static_cast<int>(op.step) + static_cast<int>(op.start);
  return site.operand(0, at);
}

}  // namespace attune
