/// Random graphs of pointwise operations, evaluated over any number that the operations work on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "dsl/graph.h"

namespace attune {

/// Operations on numbers and, from less on, those that give truth values.
enum class Operation {
  leaf,
  constant,
  add,
  subtract,
  multiply,
  floor_div,
  mod,
  minimum,
  maximum,
  abs,
  negate,
  select,
  divide,
  exp,
  log,
  sqrt,
  tanh,
  erf,
  sigmoid,
  sin,
  cos,
  less,
  less_equal,
  equal,
  not_equal,
  logic_and,
  logic_or,
  logic_not
};

/// A tree: operands stand before the node that uses them; the last node is the root.
struct Tree {
  struct Node {
    Operation operation;
    int a = 0, b = 0, c = 0;  ///< operands; of a leaf, a is its number
    double value = 0;         ///< of a constant
  };
  std::vector<Node> nodes;

  int add(Node node) {
    nodes.push_back(node);
    return static_cast<int>(nodes.size()) - 1;
  }
};

/// Draws trees over `leaves` leaves, of integers or of reals.
class TreeMaker {
 public:
  TreeMaker(std::uint32_t seed, int leaves, bool is_real) : random_(seed), leaves_(leaves), is_real_(is_real) {}

  Tree number(int depth) { return root(depth, &TreeMaker::grow_number); }
  Tree truth(int depth) { return root(depth, &TreeMaker::grow_truth); }
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint32_t>(limit)); }

 private:
  Tree root(int depth, int (TreeMaker::*grow)(Tree&, int)) {
    Tree tree;
    (this->*grow)(tree, depth);
    return tree;
  }
  int grow_number(Tree& tree, int depth) {
    using enum Operation;
    if (depth == 0 && below(3) == 0) return tree.add({constant, 0, 0, 0, static_cast<double>(below(41) - 20)});
    if (depth == 0) return tree.add({leaf, below(leaves_)});
    constexpr Operation integral[] = {add, subtract, multiply, floor_div, mod, minimum, maximum, abs, negate, select};
    constexpr Operation real[] = {add, subtract, multiply, divide, minimum, maximum, abs, select,
                                  exp, log,      sqrt,     tanh,   erf,     sigmoid, sin, cos};
    const Operation operation = is_real_ ? real[below(std::size(real))] : integral[below(std::size(integral))];
    const int a = grow_number(tree, below(depth)), b = grow_number(tree, below(depth));
    return tree.add({operation, a, b, operation == select ? grow_truth(tree, depth - 1) : 0});
  }
  int grow_truth(Tree& tree, int depth) {
    using enum Operation;
    constexpr Operation comparisons[] = {less, less_equal, equal, not_equal}, connectives[] = {logic_and, logic_or, logic_not};
    if (depth > 1 && below(2) == 0) {
      const int a = grow_truth(tree, depth - 1), b = grow_truth(tree, depth - 1);
      return tree.add({connectives[below(3)], a, b});
    }
    const int a = grow_number(tree, std::max(depth - 1, 0)), b = grow_number(tree, std::max(depth - 1, 0));
    return tree.add({comparisons[below(4)], a, b});
  }

  std::mt19937 random_;
  int leaves_;
  bool is_real_;
};

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
      case Operation::leaf:
        return leaves_[static_cast<std::size_t>(node.a)];
      case Operation::add:
        return Add::apply(a(), b());
      case Operation::subtract:
        return Subtract::apply(a(), b());
      case Operation::multiply:
        return Multiply::apply(a(), b());
      case Operation::floor_div:
        return FloorDiv::apply(a(), b());
      case Operation::mod:
        return Mod::apply(a(), b());
      case Operation::minimum:
        return Minimum::apply(a(), b());
      case Operation::maximum:
        return Maximum::apply(a(), b());
      case Operation::abs:
        return Abs::apply(a());
      case Operation::negate:
        return Negate::apply(a());
      case Operation::select:
        return Select::apply(truth(node.c), a(), b());
      case Operation::divide:
        return Divide::apply(a(), b());
      case Operation::exp:
        return Exp::apply(a());
      case Operation::log:
        return Log::apply(a());
      case Operation::sqrt:
        return Sqrt::apply(a());
      case Operation::tanh:
        return Tanh::apply(a());
      case Operation::erf:
        return Erf::apply(a());
      case Operation::sigmoid:
        return Sigmoid::apply(a());
      case Operation::sin:
        return Sin::apply(a());
      case Operation::cos:
        return Cos::apply(a());
      default:
        return constant_(node.value);
    }
  }

 private:
  B truth(int at) const {
    const Tree::Node& node = tree_.nodes[static_cast<std::size_t>(at)];
    switch (node.operation) {
      case Operation::less:
        return Less::apply(number(node.a), number(node.b));
      case Operation::less_equal:
        return LessEqual::apply(number(node.a), number(node.b));
      case Operation::equal:
        return Equal::apply(number(node.a), number(node.b));
      case Operation::not_equal:
        return NotEqual::apply(number(node.a), number(node.b));
      case Operation::logic_and:
        return And::apply(truth(node.a), truth(node.b));
      case Operation::logic_or:
        return Or::apply(truth(node.a), truth(node.b));
      default:
        return Not::apply(truth(node.a));
    }
  }

  const Tree& tree_;
  std::span<const N> leaves_;
  N (*constant_)(double);
};

}  // namespace attune
