/// What the kinds of stages know of a graph while they claim its nodes.
#pragma once

#include <map>
#include <set>

#include "codegen/plan/attention_match.h"

namespace attune {

/// A stage that a node is the centre of.
struct Claim {
  StageRoles roles;
  std::string reason;            ///< what `attune explain` prints
  std::set<int> inside = {};     ///< anchors that it computes itself, the centre not among them
  bool takes_epilogue = false;   ///< it may change its result element by element before it is stored
  int last_change = -1;          ///< the last of these changes that it computes in any case, or -1
};

/// Each question is answered once.
class Planning {
 public:
  Planning(const Graph& graph, bool is_fusing);

  const Graph& graph() const { return graph_; }
  bool is_fusing() const { return is_fusing_; }
  const Users& users() const { return users_; }
  const std::vector<int>& users_of(int node) const { return users_[static_cast<std::size_t>(node)]; }
  /// Of every matmul and reduction over one dim; empty without fusion.
  const std::map<int, AttentionAnswer>& attentions() const { return attentions_; }

 private:
  const Graph& graph_;
  const bool is_fusing_;
  const Users users_;
  std::map<int, AttentionAnswer> attentions_;
};

}  // namespace attune
