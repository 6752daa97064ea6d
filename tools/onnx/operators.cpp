#include "tools/onnx/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace attune {
namespace {

std::string_view without_default(std::string_view domain) { return domain == "ai.onnx" ? std::string_view{} : domain; }

template <class Rows>
std::string names_in(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) {
    if constexpr (requires { row.name; }) names.push_back(row.name);
    else names.push_back(row);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

template <class Rows>
const auto* find_row(const Rows& rows, std::string_view name) {
  const auto found = std::ranges::find_if(rows, [&](const auto& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::string input_problem(const OnnxOperator& row, const OnnxNode& node) {
  for (const auto& [name, tensor] : node.inputs) {
    const OnnxInput* input = find_row(row.inputs, name);
    if (input == nullptr) return fmt::format("input '{}': {} has none of the name; it has {}", name, row.name, names_in(row.inputs));
    if (node.opset < input->since) return fmt::format("input '{}': {} has it from opset {} on; the node is of opset {}", name, row.name, input->since, node.opset);
    for (const std::int64_t extent : tensor.extents)
      if (extent < 0) return fmt::format("input '{}': is {}; extents are numbers from 0 on", name, shape_text(tensor.extents));
  }
  for (const OnnxInput& input : row.inputs)
    if (input.is_required && !node.has(input.name)) return fmt::format("input '{}': is missing; {} needs it", input.name, row.name);
  return {};
}

std::string attribute_problem(const OnnxOperator& row, const OnnxNode& node, const std::string& name, const OnnxAttribute& value) {
  const OnnxAttributeRule* rule = find_row(row.attributes, name);
  if (rule == nullptr) return fmt::format("attribute '{}': {} has none of the name; it has {}", name, row.name, names_in(row.attributes));
  if (node.opset < rule->since) return fmt::format("attribute '{}': {} has it from opset {} on; the node is of opset {}", name, row.name, rule->since, node.opset);
  if (rule->kind == OnnxAttributeKind::graph)
    return std::holds_alternative<std::shared_ptr<const OnnxSubgraph>>(value) ? std::string() : fmt::format("attribute '{}': is no graph; {} takes one", name, row.name);
  if (rule->kind == OnnxAttributeKind::text) return std::holds_alternative<std::string>(value) ? std::string() : fmt::format("attribute '{}': is no text; {} takes one", name, row.name);
  const double* number = std::get_if<double>(&value);
  if (number == nullptr) return fmt::format("attribute '{}': is no number; {} takes one", name, row.name);
  if (rule->kind == OnnxAttributeKind::integer && *number != std::floor(*number)) return fmt::format("attribute '{}': is {}; {} takes an integer", name, *number, row.name);
  if (*number >= rule->low && *number <= rule->high) return {};
  const std::string right = std::isinf(rule->high) ? fmt::format("at least {}", rule->low) : fmt::format("from {} to {}", rule->low, rule->high);
  return fmt::format("attribute '{}': is {}; it must be {}", name, *number, right);
}

std::string node_problem(const OnnxOperator& row, const OnnxNode& node) {
  if (node.opset < row.since) return fmt::format("opset {}: has no {}; opset {} has it first", node.opset, row.name, row.since);
  if (std::string problem = input_problem(row, node); !problem.empty()) return problem;
  for (const auto& [name, value] : node.attributes)
    if (std::string problem = attribute_problem(row, node, name, value); !problem.empty()) return problem;
  for (const std::string& output : node.outputs)
    if (std::ranges::find(row.outputs, output) == row.outputs.end())
      return fmt::format("output '{}': {} has none of the name; it has {}", output, row.name, names_in(row.outputs));
  if (node.outputs.empty()) return fmt::format("{}: no output is asked for; it has {}", row.name, names_in(row.outputs));
  return {};
}

}  // namespace

std::span<const OnnxOperator> onnx_operators() {
  static const std::array rows = {attention_operator(), flex_attention_operator(), linear_attention_operator(), rotary_embedding_operator()};
  return rows;
}

const OnnxOperator* find_operator(std::string_view name, std::string_view domain) {
  for (const OnnxOperator& row : onnx_operators())
    if (row.name == name && row.domain == without_default(domain)) return &row;
  return nullptr;
}

NodeGraph node_graph(const OnnxNode& node) {
  const auto refused = [](std::string problem) {
    NodeGraph none;
    none.problem = std::move(problem);
    return none;
  };
  const OnnxOperator* row = find_operator(node.op, node.domain);
  if (row == nullptr)
    return refused(fmt::format("operator '{}{}{}': is not supported; {} are", node.domain, node.domain.empty() ? "" : ".", node.op, names_in(onnx_operators())));
  if (std::string problem = node_problem(*row, node); !problem.empty()) return refused(std::move(problem));
  NodeGraph built = row->build(node);
  if (built.problem.empty() && !built.graph.problem().empty()) built.problem = fmt::format("{}: {}", row->name, built.graph.problem().view());
  return built;
}

}  // namespace attune
