#include "tests/onnx/onnx_case.h"

namespace attune {
namespace {

/// x with its pairs turned by the angles of cos and sin: of a pair (a, b), half 0 becomes a cos - b sin, half 1 a sin + b cos.
Value rotated(Graph& g, Value x, Dim half, Value cos, Value sin) {
  const Dim other = g.dim("other_half");
  const Value is_other = index(half) != index(other);
  const Value swapped = sum(select(is_other, rename(x, half, other), 0), other);
  return x * cos + select(index(half) == 0, -swapped, swapped) * sin;
}

/// cos_cache or sin_cache at the positions of the tokens: [batch, tokens, pair].
Value at_positions(Graph& g, const OnnxCase& node, Name cache, Value positions) {
  auto [batch, tokens, pair, all_positions] = g.dims("batch", "tokens", "pair", "positions");
  if (!node.has("position_ids")) return g.input(cache, {batch, tokens, pair});
  return gather(g.input(cache, {all_positions, pair}), positions, all_positions);
}

}  // namespace

OnnxGraph rotary_node(const OnnxCase& node) {
  OnnxGraph result;
  result.inputs = node.inputs;
  Graph& g = result.graph;
  auto [batch, heads, tokens, depth, model] = g.dims("batch", "heads", "tokens", "depth", "model");
  auto [part, inner, half, pair, joined] = g.dims("part", "inner", "half", "pair", "joined");
  const bool is_3d = node.inputs.at("X").extents.size() == 3, is_interleaved = node.attribute("interleaved") != 0;

  Value x = is_3d ? split(g.input("X", {batch, tokens, model}), model, {{heads, static_cast<std::int64_t>(node.attribute("num_heads"))}, depth})
                  : g.input("X", {batch, heads, tokens, depth});
  const auto turned_width = static_cast<std::int64_t>(node.attribute("rotary_embedding_dim"));
  const bool is_partial = turned_width != 0;
  if (is_partial) x = split(x, depth, {part, {inner, turned_width}});
  const Dim width = is_partial ? inner : depth;
  x = is_interleaved ? split(x, width, {pair, {half, 2}}) : split(x, width, {{half, 2}, pair});

  const Value positions = node.has("position_ids") ? g.input("position_ids", {batch, tokens}, Kind::i64) : index(tokens);
  const Value cos = at_positions(g, node, "cos_cache", positions), sin = at_positions(g, node, "sin_cache", positions);
  Value y = rotated(g, x, half, cos, sin);
  if (is_partial) y = select(index(part) == 0, y, x);

  Names from;
  if (is_3d) from.add(heads.name);
  if (is_partial) from.add(part.name);
  for (Dim dim : is_interleaved ? std::array{pair, half} : std::array{half, pair}) from.add(dim.name);
  y = g.add(Merge{from, joined.name}, std::array{y}, Here::current());
  if (is_3d) g.output("Y", y, {batch, tokens, joined});
  if (!is_3d) g.output("Y", y, {batch, heads, tokens, joined});
  g.finish();
  return result;
}

}  // namespace attune
