/// The value of a random tree, over any number that the operations work on.
#pragma once

#include <span>

#include "dsl/ops.h"
#include "tests/numbers/random_tree.h"

namespace attune {

/// The tree's value where its leaves are `leaves`; `constant(x)` makes numbers N, whose truth values are B.
template <class N, class B>
class Evaluation {
 public:
  Evaluation(const Tree& tree, std::span<const N> leaves, N (*constant)(double)) : tree_(tree), leaves_(leaves), constant_(constant) {}

  N number() const { return number(static_cast<int>(tree_.nodes.size()) - 1); }
  B truth() const { return truth(static_cast<int>(tree_.nodes.size()) - 1); }

  /// The value of the node `at`, which gives a number.
  N number(int at) const {
    const Tree::Node& node = tree_.nodes[static_cast<std::size_t>(at)];
    const auto a = [&] { return number(node.a); };
    const auto b = [&] { return number(node.b); };
    switch (node.operation) {
      case Operation::leaf: return leaves_[static_cast<std::size_t>(node.a)];
      case Operation::add: return Add::apply(a(), b());
      case Operation::subtract: return Subtract::apply(a(), b());
      case Operation::multiply: return Multiply::apply(a(), b());
      case Operation::floor_div: return FloorDiv::apply(a(), b());
      case Operation::mod: return Mod::apply(a(), b());
      case Operation::minimum: return Minimum::apply(a(), b());
      case Operation::maximum: return Maximum::apply(a(), b());
      case Operation::abs: return Abs::apply(a());
      case Operation::negate: return Negate::apply(a());
      case Operation::select: return Select::apply(truth(node.c), a(), b());
      case Operation::divide: return Divide::apply(a(), b());
      case Operation::exp: return Exp::apply(a());
      case Operation::log: return Log::apply(a());
      case Operation::sqrt: return Sqrt::apply(a());
      case Operation::tanh: return Tanh::apply(a());
      case Operation::erf: return Erf::apply(a());
      case Operation::sigmoid: return Sigmoid::apply(a());
      case Operation::sin: return Sin::apply(a());
      case Operation::cos: return Cos::apply(a());
      default: return constant_(node.value);
    }
  }

 private:
  B truth(int at) const {
    const Tree::Node& node = tree_.nodes[static_cast<std::size_t>(at)];
    switch (node.operation) {
      case Operation::less: return Less::apply(number(node.a), number(node.b));
      case Operation::less_equal: return LessEqual::apply(number(node.a), number(node.b));
      case Operation::equal: return Equal::apply(number(node.a), number(node.b));
      case Operation::not_equal: return NotEqual::apply(number(node.a), number(node.b));
      case Operation::logic_and: return And::apply(truth(node.a), truth(node.b));
      case Operation::logic_or: return Or::apply(truth(node.a), truth(node.b));
      default: return Not::apply(truth(node.a));
    }
  }

  const Tree& tree_;
  std::span<const N> leaves_;
  N (*constant_)(double);
};

}  // namespace attune
