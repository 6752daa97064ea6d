#include <fmt/format.h>

#include "tools/onnx/attention.h"

namespace attune {
namespace {

std::string said(const OnnxNode& node, std::string_view input) {
  return fmt::format("'{}' is {}", input, shape_text(node.inputs.find(input)->second.extents));
}

std::string rank_problem(const OnnxNode& node) {
  const std::size_t rank = node.inputs.at("Q").rank();
  if (rank != 3 && rank != 4) return fmt::format("input {}; it must have 3 or 4 axes", said(node, "Q"));
  for (const char* input : {"K", "V"})
    if (node.inputs.at(input).rank() != rank) return fmt::format("input {}; it must have as many axes as Q, which is {}", said(node, input), shape_text(node.inputs.at("Q").extents));
  for (const char* input : {"Q", "K", "V"})
    if (node.inputs.at(input).element->kind != Kind::real)
      return fmt::format("input '{}': is {}; it must be real", input, node.inputs.at(input).element->name);
  return {};
}

/// Of 3-D inputs: how many heads the last axes hold.
std::string heads_of_attributes(const OnnxNode& node, AttentionShape& shape) {
  for (const char* attribute : {"q_num_heads", "kv_num_heads"})
    if (!node.is_set(attribute)) return fmt::format("attribute '{}': is missing; inputs of 3 axes need it", attribute);
  shape.query_heads = node.integer("q_num_heads"), shape.heads = node.integer("kv_num_heads");
  for (const auto& [input, heads] : {std::pair{"Q", shape.query_heads}, {"K", shape.heads}, {"V", shape.heads}})
    if (node.inputs.at(input).extent(2) % heads != 0) return fmt::format("input {}; its last axis must be a multiple of the {} heads", said(node, input), heads);
  return {};
}

std::string heads_of_axes(const OnnxNode& node, AttentionShape& shape) {
  shape.query_heads = node.inputs.at("Q").extent(1), shape.heads = node.inputs.at("K").extent(1);
  if (node.inputs.at("V").extent(1) != shape.heads) return fmt::format("input {}; it must have as many heads as K, which is {}", said(node, "V"), shape_text(node.inputs.at("K").extents));
  for (const auto& [attribute, heads] : {std::pair{"q_num_heads", shape.query_heads}, {"kv_num_heads", shape.heads}})
    if (node.is_set(attribute) && node.integer(attribute) != heads)
      return fmt::format("attribute '{}': is {}; the inputs, which have 4 axes, have {} heads", attribute, node.integer(attribute), heads);
  return {};
}

std::string agreement_problem(const OnnxNode& node, const AttentionShape& shape) {
  const OnnxTensor &k = node.inputs.at("K"), &v = node.inputs.at("V");
  for (const char* input : {"K", "V"})
    if (node.inputs.at(input).extent(0) != shape.batch) return fmt::format("input {}; its first axis must be {}, as that of Q", said(node, input), shape.batch);
  if (shape.heads == 0 ? shape.query_heads != 0 : shape.query_heads % shape.heads != 0)
    return fmt::format("heads: Q has {} and K has {}; the heads of Q must be a multiple of those of K", shape.query_heads, shape.heads);
  const std::int64_t key_depth = shape.is_3d ? k.extent(2) / shape.heads : k.extent(3);
  if (key_depth != shape.depth) return fmt::format("input {}; a head of it has the width {}, and one of Q {}; they must agree", said(node, "K"), key_depth, shape.depth);
  const std::size_t sequence = shape.is_3d ? 1 : 2;
  if (v.extent(sequence) != shape.fresh) return fmt::format("input {}; it must be as long as K, which is {}", said(node, "V"), shape_text(k.extents));
  return {};
}

}  // namespace

AttentionShape attention_shape(const OnnxNode& node) {
  AttentionShape shape;
  shape.problem = rank_problem(node);
  if (!shape.problem.empty()) return shape;
  const OnnxTensor &q = node.inputs.at("Q"), &k = node.inputs.at("K"), &v = node.inputs.at("V");
  shape.is_3d = q.rank() == 3;
  shape.batch = q.extent(0);
  shape.problem = shape.is_3d ? heads_of_attributes(node, shape) : heads_of_axes(node, shape);
  if (!shape.problem.empty()) return shape;
  shape.queries = q.extent(shape.is_3d ? 1 : 2), shape.fresh = k.extent(shape.is_3d ? 1 : 2);
  shape.depth = shape.is_3d ? q.extent(2) / shape.query_heads : q.extent(3);
  shape.value_depth = shape.is_3d ? v.extent(2) / shape.heads : v.extent(3);
  shape.problem = agreement_problem(node, shape);
  return shape;
}

std::string softmax_precision_problem(const OnnxNode& node) {
  if (!node.is_set("softmax_precision")) return {};
  const OnnxElement* element = find_element(static_cast<int>(node.integer("softmax_precision")));
  if (element != nullptr && element->kind == Kind::real) return {};
  return fmt::format("attribute 'softmax_precision': is {}; 1 (float32), 10 (float16), 11 (float64) and 16 (bfloat16) are types of reals", node.integer("softmax_precision"));
}

}  // namespace attune
