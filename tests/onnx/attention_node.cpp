#include <cmath>

#include "tests/onnx/onnx_case.h"

namespace attune {
namespace {

/// ONNX's Attention, opsets 23 and 24, from the attributes and shapes of a case.
class AttentionNode {
 public:
  explicit AttentionNode(const OnnxCase& node)
      : node_(node),
        is_3d_(node.inputs.at("Q").extents.size() == 3),
        kv_heads_(is_3d_ ? static_cast<std::int64_t>(node.attribute("kv_num_heads")) : extent_of("K", 1)),
        query_heads_(is_3d_ ? static_cast<std::int64_t>(node.attribute("q_num_heads")) : extent_of("Q", 1)),
        is_grouped_(query_heads_ != kv_heads_) {
    result_.inputs = node.inputs;
  }

  OnnxGraph graph() {
    const Value q = queries_of_q();
    const Value k = with_past("past_key", "present_key", key_heads(), depth);
    const Value v = with_past("past_value", "present_value", value_heads(), value_depth);
    const double factor = node_.attribute("scale", 1 / std::sqrt(static_cast<double>(head_size())));
    const Value raw = scale(matmul(q, k, depth), factor);
    const double cap = node_.attribute("softcap");
    const Value capped = cap > 0 ? cap * tanh(raw / cap) : raw;
    const Value hidden = masked(capped);
    const Value weights = softmax(hidden, keys);
    show("qk_matmul_output", std::array{raw, capped, hidden, weights}[static_cast<std::size_t>(node_.attribute("qk_matmul_output_mode"))]);
    write_y(matmul(weights, v, keys));
    g.finish();
    return std::move(result_);
  }

 private:
  std::int64_t extent_of(const char* input, std::size_t axis) const { return node_.inputs.at(input).extents[axis]; }
  std::int64_t group_size() const { return query_heads_ / kv_heads_; }
  std::int64_t head_size() const { return is_3d_ ? extent_of("Q", 2) / query_heads_ : extent_of("Q", 3); }

  Value queries_of_q() {
    if (is_3d_ && is_grouped_) return split(g.input("Q", {batch, queries, g.dim("q_model")}), g.dim("q_model"), {{heads, kv_heads_}, {group, group_size()}, depth});
    if (is_3d_) return split(g.input("Q", {batch, queries, model}), model, {{heads, kv_heads_}, depth});
    const Dim query_heads = g.dim("query_heads");
    if (is_grouped_) return split(g.input("Q", {batch, query_heads, queries, depth}), query_heads, {heads, {group, group_size()}});
    return g.input("Q", {batch, heads, queries, depth});
  }
  /// K by heads, along `fresh`.
  Value key_heads() {
    if (!is_3d_) return g.input("K", {batch, heads, fresh, depth});
    if (!is_grouped_) return split(g.input("K", {batch, fresh, model}), model, {{heads, kv_heads_}, depth});
    std::vector<std::int64_t>& extents = result_.inputs["K"].extents;  // the same memory, its last axis taken apart
    extents = {extents[0], extents[1], kv_heads_, extents[2] / kv_heads_};
    return g.input("K", {batch, fresh, heads, depth});
  }
  Value value_heads() {
    const Dim v_model = g.dim("v_model");
    if (is_3d_) return split(g.input("V", {batch, fresh, v_model}), v_model, {{heads, kv_heads_}, value_depth});
    return g.input("V", {batch, heads, fresh, value_depth});
  }
  /// The rows of a cache and the fresh ones behind them, along `keys`.
  Value with_past(Name past_name, Name present_name, Value rows, Dim width) {
    if (!node_.has(past_name)) return rename(rows, fresh, keys);
    const Value present = concat({{g.input(past_name, {batch, heads, past, width}), past}, {rows, fresh}}, keys);
    if (node_.outputs.contains(std::string(present_name))) g.output(present_name, present, {batch, heads, keys, width});
    return present;
  }

  /// attn_mask with the dims that it has: axes of extent 1 are left out, they broadcast by name.
  Value mask_input() {
    std::vector<std::int64_t>& extents = result_.inputs["attn_mask"].extents;
    const std::array<Dim, 4> axes = {batch, heads, queries, mask_keys};
    Names dims;
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const bool broadcasts = extents[i] == 1 && i + 2 < extents.size();
      if (broadcasts) continue;
      dims.add(axes[4 - extents.size() + i].name);
      kept.push_back(extents[i]);
    }
    extents = kept;
    const Value table = g.input("attn_mask", dims, node_.inputs.at("attn_mask").type.kind, Here::current());
    // a mask may have fewer keys than there are: the others are hidden
    const Value rows = gather(table, index(keys), mask_keys);
    if (kind_of(table) == Kind::boolean) return rows;
    return select(index(keys) < extent(mask_keys), rows, -HUGE_VAL);
  }
  Value masked(Value scores) {
    if (node_.has("attn_mask")) {
      const Value table = mask_input();
      scores = kind_of(table) == Kind::boolean ? mask(scores, table) : scores + table;
    }
    const bool has_lengths = node_.has("nonpad_kv_seqlen");
    const Value lengths = has_lengths ? g.input("nonpad_kv_seqlen", {batch}, Kind::i64) : extent(keys);
    if (has_lengths) scores = mask(scores, index(keys) < lengths);
    if (node_.attribute("is_causal") == 0) return scores;
    const Value end = index(queries);
    if (node_.has("past_key")) return mask(scores, index(keys) <= end + extent(past));
    if (has_lengths) return mask(scores, index(keys) <= end + (lengths - extent(queries)));
    return mask(scores, index(keys) <= end);
  }

  /// Scores or weights, if the case wants them.
  void show(Name name, Value scores) {
    if (!node_.outputs.contains(std::string(name))) return;
    const Dim all_heads = g.dim("all_heads");
    if (is_grouped_) g.output(name, merge(scores, {heads, group}, all_heads), {batch, all_heads, queries, keys});
    if (!is_grouped_) g.output(name, scores, {batch, heads, queries, keys});
  }
  void write_y(Value y) {
    const Dim joined = g.dim("joined");
    if (is_3d_) return g.output("Y", is_grouped_ ? merge(y, {heads, group, value_depth}, joined) : merge(y, {heads, value_depth}, joined), {batch, queries, joined});
    if (is_grouped_) return g.output("Y", merge(y, {heads, group}, joined), {batch, joined, queries, value_depth});
    g.output("Y", y, {batch, heads, queries, value_depth});
  }

  const OnnxCase& node_;
  bool is_3d_;
  std::int64_t kv_heads_, query_heads_;
  bool is_grouped_;
  OnnxGraph result_;
  Graph& g = result_.graph;
  Dim batch = g.dim("batch"), heads = g.dim("heads"), group = g.dim("group"), queries = g.dim("queries"), keys = g.dim("keys");
  Dim past = g.dim("past"), fresh = g.dim("fresh"), mask_keys = g.dim("mask_keys");
  Dim depth = g.dim("depth"), value_depth = g.dim("value_depth"), model = g.dim("model");
};

}  // namespace

OnnxGraph attention_node(const OnnxCase& node) { return AttentionNode(node).graph(); }

}  // namespace attune
