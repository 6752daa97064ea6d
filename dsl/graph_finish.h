/// What only a whole graph shows: extents of all dims, and the order of dims and nodes. Definitions of dsl/graph.h.
#pragma once

#include "dsl/follow.h"
#include "dsl/graph.h"

namespace attune {

constexpr void Graph::require_extent(Name dim) {
  const DimInfo* info = find(dim);
  if (info == nullptr || (info->derivation.formula == Formula::free && !info->is_bound))
    fail(info == nullptr ? Here{} : info->at, "dim: ", dim, " has no extent; no input has it, and it follows from nothing");
}

constexpr void Graph::require_positions(const DimInfo& info) {
  if (info.derivation.formula != Formula::slice) return;
  const DimInfo* from = find(info.derivation.operands[0]);
  if (from == nullptr || from->derivation.formula != Formula::fixed) return;
  const Text problem = follow(info.derivation, [&](Name) { return from->derivation.value; }).problem;
  if (!problem.empty()) fail(info.at, "slice: ", info.name(), " = ", written(Steps::of(info.derivation.value), from->name()), ": ", problem);
}

constexpr void Graph::order_dims() {
  std::array<DimInfo, max_dims> ordered{};
  std::array<bool, max_dims> is_done{};
  int count = 0;
  for (bool advances = true; advances;) {
    advances = false;
    for (int i = 0; i < dim_count_; ++i) {
      if (is_done[static_cast<std::size_t>(i)]) continue;
      const DimInfo& info = dims_[static_cast<std::size_t>(i)];
      bool is_ready = true;
      for (Name operand : info.derivation.operands) {
        bool found = false;
        for (int j = 0; j < count; ++j) found |= ordered[static_cast<std::size_t>(j)].name() == operand;
        is_ready &= found;
      }
      if (!is_ready) continue;
      ordered[static_cast<std::size_t>(count++)] = info;
      is_done[static_cast<std::size_t>(i)] = advances = true;
    }
  }
  for (int i = 0; i < dim_count_; ++i)
    if (const DimInfo& info = dims_[static_cast<std::size_t>(i)]; !is_done[static_cast<std::size_t>(i)])
      return fail(info.at, "dim: the extent of ", info.name(), " follows from itself, by ", info.derivation.operands,
                  "; a result of another extent needs a dim of another name");
  dims_ = ordered;
}

constexpr void Graph::order_nodes() {
  std::array<int, max_nodes> place{}, order{}, pending{};  // place: 1 + the new number, or 0
  int count = 0;
  const auto take = [&](int id) {
    order[static_cast<std::size_t>(count)] = id;
    place[static_cast<std::size_t>(id)] = ++count;
  };
  for (int id = 0; id < size_; ++id)
    if (std::holds_alternative<Input>(node(id).op)) take(id);
  for (const Output& output : outputs())
    for (int depth = 0, id = output.node; depth >= 0;) {  // pending[0 .. depth) use the node `id`
      int next = -1;
      for (int operand : node(id).operands())
        if (next < 0 && place[static_cast<std::size_t>(operand)] == 0) next = operand;
      if (next >= 0) {
        pending[static_cast<std::size_t>(depth++)] = id;
        id = next;
      } else {
        if (place[static_cast<std::size_t>(id)] == 0) take(id);
        if (--depth >= 0) id = pending[static_cast<std::size_t>(depth)];
      }
    }
  const std::array<Node, max_nodes> unordered = nodes_;
  for (int i = 0; i < count; ++i) {
    Node& ordered = nodes_[static_cast<std::size_t>(i)];
    ordered = unordered[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
    for (int k = 0; k < ordered.input_count; ++k)
      ordered.inputs[static_cast<std::size_t>(k)] = place[static_cast<std::size_t>(ordered.inputs[static_cast<std::size_t>(k)])] - 1;
  }
  for (int i = count; i < size_; ++i) nodes_[static_cast<std::size_t>(i)] = {};
  size_ = count;
  for (int i = 0; i < output_count_; ++i) {
    Output& output = outputs_[static_cast<std::size_t>(i)];
    output.node = place[static_cast<std::size_t>(output.node)] - 1;
    if (output.is_in_place()) output.input = place[static_cast<std::size_t>(output.input)] - 1;
  }
}

constexpr bool Graph::is_used(Name dim) const {
  for (const Node& node : nodes()) {
    if (node.type.dims.has(dim)) return true;
    if (const auto* extent = std::get_if<Extent>(&node.op); extent != nullptr && extent->dim == dim) return true;
  }
  for (const DimInfo& info : dim_infos())
    if (info.derivation.operands.has(dim)) return true;
  return false;
}

/// From the last dim on: what only an unused dim follows from is unused too, and stands before it.
constexpr void Graph::drop_unused_dims() {
  for (int i = dim_count_ - 1; i >= 0; --i) {
    if (is_used(dims_[static_cast<std::size_t>(i)].name())) continue;
    for (int j = i; j + 1 < dim_count_; ++j) dims_[static_cast<std::size_t>(j)] = dims_[static_cast<std::size_t>(j + 1)];
    dims_[static_cast<std::size_t>(--dim_count_)] = {};
  }
}

constexpr void Graph::finish() {
  if (output_count_ == 0) return fail(Here{}, "graph: has no output; g.output(name, value, dims) makes one");
  order_dims();
  for (const Node& node : nodes())
    for (Name dim : node.type.dims) require_extent(dim);
  for (const Node& node : nodes())
    if (const auto* extent = std::get_if<Extent>(&node.op)) require_extent(extent->dim);
  for (const DimInfo& info : dim_infos())
    for (Name operand : info.derivation.operands) require_extent(operand);
  for (const DimInfo& info : dim_infos()) require_positions(info);
  if (!problem_.empty()) return;
  order_nodes();
  drop_unused_dims();
  require_order();
}

}  // namespace attune
