#include <fmt/format.h>

#include "tools/onnx/operators.h"

namespace attune {
namespace {

/// What of X's width is turned, and how X is laid out.
struct RotaryShape {
  bool is_3d = false;
  std::int64_t batch = 0, heads = 0, tokens = 0, depth = 0, turned = 0;
  std::string problem;
};

RotaryShape rotary_shape(const OnnxNode& node) {
  RotaryShape shape;
  const OnnxTensor& x = node.inputs.at("X");
  const auto refuse = [&](std::string problem) { return shape.problem = std::move(problem), shape; };
  if (x.rank() != 3 && x.rank() != 4) return refuse(fmt::format("input 'X': is {}; it must have 3 or 4 axes", shape_text(x.extents)));
  if (x.element->kind != Kind::real) return refuse(fmt::format("input 'X': is {}; it must be real", x.element->name));
  shape.is_3d = x.rank() == 3;
  shape.heads = shape.is_3d ? node.integer("num_heads") : x.extent(1);
  if (shape.is_3d && shape.heads == 0) return refuse("attribute 'num_heads': is missing; an X of 3 axes needs it");
  if (shape.is_3d && x.extent(2) % shape.heads != 0)
    return refuse(fmt::format("input 'X': is {}; its last axis must be a multiple of the {} heads", shape_text(x.extents), shape.heads));
  shape.batch = x.extent(0), shape.tokens = x.extent(shape.is_3d ? 1 : 2), shape.depth = shape.is_3d ? x.extent(2) / shape.heads : x.extent(3);
  shape.turned = node.integer("rotary_embedding_dim") == 0 ? shape.depth : node.integer("rotary_embedding_dim");
  if (shape.turned > shape.depth) return refuse(fmt::format("attribute 'rotary_embedding_dim': is {}; a head is {} wide", shape.turned, shape.depth));
  if (shape.turned % 2 != 0) return refuse(fmt::format("input 'X': {} entries of a head are turned; pairs are, so that the number must be even", shape.turned));
  return shape;
}

std::string rotary_problem(const OnnxNode& node, const RotaryShape& shape) {
  const bool has_positions = node.has("position_ids");
  for (const char* cache : {"cos_cache", "sin_cache"}) {
    const OnnxTensor& table = node.inputs.at(cache);
    const std::vector<std::int64_t> right = has_positions ? std::vector{table.extents.empty() ? 0 : table.extent(0), shape.turned / 2}
                                                          : std::vector{shape.batch, shape.tokens, shape.turned / 2};
    if (table.element->kind != Kind::real) return fmt::format("input '{}': is {}; it must be real", cache, table.element->name);
    if (table.extents != right)
      return fmt::format("input '{}': is {}; {} is right {} position_ids", cache, shape_text(table.extents), has_positions ? fmt::format("[positions x {}]", shape.turned / 2) : shape_text(right),
                         has_positions ? "with" : "without");
  }
  if (!has_positions) return {};
  if (node.inputs.at("cos_cache").extents != node.inputs.at("sin_cache").extents) return "input 'sin_cache': has another number of positions than cos_cache; they must agree";
  const OnnxTensor& positions = node.inputs.at("position_ids");
  if (positions.element->kind == Kind::i64 && positions.extents == std::vector{shape.batch, shape.tokens}) return {};
  return fmt::format("input 'position_ids': is {} {}; int64 [{} x {}] is right", positions.element->name, shape_text(positions.extents), shape.batch, shape.tokens);
}

/// x with its pairs turned by the angles of cos and sin: of a pair (a, b), half 0 becomes a cos - b sin, half 1 a sin + b cos.
Value rotated(Graph& g, Value x, Dim half, Value cos, Value sin) {
  const Dim other = g.dim("other_half");
  const Value is_other = index(half) != index(other);
  const Value swapped = sum(select(is_other, rename(x, half, other), 0), other);
  return x * cos + select(index(half) == 0, -swapped, swapped) * sin;
}

/// cos_cache or sin_cache at the positions of the tokens: [batch, tokens, pair].
Value at_positions(Graph& g, bool has_positions, Name cache, Value positions) {
  auto [batch, tokens, pair, all_positions] = g.dims("batch", "tokens", "pair", "positions");
  if (!has_positions) return g.input(cache, {batch, tokens, pair});
  return gather(g.input(cache, {all_positions, pair}), positions, all_positions);
}

NodeGraph rotary_graph(const OnnxNode& node) {
  NodeGraph result;
  const RotaryShape shape = rotary_shape(node);
  result.problem = shape.problem.empty() ? rotary_problem(node, shape) : shape.problem;
  if (!result.problem.empty()) return result;
  Graph& g = result.graph;
  auto [batch, heads, tokens, depth, model] = g.dims("batch", "heads", "tokens", "depth", "model");
  auto [half, pair, joined, turned, rest] = g.dims("half", "pair", "joined", "turned", "rest");
  const bool is_interleaved = node.number("interleaved") != 0, is_partial = shape.turned != shape.depth;

  const Value x =
      shape.is_3d ? split(g.input("X", {batch, tokens, model}), model, {{heads, shape.heads}, depth}) : g.input("X", {batch, heads, tokens, depth});
  const Value first = is_partial ? slice(x, depth, {.start = 0, .step = 1, .count = shape.turned}, turned) : x;
  const Dim width = is_partial ? turned : depth;
  const Value pairs = is_interleaved ? split(first, width, {pair, {half, 2}}) : split(first, width, {{half, 2}, pair});
  const Value positions = node.has("position_ids") ? g.input("position_ids", {batch, tokens}, Kind::i64) : index(tokens);
  const Value cos = at_positions(g, node.has("position_ids"), "cos_cache", positions),
              sin = at_positions(g, node.has("position_ids"), "sin_cache", positions);
  const Value moved = rotated(g, pairs, half, cos, sin);
  const Dim whole = is_partial ? g.dim("moved") : joined;
  Value y = is_interleaved ? merge(moved, {pair, half}, whole) : merge(moved, {half, pair}, whole);
  if (is_partial) y = concat({{y, whole}, {slice(x, depth, {.start = shape.turned}, rest), rest}}, joined);
  if (shape.is_3d) g.output("Y", merge(y, {heads, joined}, g.dim("all_joined")), {batch, tokens, g.dim("all_joined")});
  else g.output("Y", y, {batch, heads, tokens, joined});
  g.finish();
  return result;
}

constexpr OnnxInput rotary_inputs[] = {{"X", true}, {"cos_cache", true}, {"sin_cache", true}, {"position_ids"}};
constexpr std::string_view rotary_outputs[] = {"Y"};
constexpr OnnxAttributeRule rotary_attributes[] = {{"interleaved", OnnxAttributeKind::integer, 0, 1},
                                                   {"num_heads", OnnxAttributeKind::integer, 0, 1 << 20},
                                                   {"rotary_embedding_dim", OnnxAttributeKind::integer, 0, 1 << 20}};

}  // namespace

/// Pairs are (x[i], x[i + width / 2]) unless `interleaved` makes them (x[2 i], x[2 i + 1]); entries behind `rotary_embedding_dim` stay.
OnnxOperator rotary_embedding_operator() { return {"RotaryEmbedding", "", 23, rotary_inputs, rotary_outputs, rotary_attributes, rotary_graph}; }

}  // namespace attune
