/// Attention in sequences packed from several documents: a query sees the keys of its own document (Krell et al. 2021).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input ids i64 [batch, queries]: the document of each token, in any order; there are as many keys as queries.
struct Document {
  bool causal = false;  ///< of its document a query sees itself and the keys before it

  static constexpr std::string_view name = "document",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where ids[batch, i] = ids[batch, j]) v; Krell et al. 2021";
  static constexpr auto fields = std::tuple{Field{"causal", &Document::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value ids = g.input("ids", {a.batch, a.queries}, Kind::i64);
    Value is_visible = ids == rename(ids, a.queries, a.keys);  // [batch, queries, keys]
    if (causal) is_visible = is_visible && index(a.keys) <= index(a.queries);
    a.output(mask(a.scores(), is_visible));
  }
};

}  // namespace attune
