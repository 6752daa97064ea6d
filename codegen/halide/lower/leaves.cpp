#include <algorithm>

#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

template <>
Lowered lower(const Constant& op, const Site&) {
  if (op.kind == Kind::real) return Lowered::real(op.value);
  if (op.kind == Kind::boolean) return Lowered::boolean(op.value != 0);
  return Lowered::integer(static_cast<std::int64_t>(op.value));
}

template <>
Lowered lower(const Index& op, const Site& site) {
  const std::int64_t last = site.values.extent(op.dim).range.high - 1;  // of a known extent the index is narrow, and so is what is made of it
  return Lowered::of(site.coordinate(op.dim), {0, std::max(last, std::int64_t{0})});
}

template <>
Lowered lower(const Extent& op, const Site& site) {
  return site.values.extent(op.dim);
}

}  // namespace attune
