/// The search for the greatest elements of a row, as templates of CPUs and of devices make it.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "schedules/common/softmax_math.h"

namespace attune {

/// Finds the element of rank `count` bit by bit from the highest: a bit of it is 1 if so many elements are at least what is known with that bit. The count
/// that was too small last is that of greater elements.
class RowSearch {
 public:
  RowSearch(Halide::Type elements, int count) : elements_(elements), count_(count) {}

  /// A pass counts elements for each bit.
  int passes() const { return elements_.bits(); }
  /// What is known before the first pass: the element, how many are greater, and how many are at least it, which are all of the row.
  Exprs initial(const Halide::Expr& length) const;
  /// How many elements are at least this is counted in the pass.
  Halide::Expr tried(const Exprs& known, const Halide::Expr& pass) const;
  Exprs learned(const Exprs& known, const Halide::Expr& counted, const Halide::Expr& pass) const;

  /// All elements that are at least what is known are chosen: no further pass changes what is.
  Halide::Expr is_settled(const Exprs& known) const { return known[2] <= count_; }
  /// How many of those that are equal to the element are chosen, after all passes.
  Halide::Expr chosen_of_equals(const Exprs& known) const { return count_ - known[1]; }
  /// Where the last of those stands if all elements that are at least what is known are chosen, or before it is found.
  static Halide::Expr last_of_all() { return Halide::Int(32).max(); }
  static Halide::Expr last_of_none() { return -1; }
  static Halide::Expr is_chosen(const Exprs& known, const Halide::Expr& last, const Halide::Expr& element, const Halide::Expr& position) {
    return element > known[0] || (element == known[0] && position <= last);
  }
  /// A chosen element stands before another in sorted lists.
  static Halide::Expr precedes(const Halide::Expr& element, const Halide::Expr& place, const Halide::Expr& other, const Halide::Expr& other_place) {
    return element > other || (element == other && place < other_place);
  }

 private:
  Halide::Type elements_;
  int count_;
};

/// The dims of the rows of a body with `choice`.
std::vector<std::string> rows_of_choice(const Pointwise& body);

}  // namespace attune
