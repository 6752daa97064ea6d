#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/variants/recurrent_attention.h"
#include "tools/onnx/operators.h"

namespace attune {
namespace {

struct LinearShape {
  UpdateRule rule = UpdateRule::gated_delta;
  std::int64_t batch = 0, tokens = 0, query_heads = 0, heads = 0, depth = 0, value_depth = 0;
  bool has_channel_decay = false, has_shared_beta = false;
  std::string problem;

  bool is_gated() const { return rule == UpdateRule::gated || rule == UpdateRule::gated_delta; }
  bool has_delta() const { return rule == UpdateRule::delta || rule == UpdateRule::gated_delta; }
  std::int64_t group() const { return query_heads / heads; }
};

/// The rule by its name, and the inputs that it takes beside query, key and value.
std::string rule_problem(const OnnxNode& node, LinearShape& shape) {
  constexpr auto rules = enumerators(UpdateRule{});
  const std::string name = node.text("update_rule", "gated_delta");
  const auto found = std::ranges::find(rules, name);
  if (found == rules.end()) return fmt::format("attribute 'update_rule': is '{}'; {} are right", name, fmt::join(rules, ", "));
  shape.rule = static_cast<UpdateRule>(found - rules.begin());
  for (const auto& [input, is_right] : {std::pair{"decay", shape.is_gated()}, {"beta", shape.has_delta()}}) {
    if (is_right && !node.has(input)) return fmt::format("input '{}': is missing; the update rule {} needs it", input, name);
    if (!is_right && node.has(input)) return fmt::format("input '{}': is there; the update rule {} has none", input, name);
  }
  return {};
}

std::string heads_problem(const OnnxNode& node, LinearShape& shape) {
  for (const char* attribute : {"q_num_heads", "kv_num_heads"})
    if (!node.is_set(attribute)) return fmt::format("attribute '{}': is missing; LinearAttention needs it", attribute);
  shape.query_heads = node.integer("q_num_heads"), shape.heads = node.integer("kv_num_heads");
  if (shape.query_heads % shape.heads != 0) return fmt::format("attribute 'q_num_heads': is {}; a multiple of kv_num_heads, {}, is right", shape.query_heads, shape.heads);
  for (const auto& [input, heads] : {std::pair{"query", shape.query_heads}, {"value", shape.heads}})
    if (const OnnxTensor& tensor = node.inputs.at(input); tensor.rank() != 3 || tensor.extent(2) % heads != 0)
      return fmt::format("input '{}': is {}; [batch x tokens x {} * width] is right", input, shape_text(tensor.extents), heads);
  return {};
}

/// Whether the inputs go together, which follows from query, value and the number of heads.
std::string agreement_problem(const OnnxNode& node, const LinearShape& shape) {
  using Extents = std::vector<std::int64_t>;
  const std::int64_t key_width = shape.heads * shape.depth;
  const std::pair<const char*, Extents> right[] = {{"key", {shape.batch, shape.tokens, key_width}},
                                                   {"value", {shape.batch, shape.tokens, shape.heads * shape.value_depth}},
                                                   {"past_state", {shape.batch, shape.heads, shape.depth, shape.value_depth}},
                                                   {"decay", {shape.batch, shape.tokens, shape.has_channel_decay ? key_width : shape.heads}},
                                                   {"beta", {shape.batch, shape.tokens, shape.has_shared_beta ? 1 : shape.heads}}};
  for (const auto& [input, extents] : right)
    if (node.has(input) && node.inputs.at(input).extents != extents)
      return fmt::format("input '{}': is {}; {} goes with the others", input, shape_text(node.inputs.at(input).extents), shape_text(extents));
  return {};
}

LinearShape linear_shape(const OnnxNode& node) {
  LinearShape shape;
  const auto refuse = [&](std::string problem) { return shape.problem = std::move(problem), shape; };
  for (const auto& [name, tensor] : node.inputs)
    if (tensor.element->kind != Kind::real) return refuse(fmt::format("input '{}': is {}; it must be real", name, tensor.element->name));
  if (std::string problem = rule_problem(node, shape); !problem.empty()) return refuse(std::move(problem));
  if (std::string problem = heads_problem(node, shape); !problem.empty()) return refuse(std::move(problem));
  const OnnxTensor &query = node.inputs.at("query"), &value = node.inputs.at("value");
  shape.batch = query.extent(0), shape.tokens = query.extent(1);
  shape.depth = query.extent(2) / shape.query_heads, shape.value_depth = value.extent(2) / shape.heads;
  const auto width = [&](const char* input) {
    return node.has(input) && node.inputs.at(input).rank() == 3 ? node.inputs.at(input).extent(2) : shape.heads;
  };
  shape.has_channel_decay = width("decay") != shape.heads, shape.has_shared_beta = width("beta") == 1;
  shape.problem = agreement_problem(node, shape);
  return shape;
}

class LinearBuilder {
 public:
  LinearBuilder(const OnnxNode& node, const LinearShape& shape) : node_(node), shape_(shape) {}

  NodeGraph graph() {
    const Value q = queries(), k = by_heads("key");
    Value v = split(g.input("value", {batch, tokens, v_model}), v_model, {{heads, shape_.heads}, value_depth});
    RecurrentParts parts;
    if (node_.has("past_state")) parts.initial = g.input("past_state", {batch, heads, depth, value_depth});
    if (shape_.is_gated()) parts.log_decay = shape_.has_channel_decay ? by_heads("decay") : g.input("decay", {batch, tokens, heads});
    if (shape_.has_delta()) {
      const Value beta = beta_input();
      parts.beta = beta;
      v = v * beta;
    }
    const double factor = node_.number("scale");
    const Value scaled = factor == 0 ? scale(q, 1 / sqrt(extent(depth))) : scale(q, factor);
    if (node_.wants("output")) write(recurrence(scaled, k, v, parts, tokens, depth));
    if (node_.wants("present_state")) g.output("present_state", recurrence_state(k, v, parts, tokens, depth), {batch, heads, depth, value_depth});
    g.finish();
    return std::move(result_);
  }

 private:
  bool is_grouped() const { return shape_.group() != 1; }
  Value queries() {
    const Dim q_model = g.dim("q_model");
    const Value query = g.input("query", {batch, tokens, q_model});
    return is_grouped() ? split(query, q_model, {{heads, shape_.heads}, {group, shape_.group()}, depth})
                        : split(query, q_model, {{heads, shape_.heads}, depth});
  }
  /// Declared with its last axis taken apart: the width of query says already what depth is.
  Value by_heads(Name name) {
    result_.declared[std::string(name)] = {shape_.batch, shape_.tokens, shape_.heads, shape_.depth};
    return g.input(name, {batch, tokens, heads, depth});
  }
  /// One number for all heads is declared without their axis.
  Value beta_input() {
    if (!shape_.has_shared_beta) return g.input("beta", {batch, tokens, heads});
    result_.declared["beta"] = {shape_.batch, shape_.tokens};
    return g.input("beta", {batch, tokens});
  }
  void write(Value y) {
    const Dim joined = g.dim("joined");
    g.output("output", is_grouped() ? merge(y, {heads, group, value_depth}, joined) : merge(y, {heads, value_depth}, joined),
             {batch, tokens, joined});
  }

  const OnnxNode& node_;
  const LinearShape& shape_;
  NodeGraph result_;
  Graph& g = result_.graph;
  Dim batch = g.dim("batch"), heads = g.dim("heads"), group = g.dim("group"), tokens = g.dim("tokens");
  Dim depth = g.dim("depth"), value_depth = g.dim("value_depth"), v_model = g.dim("v_model");
};

NodeGraph linear_graph(const OnnxNode& node) {
  const LinearShape shape = linear_shape(node);
  NodeGraph none;
  none.problem = shape.problem;
  return none.problem.empty() ? LinearBuilder(node, shape).graph() : std::move(none);
}

constexpr OnnxInput linear_inputs[] = {{"query", true}, {"key", true}, {"value", true}, {"past_state"}, {"decay"}, {"beta"}};
constexpr std::string_view linear_outputs[] = {"output", "present_state"};
constexpr OnnxAttributeRule linear_attributes[] = {{"chunk_size", OnnxAttributeKind::integer, -(1 << 30), 1 << 30},
                                                   {"kv_num_heads", OnnxAttributeKind::integer, 1, 1 << 20},
                                                   {"q_num_heads", OnnxAttributeKind::integer, 1, 1 << 20},
                                                   {"scale", OnnxAttributeKind::real, -HUGE_VAL},
                                                   {"update_rule", OnnxAttributeKind::text}};

}  // namespace

/// Opset 27: state = exp(decay) state + key (value - what the state has for the key)^T by the update rule, output = scale state^T query. `chunk_size`
/// is a hint to implementations, and changes nothing.
OnnxOperator linear_attention_operator() {
  return {"LinearAttention", "", 27, linear_inputs, linear_outputs, linear_attributes, linear_graph, OnnxRounding::of_results};
}

}  // namespace attune
