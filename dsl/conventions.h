/// What other systems mean by options that are no parameter of a variant, for call operators: who sees whom, lengths.
/// docs/conventions.md is the table.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// place - left <= j <= place + right, both ends included, and no bound where one is -1: a window of left + right + 1 keys. `place` is the key that a
/// query stands at, an i64.
constexpr Value in_window(Value place, Dim keys, std::int64_t left, std::int64_t right) {
  const Value j = index(keys);
  if (left < 0 && right < 0) return j >= 0;
  if (left < 0) return j <= place + right;
  if (right < 0) return j >= place - left;
  return j >= place - left && j <= place + right;
}

/// The operator Attention of ONNX, opsets 23 to 25.
namespace onnx {

/// The key that a query stands at, for is_causal, left_window_size and right_window_size. The offset is 0 without a cache, also where there are more
/// keys than queries; the length of past_key with one; and nonpad_kv_seqlen[b] - queries where that input is there, below 0 as well.
constexpr Value place(Dim queries, Value offset) { return index(queries) + offset; }
constexpr Value is_causal(Dim queries, Dim keys, Value offset) { return index(keys) <= place(queries, offset); }

}  // namespace onnx

/// The operator GroupQueryAttention of ONNX Runtime.
namespace onnxruntime {

/// Keys of each sequence, those in the cache and the new ones: the input seqlens_k is one less.
constexpr Value lengths(Value seqlens_k) { return seqlens_k + 1; }
/// The queries of a sequence stand at its last keys.
constexpr Value place(Dim queries, Value seqlens_k) { return index(queries) + (lengths(seqlens_k) - extent(queries)); }
/// Always causal; local_window_size counts keys, the query's own among them, and is -1 for all.
constexpr Value is_visible(Dim queries, Dim keys, Value seqlens_k, std::int64_t local_window_size = -1) {
  return in_window(place(queries, seqlens_k), keys, local_window_size < 0 ? -1 : local_window_size - 1, 0);
}

}  // namespace onnxruntime

}  // namespace attune
