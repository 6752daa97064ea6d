#include "codegen/stage_plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace attune {
namespace {

constexpr int is_output = -1;

bool has_same_dims(const Names& a, const Names& b) { return a.size() == b.size() && a.without(b).empty(); }

/// Builds the plan from the outputs backwards.
class Planner {
 public:
  Planner(const Graph& graph, bool fuse) : graph_(graph), is_fusing_(fuse), users_(users_of(graph)) {
    find_anchors();
    find_tables();
    for (const Output& output : graph.outputs()) require(output.node);
  }
  std::vector<StagePlan> take() { return std::move(stages_); }

 private:
  struct Anchor {
    StageKind kind;
    int node;           // the anchor itself
    std::set<int> inside;  // other anchors that it swallows
    std::string reason;
  };

  /// Every anchor that is a stage of its own, under the number of the value that its stage stores.
  void find_anchors() {
    std::map<int, Anchor> found;
    std::set<int> swallowed;
    for (int id = 0; id < static_cast<int>(graph_.nodes().size()); ++id) {
      if (!is_anchor(graph_.node(id))) continue;
      Anchor anchor = describe(id);
      swallowed.insert(anchor.inside.begin(), anchor.inside.end());
      found.emplace(id, std::move(anchor));
    }
    for (auto& [id, anchor] : found) {
      if (swallowed.contains(id)) continue;
      const bool has_epilogue = anchor.kind == StageKind::gemm || anchor.kind == StageKind::online_softmax;
      const int end = has_epilogue ? end_of_epilogue(id) : id;
      anchors_.emplace(anchors_.contains(end) ? id : end, std::move(anchor));  // of two sums that meet, the first takes the rest
    }
  }

  /// Computed tables that grow with the sum of dims and are gathered at each of their pairs (a bias by distance): stored once.
  void find_tables() {
    for (const Node& node : graph_.nodes()) {
      const auto* gather = std::get_if<Gather>(&node.op);
      if (gather == nullptr || std::holds_alternative<Input>(graph_.node(node.inputs[0]).op)) continue;
      const Names& ids = graph_.node(node.inputs[1]).type.dims;
      const auto is_sum_of_ids = [&](const DimInfo& info) {
        const Derivation& from = info.derivation;
        return from.dim == gather->along && from.formula == Formula::sum && from.operands.size() > 1 && from.operands.without(ids).empty();
      };
      if (std::ranges::any_of(graph_.dim_infos(), is_sum_of_ids)) tables_.insert(node.inputs[0]);
    }
  }

  Anchor describe(int id) const {
    const Node& node = graph_.node(id);
    if (std::holds_alternative<Softmax>(node.op)) return {StageKind::row_softmax, id, {}, why_stored(id)};
    if (!std::holds_alternative<Matmul>(node.op)) return {StageKind::reduce, id, {}, "a reduction"};
    if (!is_fusing_) return {StageKind::gemm, id, {}, "fusion is off"};
    OnlineSoftmaxAnswer answer = match_online_softmax(graph_, id);
    if (!answer.match) return {StageKind::gemm, id, {}, answer.reason};
    Anchor anchor{StageKind::online_softmax, id, {answer.match->softmax}, answer.reason};
    for (const KeyPart& part : answer.match->parts)
      if (part.product >= 0) anchor.inside.insert(part.product);
    if (answer.match->product >= 0)
      anchor.inside.insert(answer.match->product);
    else
      collect_sums(graph_.node(answer.match->softmax).inputs[0], *answer.match, anchor.inside);
    return anchor;
  }

  /// Why the weights of a softmax are stored: the words of the matmul that cannot take them.
  std::string why_stored(int softmax) const {
    if (!is_fusing_) return "fusion is off";
    for (int id = softmax + 1; id < static_cast<int>(graph_.nodes().size()); ++id) {
      if (!std::holds_alternative<Matmul>(graph_.node(id).op)) continue;
      const OnlineSoftmaxAnswer answer = match_online_softmax(graph_, id);
      if (!answer.match && answer.softmax == softmax) return answer.reason;
    }
    return "no matmul sums over its weights";
  }

  /// The sums over pairs inside a score.
  void collect_sums(int id, const OnlineSoftmaxMatch& match, std::set<int>& sums) const {
    const Node& node = graph_.node(id);
    const bool has_both = node.type.dims.has(match.queries) && node.type.dims.has(match.keys);
    if (is_anchor(node) && !has_both) return;
    if (is_anchor(node)) sums.insert(id);
    for (int operand : node.operands()) collect_sums(operand, match, sums);
  }

  /// Follows single users that change the anchor's value element by element.
  int end_of_epilogue(int id) const {
    while (true) {
      const auto& users = users_[static_cast<std::size_t>(id)];
      if (users.size() != 1 || users[0] == is_output) return id;
      const Node& user = graph_.node(users[0]);
      const bool is_pointwise = std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, user.op);
      if (!is_pointwise || !has_same_dims(user.type.dims, graph_.node(id).type.dims) || is_used_by_fused_score(users[0])) return id;
      id = users[0];
    }
  }

  /// The node is part of a score that an online softmax computes itself: it belongs there.
  bool is_used_by_fused_score(int id) const {
    if (!is_fusing_) return false;
    for (int other = id + 1; other < static_cast<int>(graph_.nodes().size()); ++other) {
      if (!std::holds_alternative<Matmul>(graph_.node(other).op)) continue;
      const auto answer = match_online_softmax(graph_, other);
      if (!answer.match) continue;
      const Names& dims = graph_.node(id).type.dims;
      if (dims.has(answer.match->queries) && dims.has(answer.match->keys) && reaches(answer.match->softmax, id)) return true;
    }
    return false;
  }

  bool reaches(int from, int to) const {
    if (from == to) return true;
    if (from < to) return false;
    for (int operand : graph_.node(from).operands())
      if (reaches(operand, to)) return true;
    return false;
  }

  /// Makes the stage that stores the value, after those that it needs.
  void require(int id) {
    if (done_.contains(id)) return;
    done_.insert(id);
    const auto anchor = anchors_.find(id);
    if (std::holds_alternative<Input>(graph_.node(id).op)) {
      if (std::ranges::any_of(graph_.outputs(), [&](const Output& o) { return o.node == id; }))
        stages_.push_back({StageKind::pointwise, id, {}, {id}, "a copy of an argument"});
      return;
    }
    StagePlan plan{StageKind::pointwise, id, {}, {}, tables_.contains(id) ? "a table that is read for each pair of what it is the sum of" : "elementwise"};
    std::set<int> own;
    if (anchor != anchors_.end()) {
      plan.kind = anchor->second.kind;
      plan.reason = anchor->second.reason;
      own = anchor->second.inside;
      own.insert(anchor->second.node);
    }
    std::set<int> nodes, inputs;
    collect(id, own, nodes, inputs);
    for (int input : inputs) require(input);
    plan.nodes.assign(nodes.begin(), nodes.end());
    plan.inputs.assign(inputs.begin(), inputs.end());
    stages_.push_back(std::move(plan));
  }

  /// The nodes from `id` down to values of other stages; of the anchors only `own` are inside.
  void collect(int id, const std::set<int>& own, std::set<int>& nodes, std::set<int>& inputs) const {
    if (nodes.contains(id)) return;
    nodes.insert(id);
    for (int operand : graph_.node(id).operands()) {
      const Node& node = graph_.node(operand);
      const bool is_outside = std::holds_alternative<Input>(node.op) || (is_anchor(node) && !own.contains(operand)) ||
                              (anchors_.contains(operand) && !own.contains(operand)) || tables_.contains(operand);
      if (is_outside)
        inputs.insert(operand);
      else
        collect(operand, own, nodes, inputs);
    }
  }

  const Graph& graph_;
  bool is_fusing_;
  std::vector<std::vector<int>> users_;
  std::map<int, Anchor> anchors_;  // by the value that the stage stores
  std::set<int> tables_;
  std::set<int> done_;
  std::vector<StagePlan> stages_;
};

}  // namespace

std::string_view name_of(StageKind kind) {
  constexpr std::string_view names[] = {"pointwise", "gemm", "row_softmax", "reduce", "online_softmax"};
  return names[static_cast<int>(kind)];
}

std::vector<std::vector<int>> users_of(const Graph& graph) {
  std::vector<std::vector<int>> users(graph.nodes().size());
  for (std::size_t id = 0; id < users.size(); ++id)
    for (int operand : graph.nodes()[id].operands()) users[static_cast<std::size_t>(operand)].push_back(static_cast<int>(id));
  for (const Output& output : graph.outputs()) users[static_cast<std::size_t>(output.node)].push_back(is_output);
  return users;
}

bool is_anchor(const Node& node) {
  return std::visit(
      []<class Op>(const Op&) {
        return std::is_same_v<Op, Matmul> || std::is_same_v<Op, Softmax> || std::is_same_v<Op, ReduceSum> ||
               std::is_same_v<Op, ReduceMax>;
      },
      node.op);
}

std::vector<StagePlan> plan_stages(const Graph& graph, bool fuse) { return Planner(graph, fuse).take(); }

}  // namespace attune
