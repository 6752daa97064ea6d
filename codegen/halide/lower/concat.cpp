#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

/// A chain of selects; each operand is read at a coordinate clamped into it, so that nothing is read out of bounds.
template <>
Lowered lower(const Concat& op, const Site& site) {
  const std::size_t count = static_cast<std::size_t>(site.node.input_count);
  std::vector<Halide::Expr> firsts;
  Halide::Expr first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    firsts.push_back(first);
    first = first + site.values.extents().at(std::string(op.along_of(i)));
  }
  const Halide::Expr position = site.coordinate(op.into);
  const auto part = [&](std::size_t i) {
    const Halide::Expr extent = site.values.extents().at(std::string(op.along_of(i)));
    Coordinates at = site.at;
    at[std::string(op.along_of(i))] = Halide::clamp(position - firsts[i], 0, Halide::max(extent - 1, 0));
    return site.operand(i, at);
  };
  Lowered value = part(count - 1);
  for (std::size_t i = count - 1; i-- > 0;) value = select(Lowered{position < firsts[i + 1]}, part(i), value);
  return value;
}

}  // namespace attune
