#include "tools/attune/graph_text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tools/attune/json_text.h"

namespace attune {
namespace {

constexpr std::array formula_names = {"free", "fixed", "product", "quotient", "sum", "slice"};

std::string_view formula_name(Formula formula) { return formula_names[static_cast<std::size_t>(formula)]; }

template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, Names>) return std::string(sentence(value).view());
  else if constexpr (std::is_same_v<T, Kind>) return std::string(name_of(value));
  else if constexpr (std::is_same_v<T, Name>) return std::string(value);
  else if constexpr (requires { value.size(); }) return fmt::format("[{}]", fmt::join(value, ", "));
  else return fmt::format("{}", value);
}

template <class Op>
std::string fields_text(const Op& op) {
  std::string text;
  std::apply([&](const auto&... field) { ((text += fmt::format(" {}={}", field.name, value_text(op.*field.member))), ...); }, Op::fields);
  return text;
}

nlohmann::ordered_json names_json(const Names& names) {
  auto list = nlohmann::ordered_json::array();
  for (Name name : names) list.push_back(std::string(name));
  return list;
}

std::string_view in_place_text(const Output& output) { return output.is_in_place() ? ", in the memory of the input" : ""; }

}  // namespace

std::string graph_text(const Graph& graph) {
  std::string text;
  for (std::size_t id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    std::string operands;
    for (const int operand : node.operands()) operands += fmt::format("{}%{}", operands.empty() ? "" : ", ", operand);
    const std::string call =
        std::visit([&]<class Op>(const Op& op) { return fmt::format("{}({}){}", Op::name, operands, fields_text(op)); }, node.op);
    text += fmt::format("%{} = {:48} {} {}\n", id, call, name_of(node.type.kind), sentence(node.type.dims).view());
  }
  for (const Output& output : graph.outputs())
    text += fmt::format("{} = %{} {}{}\n", output.name, output.node, sentence(output.dims).view(), in_place_text(output));
  return text;
}

std::string signature_text(const LoadedGraph& loaded) {
  std::string text = loaded.name + (loaded.parameters.empty() ? "" : " (" + loaded.parameters + ")") + "\n";
  for (const Node& node : loaded.graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op))
      text += fmt::format("input  {:16} {:8} {}\n", input->label, name_of(input->type.kind), sentence(input->type.dims).view());
  for (const Output& output : loaded.graph.outputs())
    text += fmt::format("output {:16} {:8} {}{}\n", output.name, name_of(loaded.graph.node(output.node).type.kind), sentence(output.dims).view(),
                        in_place_text(output));
  for (const DimInfo& info : loaded.graph.dim_infos()) {
    const Derivation& d = info.derivation;
    if (d.formula == Formula::fixed) text += fmt::format("dim    {} = {}\n", info.name(), d.value);
    else if (d.formula == Formula::slice) text += fmt::format("dim    {} = {}\n", info.name(), written(Steps::of(d.value), d.operands[0]).view());
    else if (d.formula != Formula::free)
      text += fmt::format("dim    {} = {} of {}{}\n", info.name(), formula_name(d.formula), sentence(d.operands).view(),
                          d.value == 1 ? "" : fmt::format(" and {}", d.value));
  }
  return text;
}

std::string signature_json(const LoadedGraph& loaded) {
  using nlohmann::ordered_json;
  ordered_json root = {{"name", loaded.name}, {"parameters", loaded.parameters}, {"inputs", ordered_json::array()},
                       {"outputs", ordered_json::array()}, {"dims", ordered_json::array()}};
  for (const Node& node : loaded.graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op))
      root["inputs"].push_back(
          {{"name", std::string(input->label)}, {"kind", std::string(name_of(input->type.kind))}, {"dims", names_json(input->type.dims)}});
  for (const Output& output : loaded.graph.outputs())
    root["outputs"].push_back({{"name", std::string(output.name)},
                               {"kind", std::string(name_of(loaded.graph.node(output.node).type.kind))},
                               {"dims", names_json(output.dims)}});
  for (std::size_t i = 0; i < loaded.graph.outputs().size(); ++i)
    if (loaded.graph.outputs()[i].is_in_place()) root["outputs"][i]["in_place"] = true;
  for (const DimInfo& info : loaded.graph.dim_infos()) {
    const Derivation& d = info.derivation;
    ordered_json dim = {{"name", std::string(info.name())}, {"formula", std::string(formula_name(d.formula))}};
    if (!d.operands.empty()) dim["operands"] = names_json(d.operands);
    if (d.formula != Formula::free) dim["value"] = d.value;
    root["dims"].push_back(std::move(dim));
  }
  return text_of_json(root) + "\n";
}

}  // namespace attune
