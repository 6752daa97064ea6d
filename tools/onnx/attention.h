/// What ONNX's operators of attention have in common: the shapes of queries, keys and values.
#pragma once

#include "tools/onnx/node.h"

namespace attune {

/// The extents of Q, K and V, whether they are [batch, heads, sequence, width] or, 3-D, [batch, sequence, heads * width].
struct AttentionShape {
  bool is_3d = false;
  std::int64_t batch = 0, query_heads = 0, heads = 0, queries = 0, fresh = 0, depth = 0, value_depth = 0;
  std::string problem;

  std::int64_t group() const { return heads == 0 ? 1 : query_heads / heads; }
  bool is_grouped() const { return group() != 1; }
};

/// From the inputs Q, K and V, which are there, and the attributes of 3-D ones; or the problem in words.
AttentionShape attention_shape(const OnnxNode& node);

/// Empty if `softmax_precision`, where it is set, is a type of reals; a sentence otherwise.
std::string softmax_precision_problem(const OnnxNode& node);

}  // namespace attune
