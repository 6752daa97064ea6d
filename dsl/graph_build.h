/// Dims, inputs and outputs of a graph that grows: definitions of dsl/graph.h.
#pragma once

#include "dsl/extent_product.h"
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

constexpr std::int64_t fixed_extent(Value value, Name dim) {
  for (const DimInfo& info : value.graph->dim_infos())
    if (info.name() == dim && info.derivation.formula == Formula::fixed) return info.derivation.value;
  return 0;
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

/// "is 4", "follows from [batch x tokens]"
constexpr Text source_of(const Derivation& derivation) {
  return derivation.formula == Formula::fixed ? sentence("is ", derivation.value) : sentence("follows from ", derivation.operands);
}

constexpr void Graph::derive(const Derivation& derivation, std::string_view who, Here at) {
  dim(derivation.dim, 0, at);
  for (Name operand : derivation.operands) dim(operand, 0, at);
  DimInfo* info = find(derivation.dim);
  const auto stated = [&](Name name) -> const Derivation* {
    const DimInfo* of = find(name);
    return of == nullptr ? nullptr : &of->derivation;
  };
  if (info == nullptr || is_stated(derivation, stated)) return;
  if (info->derivation.formula == Formula::free)
    info->derivation = derivation;
  else if (!(info->derivation == derivation)) {
    const bool is_declared = info->derivation.formula == Formula::fixed && derivation.formula != Formula::fixed;
    fail(at, who, ": the extent of ", derivation.dim, " ", source_of(info->derivation), " already, and ", source_of(derivation),
         is_declared ? " here; declared without an extent it takes that" : " here; a dim of another name is right");
  }
}

}  // namespace attune
