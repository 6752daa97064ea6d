/// What is written in place, and the order that it asks for: the definitions of dsl/graph.h.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// The node is one of those that change the memory of an input.
constexpr bool is_update(const Graph& graph, int node) {
  for (const Output& output : graph.outputs())
    if (output.is_in_place())
      for (int id = output.node; id != output.input; id = graph.node(id).inputs[0])
        if (id == node) return true;
  return false;
}

constexpr void Graph::output_in_place(Value input, Value updated, Here at) {
  if (input.graph != this || updated.graph != this) return fail(at, "output: what is written in place belongs to another graph");
  const auto* in = std::get_if<Input>(&node(input.id).op);
  if (in == nullptr) return fail(at, "output: what is written in place is no input; the memory of an input is");
  int id = updated.id;
  while (std::holds_alternative<WriteRows>(node(id).op)) id = node(id).inputs[0];
  if (id != input.id || id == updated.id)
    return fail(at, "output: ", in->label, " is written in place, but the value is not write_rows of that input; write_rows of it, or of what write_rows makes of it, is right");
  add_output({in->label, updated.id, in->type.dims, input.id}, at);
}

/// Which nodes are computed before an update of memory: those that need what stands there, though not if it comes to them by another update.
struct Readers {
  std::array<bool, Graph::max_nodes> is_before{};

  constexpr Readers(const Graph& graph, const std::array<bool, Graph::max_nodes>& is_update, int update) {
    const int memory = graph.node(update).inputs[0];
    for (int id = memory + 1; id < static_cast<int>(graph.nodes().size()); ++id)
      for (const int operand : graph.node(id).operands()) {
        const auto o = static_cast<std::size_t>(operand);
        if (id != update && (operand == memory || (is_before[o] && !is_update[o]))) is_before[static_cast<std::size_t>(id)] = true;
      }
  }
};

/// Takes nodes as their operands, and what has to come before them, are done: what is left goes in a circle.
constexpr void Graph::require_order() {
  std::array<bool, max_nodes> is_update_of{}, is_done{};
  std::array<int, max_nodes> updates{};
  int update_count = 0;
  for (int id = 0; id < size_; ++id)
    if (is_update(*this, id)) is_update_of[static_cast<std::size_t>(id)] = true, updates[static_cast<std::size_t>(update_count++)] = id;
  if (update_count == 0) return;
  std::array<std::array<bool, max_nodes>, max_outputs * 2> before{};
  if (update_count > static_cast<int>(before.size())) return fail(Here{}, "output: ", update_count, " writes in place are too many; a graph has at most ", static_cast<int>(before.size()));
  for (int u = 0; u < update_count; ++u)
    before[static_cast<std::size_t>(u)] = Readers(*this, is_update_of, updates[static_cast<std::size_t>(u)]).is_before;
  const auto is_ready = [&](int id) {
    for (const int operand : node(id).operands())
      if (!is_done[static_cast<std::size_t>(operand)]) return false;
    for (int u = 0; u < update_count; ++u)
      for (int other = 0; updates[static_cast<std::size_t>(u)] == id && other < size_; ++other)
        if (before[static_cast<std::size_t>(u)][static_cast<std::size_t>(other)] && !is_done[static_cast<std::size_t>(other)]) return false;
    return true;
  };
  for (bool advances = true; advances;) {
    advances = false;
    for (int id = 0; id < size_; ++id)
      if (!is_done[static_cast<std::size_t>(id)] && is_ready(id)) is_done[static_cast<std::size_t>(id)] = advances = true;
  }
  for (int u = 0; u < update_count; ++u)
    for (int id = 0; id < size_; ++id) {
      if (is_done[static_cast<std::size_t>(id)] || !before[static_cast<std::size_t>(u)][static_cast<std::size_t>(id)]) continue;
      int memory = updates[static_cast<std::size_t>(u)];
      while (is_update_of[static_cast<std::size_t>(memory)]) memory = node(memory).inputs[0];
      const std::string_view who = operation_name(node(id).op);
      return fail(Here{}, "output: ", std::get<Input>(node(memory).op).label, " is written in place, but ", who,
                  " needs both what it held before and what is there after a write; one of them is right, or an output of its own");
    }
}

}  // namespace attune
