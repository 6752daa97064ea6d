/// The graph of a stage that computes one block of rows: blocks stand for dims.
#pragma once

#include <mlir/IR/MLIRContext.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dsl/graph.h"

namespace attune {

/// Of a row r the columns from r + first to r + last; without a bound all on that side.
struct Band {
  /// constant + the extent of one dim - that of another, or the constant alone
  struct Side {
    std::int64_t constant = 0;
    std::string plus = {}, minus = {};
    bool operator==(const Side&) const = default;
  };
  std::optional<Side> first = {}, last = {};
  bool operator==(const Band&) const = default;
};

/// A dim that is swept, and the dims that its place has in stages: the positions of a block, and where it begins.
struct SweptDim {
  std::string whole, block, start;
  std::int64_t least = 1;  ///< positions of a block, if there are so many
  std::vector<std::string> least_product = {};  ///< and as many as these dims have together
  std::optional<Band> band = {};  ///< then a block is of the columns that the last dim's block sees, all of them at its first
};

/// The dims that the operation's fields name.
template <class Op>
bool names_dim(const Op& op, std::string_view dim) {
  const auto is_it = [&]<class T>(const T& field) {
    if constexpr (std::is_same_v<T, Name>) return std::string_view(field) == dim;
    else if constexpr (std::is_same_v<T, Names>) return field.has(dim);
    else return false;
  };
  return std::apply([&](const auto&... field) { return (is_it(op.*field.member) || ...); }, Op::fields);
}

/// The nodes that have the dim and are read under another name of it alone: all of their positions are there for each block.
std::vector<bool> whole_nodes(const Graph& graph, std::string_view dim);

/// Whether each position along the dim is computed by itself, from the same position of operands that have it and are not whole.
bool is_apart_along(const Graph& graph, std::string_view dim);

/// Whether the only result is a sum over all positions of the dim, which are apart before it, times what has not the dim: that of some positions and that
/// of the others add up to it.
bool adds_up_along(const Graph& graph, std::string_view dim);

/// The graph of a stage for one block: positions along a swept dim are those of the whole. What is read under another name of the dim alone, as keys
/// that are tokens are, stays whole. Where the result adds up along the last of the dims, one more input, behind the others, is the result of the blocks
/// before, which is not read at the first. Operations along a dim with a band are along its block. Names of dims live as long as the context.
Graph in_blocks(const Graph& stage, const std::vector<SweptDim>& dims, mlir::MLIRContext* context);

/// Of the swept dims those whose blocks the stage reads of its operand of this number.
std::vector<SweptDim> dims_read_in_blocks(const Graph& stage, std::size_t operand, const std::vector<SweptDim>& dims);

/// The names with blocks in place of the dims that are swept.
std::vector<std::string> in_blocks(std::vector<std::string> names, const std::vector<SweptDim>& dims);

}  // namespace attune
