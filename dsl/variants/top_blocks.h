/// Attention of queries to the blocks of keys whose mean scores are the greatest: mixture of block attention (Lu et al. 2025, MoBA).
#pragma once

#include <limits>

#include "dsl/variants/attention.h"

namespace attune {

/// As experts of a mixture, blocks of keys are chosen by their score: that of a query with the mean of the block's keys. With `causal` the block of the
/// query itself is always one of the chosen, as in MoBA, and none behind it is; the last block may be shorter. With `query_block` above 1 the queries of a
/// block choose together, by their mean, and kernels leave out what none of them chose.
struct TopBlocks {
  std::int64_t count = 4;        ///< blocks that are chosen, the query's own among them; all where there are fewer
  std::int64_t key_block = 64;   ///< keys in a block
  std::int64_t query_block = 1;  ///< queries that choose together
  bool causal = true;            ///< a query sees itself and the keys before it

  static constexpr std::string_view
      name = "top_blocks",
      meaning = "out = softmax(q k^T / sqrt(depth), where floor(j / key_block) is one of the count blocks with the greatest q mean(k)^T, causal: the query's own "
                "and those before it) v; Lu et al. 2025";
  static constexpr auto fields = std::tuple{Field{"count", &TopBlocks::count}, Field{"key_block", &TopBlocks::key_block},
                                            Field{"query_block", &TopBlocks::query_block}, Field{"causal", &TopBlocks::causal}};

  constexpr void operator()(Graph& g) const {
    g.require(count >= 1 && count <= TopK::most, "count is ", count, "; it must be from 1 to ", TopK::most);
    g.require(key_block >= 1 && key_block <= Steps::most, "key_block is ", key_block, "; it must be from 1 to ", Steps::most);
    g.require(query_block >= 1 && query_block <= Steps::most, "query_block is ", query_block, "; it must be from 1 to ", Steps::most);
    if (!g.problem().empty()) return;
    const Attention a(g);
    const Dim query_blocks = g.dim("query_blocks"), key_blocks = g.dim("key_blocks");
    const Value first_query = slice(index(a.queries), a.queries, {.step = query_block}, query_blocks);
    const Value first_key = slice(index(a.keys), a.keys, {.step = key_block}, key_blocks);
    const Value of_queries = query_block == 1 ? gather(a.q, first_query, a.queries) : means(a.q, a.queries, first_query, g.dim("in_query_block", query_block));
    Value scores = matmul(of_queries, means(a.k, a.keys, first_key, g.dim("in_key_block", key_block)), a.depth);  // [batch, heads, query_blocks, key_blocks]
    if (causal) {
      const Value last_query = minimum(first_query + query_block, extent(a.queries)) - 1, own = floor_div(first_query, key_block);
      const Value is_own = index(key_blocks) >= own && first_key <= last_query;
      scores = select(is_own, std::numeric_limits<double>::infinity(), mask(scores, first_key <= last_query));
    }
    const Value of_query = gather(top_k(scores, key_blocks, count), floor_div(index(a.queries), query_block), query_blocks);
    const Value of_pair = gather(of_query, floor_div(index(a.keys), key_block), key_blocks);
    const Value seen = mask(a.scores(), of_pair);
    a.output(causal ? mask(seen, index(a.keys) <= index(a.queries)) : seen);
  }

 private:
  /// The means of the rows of each block along `along`, of which the last may be shorter. `first`: the first of each block; `within` counts those of one.
  static constexpr Value means(Value rows, Dim along, Value first, Dim within) {
    const Value place = first + index(within), is_row = place < extent(along);
    const Value summed = sum(select(is_row, gather(rows, select(is_row, place, 0), along), 0), within);
    return summed / to_real(minimum(extent(along) - first, extent(within)));
  }
};

}  // namespace attune
