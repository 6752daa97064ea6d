/// Attention of blocks of queries to blocks of keys that were chosen for them, as the k with the largest scores are (Yuan et al. 2025,
/// NSA).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input chosen i64 [batch, heads, query_blocks, choices]: the numbers of key blocks, in any order; -1, or any that is none, chooses
/// nothing. With `is_mask` instead boolean [batch, heads, query_blocks, key_blocks]. Queries beyond the last block see nothing.
struct ChosenBlocks {
  std::int64_t query_block = 32, key_block = 32;  ///< tokens in a block
  bool is_mask = false;
  bool causal = false;  ///< of the chosen keys a query sees itself and those before it

  static constexpr std::string_view
      name = "chosen_blocks",
      meaning =
          "out = softmax(q k^T / sqrt(depth), where floor(j / key_block) is in chosen[batch, h, floor(i / query_block)]) v; Yuan et al. "
          "2025";
  static constexpr auto fields = std::tuple{Field{"query_block", &ChosenBlocks::query_block}, Field{"key_block", &ChosenBlocks::key_block},
                                            Field{"is_mask", &ChosenBlocks::is_mask}, Field{"causal", &ChosenBlocks::causal}};

  constexpr void operator()(Graph& g) const {
    g.require(query_block >= 1, "query_block is ", query_block, "; it must be at least 1");
    g.require(key_block >= 1 && key_block <= Steps::most, "key_block is ", key_block, "; it must be from 1 to ", Steps::most);
    if (!g.problem().empty()) return;
    const Attention a(g);
    auto [query_blocks, key_blocks, choices] = g.dims("query_blocks", "key_blocks", "choices");
    Value is_chosen;  // [batch, heads, query_blocks, key_blocks]
    if (is_mask) {
      is_chosen = g.input("chosen", {a.batch, a.heads, query_blocks, key_blocks}, Kind::boolean);
    } else {
      const Value chosen = g.input("chosen", {a.batch, a.heads, query_blocks, choices}, Kind::i64);
      const Value first = slice(index(a.keys), a.keys, {.step = key_block}, key_blocks);  // the first key of each block
      is_chosen = sum(to_i64(chosen == floor_div(first, key_block)), choices);
    }
    const Value of_query = gather(is_chosen, floor_div(index(a.queries), query_block), query_blocks);
    const Value of_pair = gather(of_query, floor_div(index(a.keys), key_block), key_blocks);
    Value scores = mask(a.scores(), is_mask ? of_pair : of_pair > 0);
    if (causal) scores = mask(scores, index(a.keys) <= index(a.queries));
    a.output(scores);
  }
};

}  // namespace attune
