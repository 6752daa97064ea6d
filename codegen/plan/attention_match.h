/// How the kinds of stages that compute scores in tiles find the roles of their nodes: what they have in common.
#pragma once

#include <string>

#include "codegen/plan/stage_roles.h"

namespace attune {

template <class Op>
const Op* as(const Node& node) {
  return std::get_if<Op>(&node.op);
}

inline std::string name_of(const Node& node) {
  return std::string(std::visit([]<class Op>(const Op&) { return Op::name; }, node.op));
}

/// Finds queries and value_depth from the weights, the value and the keys; or says what is missing.
std::string take_dims(const Graph& graph, AttentionRoles& roles);

/// Finds what the score is made of, from its end; or says why it cannot be computed in tiles.
std::string take_score(const Graph& graph, const Users& users, AttentionRoles& roles);

}  // namespace attune
