/// Tensors that a stage takes apart, joins and cuts, by tensor cores: heads that lie in one dim with their depth, and scores and masks at other coordinates.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

bool has_products(const ptx::Counts& counts) {
  return std::ranges::any_of(counts.instructions, [](const auto& counted) { return counted.first.starts_with("mma.sync.") || counted.first.starts_with("wgmma.mma_async."); });
}

void check_by_tensor_cores(Graph graph, const KernelOptions& options, std::initializer_list<const char*> shapes) {
  graph.finish();
  REQUIRE(std::string(graph.problem().view()) == "");
  CAPTURE(options.types, options.set);
  const KernelCase kernel(graph, "moved", options);
  for (const char* shape : shapes)
    CHECK(has_products(counts_of([&] { CHECK(kernel.difference(shape, 1) == ""); })));
}

/// The projection of a model's tokens, as its heads.
Value heads_of(Graph& g, const char* label, Dim tokens, Dim heads, Dim depth) {
  const Dim inner = g.dim("inner");
  return split(g.input(label, {g.dim("batch"), tokens, inner}), inner, {{heads, 3}, depth});
}

/// Attention whose scores are changed by a merged tensor, whose mask is a part of one, and whose result has its heads in one dim again.
Graph attention_of_split_heads() {
  Graph g;
  auto [batch, high, low, queries, wide, seen, heads, depth] = g.dims("batch", "high", "low", "queries", "wide", "seen", "heads", "depth");
  const Value bias = merge(g.input("bias", {high, low}), {high, low}, queries);
  const Value is_seen = slice(g.input("is_seen", {batch, wide}, Kind::boolean), wide, {.start = 2}, seen);
  const Value q = heads_of(g, "q", queries, heads, depth), k = heads_of(g, "k", seen, heads, depth), v = heads_of(g, "v", seen, heads, depth);
  const Value scores = mask(scale(matmul(q, k, depth), 1 / sqrt(extent(depth))) + bias, is_seen);
  const Dim inner = g.dim("inner");
  g.output("out", merge(matmul(softmax(scores, seen), v, seen), {heads, depth}, inner), {batch, queries, inner});
  return g;
}

/// out[group, row, column] = sum_i x[row, group * inner + i] y[column, group * inner + i]
Graph products_of_groups(std::int64_t groups) {
  Graph g;
  auto [rows, columns, all, group, inner] = g.dims("rows", "columns", "all", "group", "inner");
  const auto split_apart = [&](const char* label, Dim own) { return split(g.input(label, {own, all}), all, {{group, groups}, inner}); };
  g.output("out", matmul(split_apart("x", rows), split_apart("y", columns), inner), {group, rows, columns});
  return g;
}

/// out[row, column] = sum_h,i x[row, h * inner + i] y[column, i, h]
Graph product_over_parts() {
  Graph g;
  auto [rows, columns, all, heads, inner] = g.dims("rows", "columns", "all", "heads", "inner");
  const Value x = split(g.input("x", {rows, all}), all, {{heads, 4}, inner});
  g.output("out", matmul(x, g.input("y", {columns, heads, inner}), {heads, inner}), {rows, columns});
  return g;
}

/// out[row, column] = sum_h,i x[h, row, i] y[column, h * inner + i], as the projection behind attention is
Graph product_of_joined_heads() {
  Graph g;
  auto [rows, columns, all, inner] = g.dims("rows", "columns", "all", "inner");
  const Dim heads = g.dim("heads", 4);
  g.output("out", matmul(merge(g.input("x", {heads, rows, inner}), {heads, inner}, all), g.input("y", {columns, all}), all), {rows, columns});
  return g;
}

}  // namespace

TEST_CASE("heads in one dim with their depth, a merged score and a cut mask are read by tensor cores", "[cuda]") {
  load_driver();
  for (const char* types : {"f16", "f32"})
    check_by_tensor_cores(attention_of_split_heads(), {.target = "cuda", .types = types, .set = {"inner=48"}},
                          {"batch=2,high=5,low=7,wide=131", "batch=1,high=1,low=3,wide=302"});
  check_by_tensor_cores(attention_of_split_heads(), {.target = "cuda", .types = "bf16", .set = {"inner=15"}}, {"batch=1,high=1,low=37,wide=7"});
}

TEST_CASE("products of a part of a dim, and over several, are read by tensor cores wherever the parts begin", "[cuda]") {
  load_driver();
  // eight parts of five elements: rows begin at multiples of 16 bytes, and the parts in them do not
  check_by_tensor_cores(products_of_groups(8), {.target = "cuda", .types = "f16"}, {"rows=37,columns=129,all=40", "rows=5,columns=1,all=128"});
  check_by_tensor_cores(product_over_parts(), {.target = "cuda", .types = "bf16"}, {"rows=129,columns=37,all=20", "rows=37,columns=5,all=64"});
  check_by_tensor_cores(product_of_joined_heads(), {.target = "cuda", .types = "f16"}, {"rows=37,columns=129,inner=5", "rows=129,columns=37,inner=16"});
}

}  // namespace attune
