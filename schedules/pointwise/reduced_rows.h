/// Sums and maxima along rows that lie in memory, as norms have them: vectors go along the rows.
#pragma once

#include <Halide.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "schedules/common/softmax_math.h"

namespace attune {

/// The sums of f32 and maxima of i32 that an element is made of, each computed as a vector of those of every so many terms, and what is left over.
/// Halide's own, which are computed with a vector of elements, read a term of as many rows at once.
class ReducedRows {
 public:
  /// There are some if each reads neighbours along a loop of its own, of which are not known to be less than `lanes`, and none reads neighbours along
  /// `innermost`, the element's.
  ReducedRows(const Halide::Expr& element, const std::string& innermost, int lanes);

  bool empty() const { return sums_.empty(); }
  /// The same element of these.
  const Halide::Expr& element() const { return element_; }
  /// How many terms the longest has.
  const Halide::Expr& terms() const { return terms_; }
  void schedule(const Halide::LoopLevel& level) const;

 private:
  class Rewriting;
  struct Sum {
    Halide::Func sum, vectors;
  };
  /// What stands in place of the function's call with these arguments; nothing if the function is no such sum.
  Halide::Expr row_sum(const Halide::Internal::Function& function, const Exprs& args, Rewriting& rewriting);
  /// The function's sum or maximum of terms, of which vectors go along this of its loops.
  Sum in_vectors(const Halide::Internal::Function& function, const Halide::Expr& term, bool is_maximum, std::size_t along) const;

  std::string innermost_;
  int lanes_;
  std::map<std::string, Sum> sums_;
  Halide::Expr terms_ = 1, element_;
};

}  // namespace attune
