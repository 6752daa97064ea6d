/// Attention within chunks of the sequence (Llama 4), or to whole chunks up to one's own (block causal, as diffusion language models
/// decode).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Chunks begin at key 0 and at query 0. `before`: a query sees the chunks before its own, too; without `causal` that is block causal
/// attention.
struct Chunked {
  std::int64_t chunk = 64;  ///< tokens in a chunk
  bool causal = false;      ///< of its own chunk a query sees itself and the keys before it
  bool before = false;      ///< whole chunks before a query's own are seen

  static constexpr std::string_view
      name = "chunked",
      meaning =
          "out = softmax(q k^T / sqrt(depth), where floor(j / chunk) = floor(i / chunk), or <= with before, and with causal "
          "j <= i) v";
  static constexpr auto fields =
      std::tuple{Field{"chunk", &Chunked::chunk}, Field{"causal", &Chunked::causal}, Field{"before", &Chunked::before}};

  constexpr void operator()(Graph& g) const {
    g.require(chunk >= 1, "chunk is ", chunk, "; it must be at least 1");
    if (!g.problem().empty()) return;
    const Attention a(g);
    const Value own = floor_div(index(a.queries), chunk), of_key = floor_div(index(a.keys), chunk);
    Value scores = mask(a.scores(), before ? of_key <= own : of_key == own);
    if (causal) scores = mask(scores, index(a.keys) <= index(a.queries));
    a.output(scores);
  }
};

}  // namespace attune
