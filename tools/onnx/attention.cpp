#include "tools/onnx/attention.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tools/onnx/operators.h"

namespace attune {
namespace {

/// What beside Q, K and V does not go together; empty for a good node.
std::string attention_problem(const OnnxNode& node, const AttentionShape& shape) {
  if (node.has("past_key") != node.has("past_value")) return "input 'past_key': comes with 'past_value' or not at all; one of them is missing";
  std::int64_t keys = shape.fresh;
  for (const auto& [input, width] : {std::pair{"past_key", shape.depth}, {"past_value", shape.value_depth}}) {
    if (!node.has(input)) continue;
    const OnnxTensor& past = node.inputs.at(input);
    if (past.rank() != 4 || past.extent(0) != shape.batch || past.extent(1) != shape.heads || past.extent(3) != width)
      return fmt::format("input '{}': is {}; [{} x {} x past x {}] goes with the others", input, shape_text(past.extents), shape.batch, shape.heads, width);
    keys = shape.fresh + past.extent(2);
  }
  if (node.has("past_key") && node.inputs.at("past_key").extent(2) != node.inputs.at("past_value").extent(2))
    return fmt::format("input 'past_value': is {}; it must be as long as past_key, which is {}", shape_text(node.inputs.at("past_value").extents),
                       shape_text(node.inputs.at("past_key").extents));
  if (node.has("nonpad_kv_seqlen")) {
    const OnnxTensor& lengths = node.inputs.at("nonpad_kv_seqlen");
    if (node.has("past_key")) return "input 'nonpad_kv_seqlen': does not go with past_key and past_value; one way to keep a cache is right";
    if (lengths.element->kind != Kind::i64 || lengths.extents != std::vector{shape.batch})
      return fmt::format("input 'nonpad_kv_seqlen': is {} {}; int64 [{}] is right", lengths.element->name, shape_text(lengths.extents), shape.batch);
  }
  if (node.has("attn_mask")) {
    const OnnxTensor& mask = node.inputs.at("attn_mask");
    const std::array<std::int64_t, 4> whole = {shape.batch, shape.query_heads, shape.queries, keys};
    bool broadcasts = mask.rank() >= 1 && mask.rank() <= 4 && mask.extents.back() <= keys;
    for (std::size_t i = 0; broadcasts && i + 1 < mask.rank(); ++i) broadcasts = mask.extent(i) == 1 || mask.extent(i) == whole[4 - mask.rank() + i];
    if (!broadcasts)
      return fmt::format("input 'attn_mask': is {}; it must broadcast to [{} x {} x {} x {}], whose last axis may be shorter", shape_text(mask.extents), whole[0], whole[1], whole[2],
                         whole[3]);
  }
  return softmax_precision_problem(node);
}

class AttentionBuilder {
 public:
  AttentionBuilder(const OnnxNode& node, const AttentionShape& shape) : node_(node), shape_(shape) {}

  NodeGraph graph() {
    const Value q = queries_of_q();
    const Value k = with_past("past_key", "present_key", key_heads(), depth);
    const Value v = with_past("past_value", "present_value", value_heads(), value_depth);
    const Value product = matmul(q, k, depth);
    const Value raw = node_.is_set("scale") ? scale(product, node_.number("scale")) : scale(product, 1 / sqrt(extent(depth)));
    const double cap = node_.number("softcap");
    const Value capped = cap > 0 ? cap * tanh(raw / cap) : raw;
    const Value hidden = masked(capped);
    const Value weights = softmax(hidden, keys);
    show("qk_matmul_output", std::array{raw, capped, hidden, weights}[static_cast<std::size_t>(node_.number("qk_matmul_output_mode"))]);
    if (node_.wants("Y")) write_y(matmul(weights, v, keys));
    g.finish();
    return std::move(result_);
  }

 private:
  Value queries_of_q() {
    const Part groups(group, shape_.group()), all_heads(heads, shape_.heads);
    const Dim query_heads = g.dim("query_heads"), q_model = shape_.is_grouped() ? g.dim("q_model") : model;
    if (shape_.is_3d && shape_.is_grouped()) return split(g.input("Q", {batch, queries, q_model}), q_model, {all_heads, groups, depth});
    if (shape_.is_3d) return split(g.input("Q", {batch, queries, q_model}), q_model, {all_heads, depth});
    if (shape_.is_grouped()) return split(g.input("Q", {batch, query_heads, queries, depth}), query_heads, {heads, groups});
    return g.input("Q", {batch, heads, queries, depth});
  }
  /// K by heads, along `fresh`. The widths of grouped 3-D ones are other multiples of depth than those of Q: both would say what depth is, so that K
  /// is declared with its last axis taken apart.
  Value key_heads() {
    if (!shape_.is_3d) return g.input("K", {batch, heads, fresh, depth});
    if (!shape_.is_grouped()) return split(g.input("K", {batch, fresh, model}), model, {{heads, shape_.heads}, depth});
    result_.declared["K"] = {shape_.batch, shape_.fresh, shape_.heads, shape_.depth};
    return g.input("K", {batch, fresh, heads, depth});
  }
  Value value_heads() {
    const Dim v_model = g.dim("v_model");
    if (shape_.is_3d) return split(g.input("V", {batch, fresh, v_model}), v_model, {{heads, shape_.heads}, value_depth});
    return g.input("V", {batch, heads, fresh, value_depth});
  }
  /// The rows of a cache and the fresh ones behind them, along `keys`.
  Value with_past(Name past_name, Name present_name, Value rows, Dim width) {
    const Value present =
        node_.has(past_name) ? concat({{g.input(past_name, {batch, heads, past, width}), past}, {rows, fresh}}, keys) : rename(rows, fresh, keys);
    if (node_.wants(present_name)) g.output(present_name, present, {batch, heads, keys, width});
    return present;
  }

  /// attn_mask along the dims that it has: axes of extent 1 are left out, they broadcast by name; keys that it lacks are hidden.
  Value with_mask(Value scores) {
    const OnnxTensor& mask_tensor = node_.inputs.at("attn_mask");
    const bool is_short = mask_tensor.extents.back() != total_keys();
    const std::array<Dim, 5> axes = {batch, heads, group, queries, is_short ? mask_keys : keys};
    Names dims;
    std::vector<std::int64_t> kept;
    const auto keep = [&](Dim dim, std::int64_t extent) { dims.add(dim.name), kept.push_back(extent); };
    for (std::size_t i = 0; i < mask_tensor.rank(); ++i) {
      const std::size_t axis = 4 - mask_tensor.rank() + i;  // of the four of the scores
      const std::int64_t extent = mask_tensor.extent(i);
      if (axis != 3 && extent == 1) continue;
      if (axis == 1 && shape_.is_grouped()) keep(heads, shape_.heads), keep(group, shape_.group());
      else keep(axes[axis > 1 ? axis + 1 : axis], extent);
    }
    if (kept != mask_tensor.extents) result_.declared["attn_mask"] = kept;
    Value table = g.input("attn_mask", dims, mask_tensor.element->kind, Here::current());
    if (is_short) table = gather(table, index(keys), mask_keys);
    if (kind_of(table) == Kind::boolean) return mask(scores, table);
    if (kind_of(table) != Kind::real) table = to_real(table);
    return scores + (is_short ? select(index(keys) < extent(mask_keys), table, -HUGE_VAL) : table);
  }
  std::int64_t total_keys() const { return shape_.fresh + (node_.has("past_key") ? node_.inputs.at("past_key").extent(2) : 0); }

  Value masked(Value scores) {
    if (node_.has("attn_mask")) scores = with_mask(scores);
    const bool has_lengths = node_.has("nonpad_kv_seqlen");
    const Value lengths = has_lengths ? g.input("nonpad_kv_seqlen", {batch}, Kind::i64) : extent(keys);
    if (has_lengths) scores = mask(scores, index(keys) < lengths);
    // the position of a query among the keys
    Value position = index(queries);
    if (node_.has("past_key")) position = position + extent(past);
    if (has_lengths) position = position + (lengths - extent(queries));
    if (node_.number("is_causal") != 0) scores = mask(scores, index(keys) <= position);
    const std::int64_t left = node_.integer("left_window_size", -1), right = node_.integer("right_window_size", -1);
    if (left >= 0) scores = mask(scores, position - index(keys) <= left);
    if (right >= 0) scores = mask(scores, index(keys) - position <= right);
    return scores;
  }

  /// Scores or weights, if the node wants them.
  void show(Name name, Value scores) {
    if (!node_.wants(name)) return;
    const Dim all_heads = g.dim("all_heads");
    if (shape_.is_grouped()) g.output(name, merge(scores, {heads, group}, all_heads), {batch, all_heads, queries, keys});
    else g.output(name, scores, {batch, heads, queries, keys});
  }
  void write_y(Value y) {
    const Dim joined = g.dim("joined");
    if (shape_.is_3d)
      return g.output("Y", shape_.is_grouped() ? merge(y, {heads, group, value_depth}, joined) : merge(y, {heads, value_depth}, joined),
                      {batch, queries, joined});
    if (shape_.is_grouped()) return g.output("Y", merge(y, {heads, group}, joined), {batch, joined, queries, value_depth});
    g.output("Y", y, {batch, heads, queries, value_depth});
  }

  const OnnxNode& node_;
  const AttentionShape& shape_;
  NodeGraph result_;
  Graph& g = result_.graph;
  Dim batch = g.dim("batch"), heads = g.dim("heads"), group = g.dim("group"), queries = g.dim("queries"), keys = g.dim("keys");
  Dim past = g.dim("past"), fresh = g.dim("fresh"), mask_keys = g.dim("mask_keys");
  Dim depth = g.dim("depth"), value_depth = g.dim("value_depth"), model = g.dim("model");
};

NodeGraph attention_graph(const OnnxNode& node) {
  const AttentionShape shape = attention_shape(node);
  NodeGraph none;
  none.problem = shape.problem.empty() ? attention_problem(node, shape) : shape.problem;
  return none.problem.empty() ? AttentionBuilder(node, shape).graph() : std::move(none);
}

constexpr OnnxInput attention_inputs[] = {
    {"Q", true}, {"K", true}, {"V", true}, {"attn_mask"}, {"past_key"}, {"past_value"}, {"nonpad_kv_seqlen", false, 24}};
constexpr std::string_view attention_outputs[] = {"Y", "present_key", "present_value", "qk_matmul_output"};
constexpr OnnxAttributeRule attention_attributes[] = {{"is_causal", OnnxAttributeKind::integer, 0, 1},
                                                      {"kv_num_heads", OnnxAttributeKind::integer, 1, 1 << 20},
                                                      {"left_window_size", OnnxAttributeKind::integer, -1, 1 << 30, 25},
                                                      {"q_num_heads", OnnxAttributeKind::integer, 1, 1 << 20},
                                                      {"qk_matmul_output_mode", OnnxAttributeKind::integer, 0, 3},
                                                      {"right_window_size", OnnxAttributeKind::integer, -1, 1 << 30, 25},
                                                      {"scale", OnnxAttributeKind::real},
                                                      {"softcap", OnnxAttributeKind::real},
                                                      {"softmax_precision"}};

}  // namespace

/// Opsets 23, 24 (lengths of keys) and 25 (windows). Scores are scaled, capped, biased and masked in this order.
OnnxOperator attention_operator() { return {"Attention", "", 23, attention_inputs, attention_outputs, attention_attributes, attention_graph}; }

}  // namespace attune
