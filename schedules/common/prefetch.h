/// Prefetches memory before it is read.
#pragma once

#include <Halide.h>

#include <memory>
#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/halide/rewrites/prefetch_line.h"

namespace attune {

constexpr int cache_line_bytes = 64;  ///< of every CPU that has a target, or more

/// The distance in rows of this extent between what is prefetched of a stream and what is read; 0 for long rows. They hold 16 kB of f32, which a
/// first-level cache of 32 kB keeps beside the rest: on Zen 5 a decode of 4096 keys of depth 128 took 0.79 of the time at a distance of 4 kB, 0.64 at
/// 8 kB, 0.57 at 16 kB, 0.65 at 32 kB and more.
Halide::Expr rows_ahead(const Halide::Expr& extent);

/// An i32 whose evaluation prefetches the cache line of the load, which may lie beyond extents. Undefined for nowhere, for no load, and where the
/// place is itself loaded: that load must not be beyond extents.
Halide::Expr prefetch(const std::shared_ptr<const Load>& load, PrefetchInto cache);

/// Which elements of memory prefetch_all takes.
struct PrefetchedReads {
  Halide::RVar along;       ///< their places depend on it
  std::string rows = {};    ///< a variable that one of their indices depends on alone, and `along` is of another: elements by row and column
  bool may_be_gathered = false;  ///< also those whose places are loaded themselves: the expression lies within all extents
};

/// The same for all elements of memory that the expression reads, of those that `reads` says; undefined if there are none.
Halide::Expr prefetch_all(const Halide::Expr& element, const PrefetchedReads& reads, PrefetchInto cache);

/// The value, evaluated after what prefetches; that may be undefined.
Halide::Expr after(const Halide::Expr& prefetch, const Halide::Expr& value);

/// The cache lines of a row of so many elements, as a loop of an update that prefetches them.
class RowLines {
 public:
  RowLines() = default;
  RowLines(const Halide::Expr& extent, int element_bytes, const std::string& name);
  /// The loop's line, as the index of its first element.
  Halide::Expr first_element() const { return lines_ * elements_; }
  const Halide::RVar& loop() const { return lines_.x; }
  /// Without a loop, where the lines are known to be few.
  void unroll_few(Halide::Stage update) const;

 private:
  int elements_ = 1;  ///< of a line
  Halide::RDom lines_;
};

/// Defines f(place..), an i32 that is 0; f's first update evaluates `line`, which prefetch() gave.
template <class Place>
void define_prefetch(Halide::Func& f, const std::vector<Place>& place, const Halide::Expr& line) {
  f(place) = 0;
  f(place) += line;
}

}  // namespace attune
