/// Random trees of pointwise operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

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

}  // namespace attune
