#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

template <>
Lowered lower(const Rename& op, const Site& site) {
  Coordinates at = site.at;
  at[std::string(op.from)] = site.coordinate(op.to);
  return site.operand(0, at);
}

template <>
Lowered lower(const Split& op, const Site& site) {
  Coordinates at = site.at;
  Halide::Expr position = 0;
  for (Name part : op.into) position = position * site.values.extents().at(std::string(part)) + site.coordinate(part);
  at[std::string(op.from)] = position;
  return site.operand(0, at);
}

template <>
Lowered lower(const Merge& op, const Site& site) {
  Coordinates at = site.at;
  Halide::Expr rest = site.coordinate(op.into);
  for (int i = op.from.size() - 1; i > 0; --i) {
    const Halide::Expr extent = site.values.extents().at(std::string(op.from[i]));
    at[std::string(op.from[i])] = rest % extent;
    rest = rest / extent;
  }
  at[std::string(op.from[0])] = rest;
  return site.operand(0, at);
}

}  // namespace attune
