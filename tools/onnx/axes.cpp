#include "tools/onnx/axes.h"

#include <algorithm>
#include <set>

#include "dsl/integer_range.h"

namespace attune {

int AxisTable::add(std::int64_t extent, std::string_view name, Bound bound) {
  entries_.push_back({extent, std::string(name), bound, false, -1, {}});
  return static_cast<int>(entries_.size()) - 1;
}

std::size_t AxisTable::root(int dim) const {
  while (entries_[static_cast<std::size_t>(dim)].same >= 0) dim = entries_[static_cast<std::size_t>(dim)].same;
  return static_cast<std::size_t>(dim);
}

void AxisTable::flatten(int dim, Axis& into) const {
  const std::size_t top = root(dim);
  if (entries_[top].parts.empty()) into.push_back(static_cast<int>(top));
  for (const int part : entries_[top].parts) flatten(part, into);
}

Axis AxisTable::undropped(const Axis& axis) const {
  Axis all;
  for (const int dim : axis) flatten(dim, all);
  return all;
}

Axis AxisTable::dims(const Axis& axis) const {
  Axis all = undropped(axis);
  std::erase_if(all, [&](int dim) { return entries_[static_cast<std::size_t>(dim)].is_dropped; });
  return all;
}

Axis AxisTable::dims(const std::vector<Axis>& axes) const {
  Axis all;
  for (const Axis& axis : axes)
    for (const int dim : dims(axis)) all.push_back(dim);
  return all;
}

std::int64_t AxisTable::extent(const Axis& axis) const {
  std::int64_t product = 1;
  for (const int dim : axis) product = ranges::product(product, extent(dim));
  return product;
}

void AxisTable::drop(const Axis& axis) {
  for (const int dim : undropped(axis)) {
    Entry& entry = entries_[static_cast<std::size_t>(dim)];
    entry.is_dropped |= entry.extent == 1 && entry.bound != Bound::value;
  }
}

void AxisTable::keep(const Axis& axis) {
  for (const int dim : undropped(axis)) {
    Entry& entry = entries_[static_cast<std::size_t>(dim)];
    entry.bound = Bound::value;
    entry.is_dropped = false;
  }
}

void AxisTable::unite(int a, int b) {
  if (a == b) return;
  if (entries_[static_cast<std::size_t>(a)].name.empty() && !entries_[static_cast<std::size_t>(b)].name.empty()) std::swap(a, b);
  Entry &kept = entries_[static_cast<std::size_t>(a)], &other = entries_[static_cast<std::size_t>(b)];
  kept.bound = std::max(kept.bound, other.bound);
  kept.is_dropped = kept.bound != Bound::value && (kept.is_dropped || other.is_dropped);
  other.same = a;
}

bool AxisTable::unify(const Axis& a, const Axis& b, Ones ones) {
  const std::int64_t extents[] = {extent(a), extent(b)};
  if (extents[0] != extents[1]) {
    if (extents[0] != 1 && extents[1] != 1) return false;
    drop(extents[0] == 1 ? a : b);
    return true;
  }
  Axis left = undropped(a), right = undropped(b);
  while (!left.empty() && !right.empty()) {  // from the innermost dims on
    const int x = left.back(), y = right.back();
    const std::int64_t of_x = entries_[static_cast<std::size_t>(x)].extent, of_y = entries_[static_cast<std::size_t>(y)].extent;
    if (of_x == of_y) {
      const bool are_values =
          entries_[static_cast<std::size_t>(x)].bound == Bound::value && entries_[static_cast<std::size_t>(y)].bound == Bound::value;
      if (of_x != 1 || !are_values || ones == Ones::one) unite(x, y);  // positions that there is one of broadcast
      left.pop_back(), right.pop_back();
      continue;
    }
    if (of_x == 1 || of_y == 1) {
      drop({of_x == 1 ? x : y});
      (of_x == 1 ? left : right).pop_back();
      continue;
    }
    const bool splits_x = of_x > of_y;
    const std::int64_t larger = std::max(of_x, of_y), smaller = std::min(of_x, of_y);
    if (smaller == 0 || larger % smaller != 0) return false;
    const int inner = splits_x ? y : x, taken_apart = splits_x ? x : y, outer = add(larger / smaller);
    Entry& whole = entries_[static_cast<std::size_t>(taken_apart)];
    whole.parts = {outer, inner};
    entries_[static_cast<std::size_t>(outer)].bound = whole.bound;
    entries_[static_cast<std::size_t>(inner)].bound = std::max(entries_[static_cast<std::size_t>(inner)].bound, whole.bound);
    (splits_x ? left : right).back() = outer;
    (splits_x ? right : left).pop_back();
  }
  drop(left), drop(right);
  return true;
}

void AxisTable::suggest(const Axis& axis, std::string_view name) {
  for (const int dim : dims(axis))
    if (entries_[static_cast<std::size_t>(dim)].name.empty()) entries_[static_cast<std::size_t>(dim)].name = name;
}

void AxisTable::name_all() {
  std::set<std::string> names;
  int count = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.same >= 0 || !entry.parts.empty()) continue;
    std::string name = entry.name.empty() ? "d" + std::to_string(count++) : entry.name;
    for (int again = 2; names.contains(name); ++again)
      name = (entry.name.empty() ? "d" + std::to_string(count) : entry.name) + "_" + std::to_string(again);
    names.insert(name);
    entry.name = name;
  }
}

}  // namespace attune
