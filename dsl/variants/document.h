/// Attention in sequences packed from several documents: a query sees the keys of its own document (Krell et al. 2021).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input ids i64 [batch, queries]: the document of each token, in any order; there are as many keys as queries. With `offsets` instead
/// offsets i64 [ends]: the first token of each document and, last, that behind the last one (indptr, cu_seqlens), the same for the whole
/// batch; documents are numbered from 0. Tokens before the first or behind the last one see one another.
struct Document {
  bool causal = false;    ///< of its document a query sees itself and the keys before it
  bool offsets = false;   ///< documents by their offsets
  bool prefixes = false;  ///< input prefixes i64 [batch, queries]: a document that the query sees whole beside its own, -1 for none

  static constexpr std::string_view
      name = "document",
      meaning =
          "out = softmax(q k^T / sqrt(depth), where ids[batch, i] = ids[batch, j]) v, or prefixes[batch, i] = ids[batch, j]; Krell "
          "et al. 2021";
  static constexpr auto fields =
      std::tuple{Field{"causal", &Document::causal}, Field{"offsets", &Document::offsets}, Field{"prefixes", &Document::prefixes}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value ids = offsets ? by_offsets(g, a) : g.input("ids", {a.batch, a.queries}, Kind::i64);
    const Value of_key = rename(ids, a.queries, a.keys);
    Value is_visible = ids == of_key;  // [batch, queries, keys], or [queries, keys]
    if (causal) is_visible = is_visible && index(a.keys) <= index(a.queries);
    if (prefixes) {
      const Value prefix = g.input("prefixes", {a.batch, a.queries}, Kind::i64);
      is_visible = is_visible || (prefix >= 0 && prefix != ids && prefix == of_key);  // of its own document a query sees what the rest says
    }
    a.output(mask(a.scores(), is_visible));
  }

 private:
  /// How many documents begin at or before a token: i64 [queries].
  constexpr static Value by_offsets(Graph& g, const Attention& a) {
    const Dim ends = g.dim("ends");
    const Value offset = g.input("offsets", {ends}, Kind::i64);
    return sum(to_i64(index(a.queries) >= offset), ends) - 1;
  }
};

}  // namespace attune
