/// Attention over a key-value cache that lies in pages: a decoding step as servers of language models run it.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, group, queries, depth]; k_pages and v_pages [pages, page, heads, ..], which FlashInfer calls NHD and vLLM has in its caches,
/// or [pages, heads, page, ..], FlashInfer's HND; table i32 [batch, slots]; lengths i64 [batch], of keys, the new tokens among them. Key j of a sequence
/// is row j mod page of page table[b, j / page]. Pages behind a sequence's length, and rows of its last page, may hold anything but NaN in v; entries of
/// the table that stand for none of its keys are not read as numbers of pages.
struct Paged {
  enum class Layout { nhd, hnd };
  std::int64_t page = 16;       ///< rows of a page
  Layout layout = Layout::nhd;  ///< nhd: [pages, page, heads, ..]; hnd: [pages, heads, page, ..]

  friend constexpr std::array<std::string_view, 2> enumerators(Layout) { return {"nhd", "hnd"}; }
  static constexpr std::string_view name = "paged",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j <= lengths[batch] - queries + i) v, k and v of key j in row j mod page of page "
                                              "table[batch, j / page]; Kwon et al. 2023";
  static constexpr auto fields = std::tuple{Field{"page", &Paged::page}, Field{"layout", &Paged::layout}};

  constexpr void operator()(Graph& g) const {
    g.require(page >= 1, "page is ", page, "; it must be at least 1 row");
    auto [batch, heads, group, queries, keys, depth, value_depth] = g.dims("batch", "heads", "group", "queries", "keys", "depth", "value_depth");
    const Dim pages = g.dim("pages"), slots = g.dim("slots"), rows = g.dim("page", page);
    const Value q = g.input("q", {batch, heads, group, queries, depth});
    const bool is_nhd = layout == Layout::nhd;
    const Value k_pages = is_nhd ? g.input("k_pages", {pages, rows, heads, depth}) : g.input("k_pages", {pages, heads, rows, depth});
    const Value v_pages = is_nhd ? g.input("v_pages", {pages, rows, heads, value_depth}) : g.input("v_pages", {pages, heads, rows, value_depth});
    const Value table = g.input("table", {batch, slots}, Kind::i32);
    const Value lengths = g.input("lengths", {batch}, Kind::i64);
    const Value number = select(index(slots) < floor_div(lengths + (page - 1), page), table, 0);  // what stands for no key may be no page
    const Value k = merge(gather(k_pages, number, pages), {slots, rows}, keys), v = merge(gather(v_pages, number, pages), {slots, rows}, keys);
    const Value scores = scale(matmul(q, k, depth), 1 / sqrt(extent(depth)));
    const Value is_seen = index(keys) <= lengths - extent(queries) + index(queries);
    g.output("out", matmul(softmax(mask(scores, is_seen), keys), v, keys), {batch, heads, group, queries, value_depth});
  }
};

}  // namespace attune
