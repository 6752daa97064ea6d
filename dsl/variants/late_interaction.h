/// Late interaction: how similar queries of many tokens are to documents, by each token's most similar one.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, queries, depth] and k [documents, keys, depth], the embeddings of tokens; output out [batch, documents]. Minus infinity for a document
/// without tokens.
struct LateInteraction {
  bool padded = false;  ///< input lengths i64 [documents]: keys from there on are padding, which may hold anything

  static constexpr std::string_view name = "late_interaction", meaning = "out = sum_i max_j q_i . k_j; Khattab and Zaharia 2020 (ColBERT)";
  static constexpr auto fields = std::tuple{Field{"padded", &LateInteraction::padded}};

  constexpr void operator()(Graph& g) const {
    auto [batch, queries, documents, keys, depth] = g.dims("batch", "queries", "documents", "keys", "depth");
    const Value q = g.input("q", {batch, queries, depth}), k = g.input("k", {documents, keys, depth});
    Value similarity = matmul(q, k, depth);
    if (padded) similarity = mask(similarity, index(keys) < g.input("lengths", {documents}, Kind::i64));
    g.output("out", sum(max(similarity, keys), queries), {batch, documents});
  }
};

}  // namespace attune
