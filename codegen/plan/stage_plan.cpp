#include "codegen/plan/stage_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "codegen/plan/planning.h"

namespace attune {
namespace {

/// What the first kind that wants the node makes of it; each operation with a loop has one.
template <class... Kinds>
Claim claim(const Planning& planning, int node, std::type_identity<std::variant<Kinds...>>) {
  std::optional<Claim> found;
  ((found = found ? std::move(found) : Kinds::claim(planning, node)), ...);
  return std::move(found).value();
}

/// Builds the plan from the outputs backwards.
class Planner {
 public:
  Planner(const Graph& graph, bool fuse) : graph_(graph), planning_(graph, fuse) {
    find_updates();
    find_anchors();
    find_tables();
    for (const Output& output : graph.outputs()) require(output.node);
  }
  std::vector<StagePlan> take() { return in_order(std::move(stages_)); }

 private:
  struct Anchor {
    int node;
    Claim claim;
  };

  /// What changes the memory of an input, and what it needs of that memory beside the place: that is stored before.
  void find_updates() {
    for (int id = 0; id < static_cast<int>(graph_.nodes().size()); ++id) {
      if (!is_update(graph_, id)) continue;
      updates_.insert(id);
      const std::span<const int> operands = graph_.node(id).operands();
      for (const int operand : operands.subspan(1))
        if (reaches(graph_, operand, operands[0])) kept_.insert(operand);
    }
  }

  /// The stages with those that read memory before those that change it; the order is there (Graph::require_order).
  std::vector<StagePlan> in_order(std::vector<StagePlan> stages) const {
    if (updates_.empty()) return stages;
    const auto has = [](const std::vector<int>& values, int value) { return std::ranges::find(values, value) != values.end(); };
    const auto comes_before = [&](const StagePlan& a, const StagePlan& b) {
      const bool gives = !a.nodes.empty() && std::ranges::any_of(a.results, [&](int result) { return has(b.inputs, result); });
      return gives || (updates_.contains(b.results[0]) && &a != &b && has(a.inputs, graph_.node(b.results[0]).inputs[0]));
    };
    std::vector<StagePlan> ordered;
    std::vector<bool> is_done(stages.size());
    while (ordered.size() < stages.size()) {
      std::size_t next = 0;
      const auto waits = [&](std::size_t s) {
        for (std::size_t other = 0; other < stages.size(); ++other)
          if (!is_done[other] && other != s && comes_before(stages[other], stages[s])) return true;
        return false;
      };
      while (next < stages.size() && (is_done[next] || waits(next))) ++next;
      if (next == stages.size()) throw std::logic_error("internal: stages that write in place have no order");
      is_done[next] = true;
      ordered.push_back(stages[next]);
    }
    return ordered;
  }

  /// Every anchor that is a stage of its own, under the number of the value that its stage stores.
  void find_anchors() {
    std::map<int, Claim> found;
    for (int id = 0; id < static_cast<int>(graph_.nodes().size()); ++id)
      if (is_anchor(graph_.node(id))) found.emplace(id, claim(planning_, id, std::type_identity<StageRoles>{}));
    const std::set<int> own = own_stages(found);
    for (const auto& [id, of_node] : found)
      if (own.contains(id) && std::holds_alternative<OnlineSoftmaxRoles>(of_node.roles)) fused_.insert(id);
    for (auto& [id, of_node] : found) {
      if (!own.contains(id)) continue;
      const int least = std::max(id, of_node.last_change);
      int end = of_node.takes_epilogue ? end_of_epilogue(id, least, results_beside(of_node.roles)) : id;
      if (anchors_.contains(end)) end = least;  // of two sums that meet, the first takes the rest
      for (const int result : results_beside(of_node.roles)) stored_beside_.emplace(result, end);
      anchors_.emplace(end, Anchor{id, std::move(of_node)});
    }
  }

  /// The anchors that no other computes inside. What one inside would compute itself is open again: of a softmax over a product that is made of
  /// softmax weights, the product is the outer stage's, and the weights are stored.
  static std::set<int> own_stages(const std::map<int, Claim>& claims) {
    std::set<int> open, own;
    for (const auto& [id, of_node] : claims) open.insert(id);
    while (!open.empty()) {
      const auto is_outermost = [&](int id) { return std::ranges::none_of(open, [&](int other) { return claims.at(other).inside.contains(id); }); };
      const auto next = std::ranges::find_if(open, is_outermost);
      if (next == open.end()) throw std::logic_error("internal: stages compute each other");
      const int id = *next;
      own.insert(id);
      open.erase(id);
      for (const int inside : claims.at(id).inside) open.erase(inside);
    }
    return own;
  }

  /// Computed tables that are gathered and stored once: those that grow with the sum of dims and are read at each of their pairs (a bias by
  /// distance), and cosines and sines that are read for each element of dims that they lack (angles of positions, by every head).
  void find_tables() {
    for (int id = 0; id < static_cast<int>(graph_.nodes().size()); ++id) {
      const Node& node = graph_.node(id);
      const auto* gather = std::get_if<Gather>(&node.op);
      if (gather == nullptr || std::holds_alternative<Input>(graph_.node(node.inputs[0]).op)) continue;
      if (is_turning(graph_.node(node.inputs[0])) && !holds_anchor(node.inputs[0]) && is_repeated(id)) tables_.insert(node.inputs[0]);
      const Names& ids = graph_.node(node.inputs[1]).type.dims;
      const auto is_sum_of_ids = [&](const DimInfo& info) {
        const Derivation& from = info.derivation;
        return from.dim == gather->along && from.formula == Formula::sum && from.operands.size() > 1 && from.operands.without(ids).empty();
      };
      if (std::ranges::any_of(graph_.dim_infos(), is_sum_of_ids)) tables_.insert(node.inputs[0]);
    }
  }

  static bool is_turning(const Node& node) { return std::holds_alternative<Cos>(node.op) || std::holds_alternative<Sin>(node.op); }

  /// Something with a loop lies below the node, whose stage changes and stores it.
  bool holds_anchor(int id) const {
    bool is_found = false;
    look_below(graph_, id, [&](int next) { return !(is_found |= is_anchor(graph_.node(next))); });
    return is_found;
  }

  std::string reason_of_table(int id) const {
    return is_turning(graph_.node(id)) ? "a table that is read for each element of other dims" : "a table that is read for each pair of what it is the sum of";
  }

  /// Some user of the node has dims that it lacks.
  bool is_repeated(int id) const {
    return std::ranges::any_of(planning_.users()[static_cast<std::size_t>(id)],
                               [&](int user) { return !graph_.node(user).type.dims.without(graph_.node(id).type.dims).empty(); });
  }

  /// Follows the changes of the anchor's value; those up to `least` are part of its stage, later ones if they need nothing that it stores beside.
  int end_of_epilogue(int id, int least, const std::vector<int>& beside) const {
    for (const int change : epilogue_of(graph_, planning_.users(), id)) {
      if (kept_.contains(id)) return id;
      if (id >= least && is_used_by_fused_weights(change)) return id;
      const auto needs = [&](int result) {
        return std::ranges::any_of(graph_.node(change).operands(), [&](int operand) { return operand != id && reaches(graph_, operand, result); });
      };
      if (id >= least && std::ranges::any_of(beside, needs)) return id;
      id = change;
    }
    return id;
  }

  /// The node is part of a score that attention computes itself, or of what it makes of the weights: it belongs there.
  bool is_used_by_fused_weights(int id) const {
    const Names& dims = graph_.node(id).type.dims;
    return std::ranges::any_of(planning_.attentions(), [&](const auto& entry) {
      const auto& roles = entry.second.roles;
      return roles && fused_.contains(entry.first) && dims.has(roles->queries) && dims.has(roles->keys) &&
             reaches(graph_, roles->weights >= 0 ? roles->weights : roles->score(graph_), id);
    });
  }

  /// Makes the stage that stores the value, after those that it needs.
  void require(int id) {
    if (const auto beside = stored_beside_.find(id); beside != stored_beside_.end()) id = beside->second;
    if (!done_.insert(id).second) return;
    if (std::holds_alternative<Input>(graph_.node(id).op)) {
      if (std::ranges::any_of(graph_.outputs(), [&](const Output& o) { return o.node == id; }))
        stages_.push_back({PointwiseRoles{}, {id}, {}, {id}, "a copy of an argument"});
      return;
    }
    StagePlan plan{PointwiseRoles{}, {id}, {}, {}, tables_.contains(id) ? reason_of_table(id) : "elementwise"};
    std::set<int> own;
    if (const auto anchor = anchors_.find(id); anchor != anchors_.end()) {
      const auto& [node, of_node] = anchor->second;
      plan.roles = of_node.roles;
      plan.reason = of_node.reason;
      own = of_node.inside;
      own.insert(node);
      for (const int result : results_beside(of_node.roles)) plan.results.push_back(result);
    } else if (updates_.contains(id)) {
      plan.roles = WriteRowsRoles{id, graph_.node(id).inputs[0]};
      plan.reason = "written in place";
    } else if (kept_.contains(id)) {
      plan.reason = "read before the memory that it is made of is written";
    }
    std::set<int> nodes, inputs;
    for (const int result : plan.results) collect(result, own, nodes, inputs);
    for (int input : inputs) require(input);
    plan.nodes.assign(nodes.begin(), nodes.end());
    plan.inputs.assign(inputs.begin(), inputs.end());
    stages_.push_back(std::move(plan));
  }

  /// Elementwise, and a stage of its own.
  bool is_stored(int id) const { return tables_.contains(id) || kept_.contains(id) || updates_.contains(id); }

  /// The nodes from `id` down to values of other stages; of the anchors only `own` are inside.
  void collect(int id, const std::set<int>& own, std::set<int>& nodes, std::set<int>& inputs) const {
    if (nodes.contains(id)) return;
    nodes.insert(id);
    for (int operand : graph_.node(id).operands()) {
      const Node& node = graph_.node(operand);
      const bool is_outside = std::holds_alternative<Input>(node.op) || (is_anchor(node) && !own.contains(operand)) ||
                              (anchors_.contains(operand) && !own.contains(operand)) || is_stored(operand);
      if (is_outside)
        inputs.insert(operand);
      else
        collect(operand, own, nodes, inputs);
    }
  }

  const Graph& graph_;
  const Planning planning_;
  std::map<int, Anchor> anchors_;      // by the value that the stage stores
  std::map<int, int> stored_beside_;   // what a stage stores beside that value, to it
  std::set<int> fused_;    // the anchors of stages that compute scores themselves
  std::set<int> updates_;  // that change the memory of an input
  std::set<int> kept_;     // what they write, where it is made of that memory
  std::set<int> tables_;
  std::set<int> done_;
  std::vector<StagePlan> stages_;
};

}  // namespace

std::vector<StagePlan> plan_stages(const Graph& graph, bool fuse) { return Planner(graph, fuse).take(); }

}  // namespace attune
