/// Operations of a graph that is drawn at random: elements that stand elsewhere in the result.
#pragma once

#include <algorithm>

#include "tests/random_values.h"

namespace attune {

class RandomPlaces : protected virtual RandomValues {
 protected:
  void joined() {
    const std::optional<Drawn> first = find([&](const Drawn& d) { return !dims(d).empty(); });
    if (!first) return;
    const Drawn& a = *first;
    const Name along = some_dim(dims(a));
    const std::optional<Drawn> second = find([&](const Drawn& d) { return kind(d) == kind(a) && dims(d).has(along) && fits(dims(a), dims(d)); });
    if (!second) return;
    const Drawn& b = *second;
    if (elements(dims(a)) + elements(dims(b)) > most_elements / 2) return;
    keep(concat({a.value, b.value}, dim(along), fresh(2 * extents_.at(along))), std::max(a.size, b.size));
  }
  void renamed() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return !dims(d).empty(); });
    if (!found) return;
    const Drawn& a = *found;
    const Name from = some_dim(dims(a));
    keep(rename(a.value, dim(from), fresh(extents_.at(from))), a.size);
  }
  void sliced() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return !dims(d).empty(); });
    if (!found) return;
    const Drawn& a = *found;
    const Name from = some_dim(dims(a));
    const std::int64_t extent = extents_.at(from), start = static_cast<std::int64_t>(below(static_cast<std::size_t>(extent) + 1));
    const std::int64_t step = 1 + static_cast<std::int64_t>(below(3)), taken = (extent - start + step - 1) / step;
    const Steps steps{start, step, below(2) == 0 ? 0 : taken};
    const Dim into = fresh(taken);
    const Value part = slice(a.value, dim(from), steps, into);
    keep(part, a.size);
    const Value first = constant(g(), static_cast<std::int64_t>(below(static_cast<std::size_t>(extent) + 3)) - 2);
    if (below(2) == 0) keep(write_rows(a.value, dim(from), part, into, first, below(2) == 0), a.size);
  }
  void parted() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return dims(d).size() >= 2; });
    if (!found) return;
    const Drawn& a = *found;
    const Name first = dims(a)[0], last = dims(a)[dims(a).size() - 1];
    const Dim joint = fresh(extents_.at(first) * extents_.at(last));
    const Value merged = merge(a.value, {dim(last), dim(first)}, joint);
    keep(merged, a.size);
    if (extents_.at(last) == 0) return;
    const Dim outer = fresh(extents_.at(last)), inner = fresh(extents_.at(first));
    keep(split(merged, joint, {{outer, extents_.at(last)}, inner}), a.size);
  }
  void chosen() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return !dims(d).empty() && kind(d) != Kind::boolean; });
    if (!found) return;
    const Drawn& a = *found;
    const Name along = some_dim(dims(a));
    if (extents_.at(along) == 0) return;
    if (kind(a) == Kind::real && extents_.at(along) > 1 && below(2) == 0) return turned(a, along);
    Names rest = dims(a).without({along}), to;
    for (Name name : free_names)
      if (name != along && to.empty()) to.add(name);
    if (!fits(rest, to)) return;
    const Value ids = mod(to_i64(add_input(Kind::real, to).value) * 3, extent(dim(along)));
    keep(gather(a.value, ids, dim(along)), a.size);
  }

 private:
  /// The first pair along the dim, by a step for each position along another.
  void turned(const Drawn& a, Name along) {
    const Dim pairs = fresh(1);
    const Value bent = add_input(Kind::real, {pairs.name}).value, step = rotary_steps(index(pairs), 10, 2);
    const Value angles = rotary_angle(index(dim(some_dim(dims(a).size() > 1 ? dims(a).without({along}) : Names{pairs.name}))), step) + bent;
    keep(rotary_embedding(a.value, angles, dim(along), pairs, below(2) == 0 ? RotaryPairs::half_split : RotaryPairs::interleaved), 2 * a.size);
  }
};

}  // namespace attune
