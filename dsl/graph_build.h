/// How a graph grows: the definitions of dsl/graph.h.
#pragma once

#include <utility>

#include "dsl/follow.h"
#include "dsl/graph.h"
#include "dsl/in_place.h"

namespace attune {

constexpr void Graph::require_name(Name name, std::string_view who, Here at) {
  if (name.empty()) return fail(at, who, ": a name is empty; letters, digits and _ make one");
  bool is_name = name.size() <= 40 && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name) is_name &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  if (!is_name) fail(at, who, ": ", name, " is not a name; at most 40 letters, digits and _, no digit first, make one");
}

constexpr DimInfo* Graph::find(Name name) {
  for (int i = 0; i < dim_count_; ++i)
    if (dims_[static_cast<std::size_t>(i)].name() == name) return &dims_[static_cast<std::size_t>(i)];
  return nullptr;
}

constexpr Dim Graph::dim(Name name, std::int64_t extent, Here at) {
  require_name(name, "dim", at);
  if (extent < 0) fail(at, "dim: the extent of ", name, " is ", extent, "; it must be positive");
  DimInfo* info = find(name);
  if (info == nullptr) {
    if (dim_count_ == max_dims) {
      fail(at, "dim: ", name, " is one too many; a graph has at most ", max_dims, " dims");
      return {this, dims_[0].name()};
    }
    info = &dims_[static_cast<std::size_t>(dim_count_++)];
    info->derivation.dim = name;
    info->at = at;
  }
  if (extent > 0) derive({name, Formula::fixed, {}, extent}, "dim", at);
  return {this, info->name()};
}

template <class Op>
constexpr Type Graph::check(const Op& op, std::span<const Value> inputs, Here at) {
  std::array<Type, max_operands> storage{};
  for (std::size_t i = 0; i < inputs.size(); ++i) storage[i] = node(inputs[i].id).type;
  const std::span<const Type> types(storage.data(), inputs.size());
  const int arity = Op::arity;
  if (arity >= 0 && arity != static_cast<int>(inputs.size())) {
    fail(at, Op::name, ": takes ", arity, " operands, got ", static_cast<int>(inputs.size()));
    return storage[0];
  }
  if constexpr (PointwiseOp<Op>) {
    const Checked checked = infer_pointwise(Op::signature, types);
    if (!checked.problem.empty()) fail(at, Op::name, ": ", checked.problem);
    return checked.type;
  } else if constexpr (CompositeOp<Op>) {
    if (const Text problem = op.check(types); !problem.empty()) {
      fail(at, Op::name, ": ", problem);
      return storage[0];
    }
    const int mark = size_;  // the expansion gives the type and is then dropped: the node keeps the operation's name
    const Type type = node(op.expand(inputs, at).id).type;
    hidden_ += size_ - mark - 1;
    size_ = mark;
    return type;
  } else {
    const Checked checked = op.infer(types);
    if (!checked.problem.empty())
      fail(at, Op::name, ": ", checked.problem);
    else if constexpr (requires { op.derive(types, [](const Derivation&) {}); })
      op.derive(types, [&](const Derivation& derivation) { derive(derivation, Op::name, at); });
    return checked.type;
  }
}

template <class Op>
constexpr Value Graph::add(const Op& op, std::span<const Value> inputs, Here at) {
  if (inputs.size() > max_operands) {
    fail(at, Op::name, ": has ", static_cast<int>(inputs.size()), " operands; at most ", max_operands, " are possible");
    inputs = inputs.first(max_operands);
  }
  Node added;
#ifdef __clang__
  added.op = AnyOp(op);
#else  // Each constructor of the variant calls the one before it: those of all operations take a third of this header's time. Clang needs them.
  added.op.template emplace<Op>(op);
#endif
  added.input_count = static_cast<int>(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].graph != this) fail(at, Op::name, ": an operand belongs to another graph");
    added.inputs[i] = inputs[i].graph == this ? inputs[i].id : 0;
  }
  added.type = check(op, inputs, at);
  if (added.type.dims.is_too_long())
    fail(at, Op::name, ": the result has more than ", Names::capacity, " dims; it begins with ", added.type.dims);
  if (size_ + hidden_ >= max_nodes) {
    fail(at, Op::name, ": is one operation too many; a graph has at most ", max_nodes, ", composites expanded");
    return {this, size_ - 1};
  }
  nodes_[static_cast<std::size_t>(size_)] = added;
  return {this, size_++};
}

constexpr Value Graph::input(Name name, const Names& dims, Kind kind, Here at) {
  require_name(name, "input", at);
  if (input_named(name) >= 0) fail(at, "input: ", name, " is there twice; every input has a name of its own");
  for (Name d : dims) {
    dim(d, 0, at);
    if (DimInfo* info = find(d); info != nullptr) info->is_bound = true;
  }
  return add(Input{name, {kind, dims}}, {}, at);
}

constexpr void Graph::output(Name name, Value value, const Names& dims, Here at) {
  if (value.graph != this) return fail(at, "output: ", name, " belongs to another graph");
  const Names& own = dims_of(value);
  require_name(name, "output", at);
  if (input_named(name) >= 0) fail(at, "output: ", name, " is an input too; every output has a name of its own");
  if (dims.is_too_long() || dims.size() != own.size() || !own.without(dims).empty() || !dims.without(own).empty())
    fail(at, "output: ", name, " is written as ", dims, ", but the value is ", own, "; each of its dims once, in any order, is right");
  add_output({name, value.id, dims}, at);
}

constexpr void Graph::add_output(const Output& output, Here at) {
  for (const Output& other : outputs())
    if (other.name == output.name) fail(at, "output: ", output.name, " is there twice; every output has a name of its own");
  if (output_count_ == max_outputs)
    fail(at, "output: ", output.name, " is one too many; a graph has at most ", max_outputs, " outputs");
  else
    outputs_[static_cast<std::size_t>(output_count_++)] = output;
}

constexpr void Graph::derive(const Derivation& derivation, std::string_view who, Here at) {
  dim(derivation.dim, 0, at);
  for (Name operand : derivation.operands) dim(operand, 0, at);
  DimInfo* info = find(derivation.dim);
  if (info == nullptr) return;
  if (info->derivation.formula == Formula::free)
    info->derivation = derivation;
  else if (!(info->derivation == derivation))
    fail(at, who, ": the extent of ", derivation.dim, " follows from something else already; give the result a dim of its own");
}

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
      return fail(info.at, "dim: the extent of ", info.name(), " follows from itself");
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

template <class T>
  requires std::integral<T> || std::floating_point<T>
constexpr Value constant(Graph& graph, T value, Here at) {
  if constexpr (std::is_same_v<T, bool> || std::floating_point<T>) {
    return literal(&graph, static_cast<double>(value), std::is_same_v<T, bool> ? Kind::boolean : Kind::real, at);
  } else {
    constexpr std::int64_t most = std::int64_t{1} << 53;  // a double holds all integers up to it
    const bool is_exact = !std::cmp_greater(+value, most) && !std::cmp_less(+value, -most);
    if (!is_exact) graph.fail(at, "constant: the integer is beyond 2^53 in size; a graph holds those from -2^53 to 2^53");
    return literal(&graph, is_exact ? static_cast<double>(value) : 0, Kind::i64, at);
  }
}

namespace detail {
/// Uses `call_in` of every operation here, where it is defined: the operations' functions refer to it before, and Clang
/// instantiates a template that a constant needs only at a use after its definition.
template <class... Ops>
constexpr bool are_defined(const std::variant<Ops...>*) {
  (static_cast<void>(&call_in<Ops>), ...);
  return true;
}
static_assert(are_defined(static_cast<const AnyOp*>(nullptr)));
}  // namespace detail

}  // namespace attune
