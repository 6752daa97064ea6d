/// Conditions as parts that must all hold, and what of them is known.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

namespace attune {

/// The parts of a condition that must all hold, without the names that it gives to what it is made of. Halide's simplifier joins parts that compare integers,
/// of which nothing then is seen to be known; they are taken apart again:
///   k < min(a, b)  ->  k < a, k < b            max(a, b) < k  ->  a < k, b < k            the same of <=
///   k < select(c, n, a), where k < n  ->  c || k < a            c || (a && b), made of such a select  ->  c || a, c || b
std::vector<Halide::Expr> parts_of(const Halide::Expr& condition);

/// All of the parts; true if there are none.
Halide::Expr all_of(const std::vector<Halide::Expr>& parts);

/// What holds at a place of a statement, and the definitions around it.
class KnownParts {
 public:
  /// Of a value that is the same wherever the name is read.
  void define(const std::string& name, const Halide::Expr& value) { values_[name] = value; }

  bool is_empty() const { return known_.empty(); }
  /// The place of the last part that was added, for forget_beyond.
  std::size_t count() const { return known_.size(); }
  void add(const Halide::Expr& part);
  void forget_beyond(std::size_t count) { known_.resize(count); }

  /// The part follows from a known one, whatever the order of operands in both.
  bool holds(const Halide::Expr& part) const;
  /// The condition without parts that are known to hold; true if none is left.
  Halide::Expr rest_of(const Halide::Expr& condition) const;

 private:
  using AnyOf = std::vector<Halide::Expr>;
  AnyOf spelled_out(const Halide::Expr& part) const;

  std::map<std::string, Halide::Expr> values_;  // names are unique
  std::vector<AnyOf> known_;                    // of each part its alternatives, spelled out
};

}  // namespace attune
