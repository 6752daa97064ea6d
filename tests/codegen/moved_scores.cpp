/// Kernels of graphs whose scores take a product, or a sum over pairs, from other places or from all heads: it is stored, and what reads it fused.
#include <catch2/catch.hpp>

#include "dsl/variants/attention.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/stage_kinds.h"

namespace attune {
namespace {

/// The scores that a product is made into.
using Move = Value (*)(Graph&, const Attention&, const Value& product);

Value reversed_keys(Graph&, const Attention& a, const Value& product) { return gather(product, extent(a.keys) - 1 - index(a.keys), a.keys); }
Value earlier_queries(Graph&, const Attention& a, const Value& product) { return gather(product, maximum(index(a.queries) - 1, 0), a.queries); }
Value other_heads(Graph&, const Attention& a, const Value& product) { return gather(product, extent(a.heads) - 1 - index(a.heads), a.heads); }
Value some_heads(Graph& g, const Attention& a, const Value& product) { return slice(product, a.heads, {.start = 1}, g.dim("some")); }
Value renamed_heads(Graph& g, const Attention& a, const Value& product) { return rename(maximum(product, -1.0), a.heads, g.dim("others")); }
Value batches_of_heads(Graph& g, const Attention& a, const Value& product) { return merge(product, {a.batch, a.heads}, g.dim("both")); }
Value pairs_of_heads(Graph& g, const Attention& a, const Value& product) { return split(product, a.heads, {{g.dim("pair", 2), 2}, g.dim("pairs")}); }

Value more_heads(Graph& g, const Attention& a, const Value& product) {
  const Dim more = g.dim("more");
  return concat({{product, a.heads}, {g.input("bias", {a.batch, more, a.queries, a.keys}), more}}, g.dim("all"));
}

/// Talking heads before the softmax (Shazeer et al. 2020).
Value mixed_heads(Graph& g, const Attention& a, const Value& product) {
  const Dim mixed = g.dim("mixed");
  return matmul(product, g.input("mix", {a.heads, mixed}), a.heads);
}

/// Multi-token attention (Golovneva et al. 2025): scores of a key and of those before it.
Value convolved(Graph& g, const Attention& a, const Value& product) {
  const Dim taps = g.dim("taps", 3);
  const Value from = index(a.keys) - index(taps);
  return sum(select(from >= 0, gather(a.causal(product), maximum(from, 0), a.keys), 0.0) * g.input("taps", {a.heads, taps}), taps);
}

Value with_the_next(Graph&, const Attention& a, const Value& product) {
  return product + gather(maximum(product, 0), minimum(index(a.keys) + 1, extent(a.keys) - 1), a.keys);
}

/// Additive scores of the keys backwards.
Value reversed_sums(Graph& g, const Attention& a, const Value&) {
  const Dim hidden = g.dim("hidden", 3);
  const Value x = g.input("x", {a.heads, a.queries, hidden}), y = g.input("y", {a.heads, a.keys, hidden});
  return gather(sum(tanh(x + y), hidden), extent(a.keys) - 1 - index(a.keys), a.keys);
}

Graph moved(Move move) {
  Graph g;
  const Attention a(g);
  const Value scores = move(g, a, matmul(a.q, a.k, a.depth));
  const Value v = g.input("shared_v", {a.keys, a.value_depth});
  const Value out = matmul(softmax(mask(scores, index(a.keys) <= index(a.queries) + 2), a.keys), v, a.keys);
  g.output("out", out, g.node(out.id).type.dims);
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

void check_move(Move move) {
  const KernelCase kernel(moved(move), "moved");
  CHECK(kernel.difference("batch=2,heads=4,depth=5,value_depth=6,queries=5,keys=37", 1) == "");
}

}  // namespace

TEST_CASE("a product that scores take from other places or from all heads is stored for a fused softmax", "[scores]") {
  for (const Move move : {reversed_keys, earlier_queries, other_heads, some_heads, renamed_heads, batches_of_heads, pairs_of_heads, more_heads})
    CHECK(kinds_of(moved(move)) == std::vector<std::string>{"gemm", "online_softmax"});
  CHECK(kinds_of(moved(mixed_heads)) == std::vector<std::string>{"gemm", "gemm", "online_softmax"});
  CHECK(kinds_of(moved(convolved)) == std::vector<std::string>{"gemm", "reduce", "online_softmax"});
  CHECK(kinds_of(moved(with_the_next)) == std::vector<std::string>{"gemm", "row_softmax", "gemm"});
  CHECK(kinds_of(moved(reversed_sums)) == std::vector<std::string>{"reduce", "online_softmax"});
}

TEST_CASE("kernels of scores that take a product from other places or from all heads are right", "[scores]") {
  for (const Move move : {reversed_keys, batches_of_heads, mixed_heads, convolved, with_the_next, reversed_sums}) check_move(move);
}
TEST_CASE("kernels of scores that take a product from other places are right for each way to", "[.full]") {
  for (const Move move : {earlier_queries, other_heads, some_heads, renamed_heads, pairs_of_heads, more_heads}) check_move(move);
}

}  // namespace attune
