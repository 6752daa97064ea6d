/// Axes of ONNX's tensors as dims: which of them are one and the same, and which are several in a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// Dims in a row, outermost first, by their numbers in a table; an axis of extent 1 may have none.
using Axis = std::vector<int>;

/// Numbers of dims. What is said of two axes makes dims one, or takes one apart into two, as a reshape of [12 * 64] to [12 x 64] does.
class AxisTable {
 public:
  /// Who gives the dim's extent in a call: nobody, an input that may do without the dim if it has the extent 1, or a value that has it.
  enum class Bound { no, input, value };
  /// A dim of its own.
  int add(std::int64_t extent, std::string_view name = {}, Bound bound = Bound::no);
  /// The dims that the axis consists of by all that was said, without those that are dropped.
  Axis dims(const Axis& axis) const;
  Axis dims(const std::vector<Axis>& axes) const;
  std::int64_t extent(const Axis& axis) const;
  std::int64_t extent(int dim) const { return entries_[root(dim)].extent; }

  /// Says that both axes are the same positions. Where one has the extent 1 alone, it broadcasts and is dropped.
  /// False if their extents do not allow it. Positions that there is one of stay two dims where values have both, unless they are `one`.
  enum class Ones { apart, one };
  bool unify(const Axis& a, const Axis& b, Ones ones = Ones::apart);
  /// Says that a dim of extent 1 is no dim, unless a value has it.
  void drop(const Axis& axis);
  /// Says that a dim is one, also of extent 1: it is joined with others, or a part of it is taken.
  void keep(const Axis& axis);

  /// A name for dims that have none.
  void suggest(const Axis& axis, std::string_view name);
  const std::string& name(int dim) const { return entries_[root(dim)].name; }
  /// Whether something gives the dim's extent in a call.
  bool is_bound(int dim) const { return entries_[root(dim)].bound != Bound::no; }
  /// Whether a value has the dim, which then is not taken apart.
  bool is_of_value(int dim) const { return entries_[root(dim)].bound == Bound::value; }
  /// Gives every dim a name of its own, those without one d0, d1 ...
  void name_all();
  std::size_t root(int dim) const;

 private:
  struct Entry {
    std::int64_t extent = 0;
    std::string name;
    Bound bound = Bound::no;
    bool is_dropped = false;
    int same = -1;  // the entry that stands for it
    Axis parts;     // what it was taken apart into
  };
  void unite(int a, int b);
  void flatten(int dim, Axis& into) const;
  Axis undropped(const Axis& axis) const;

  std::vector<Entry> entries_;
};

}  // namespace attune
