/// Kernels of attention over keys of several dims, which the softmax runs over as one.
#include <catch2/catch.hpp>

#include "dsl/graph.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/codegen/stage_kinds.h"

namespace attune {
namespace {

/// Queries, and keys and values in rows and columns.
struct Image {
  Graph g;
  Dim heads = g.dim("heads"), queries = g.dim("queries"), rows = g.dim("rows"), columns = g.dim("columns"), depth = g.dim("depth"), keys = g.dim("keys");
  Value q = g.input("q", {heads, queries, depth}), k = g.input("k", {heads, rows, columns, depth}), v = g.input("v", {heads, rows, columns, depth});

  Value weights(Value scores) { return softmax(merge(scores, {rows, columns}, keys), keys); }
  Value merged(Value x) { return merge(x, {rows, columns}, keys); }
  Graph finished(Value out) {
    g.output("out", out, {heads, queries, depth});
    g.finish();
    REQUIRE(std::string(g.problem().view()) == "");
    return g;
  }
};

using MakeImage = Graph (*)();

Graph plain_image() {
  Image i;
  return i.finished(matmul(i.weights(matmul(i.q, i.k, i.depth)), i.merged(i.v), i.keys));
}

/// A mask of rows, a bias of columns and one of both, a cap, and a factor of heads.
Graph changed_image() {
  Image i;
  Value scores = matmul(i.q, i.k, i.depth) * i.g.input("factor", {i.heads}) + i.g.input("of_columns", {i.heads, i.columns});
  scores = 5 * tanh(scores / 5) + i.g.input("of_both", {i.columns, i.rows});
  scores = mask(scores, index(i.rows) <= index(i.queries) || index(i.columns) > 1);
  return i.finished(matmul(i.weights(scores), i.merged(i.v), i.keys));
}

/// Weights that are taken apart again for the values.
Graph split_again() {
  Image i;
  const Dim high = i.g.dim("high", 3), wide = i.g.dim("wide");
  const Value k = split(i.g.input("all_keys", {i.heads, i.g.dim("all"), i.depth}), i.g.dim("all"), {{high, 3}, wide});
  const Value w = softmax(merge(matmul(i.q, k, i.depth), {high, wide}, i.g.dim("all")), i.g.dim("all"));
  const Value v = i.g.input("values", {i.heads, high, wide, i.depth});
  return i.finished(matmul(split(w, i.g.dim("all"), {{high, 3}, wide}), v, {high, wide}));
}

/// Queries of rows and columns, too, as a neighbourhood has them.
Graph of_both() {
  Image i;
  const Dim high = i.g.dim("high"), wide = i.g.dim("wide"), all = i.g.dim("all");
  const Value q = i.g.input("q2", {i.heads, high, wide, i.depth});
  const Value near = abs(index(high) - index(i.rows)) <= 2 && abs(index(wide) - index(i.columns)) <= 1;
  const Value scores = merge(mask(matmul(q, i.k, i.depth), near), {high, wide}, all);
  i.g.output("out", matmul(softmax(i.merged(scores), i.keys), i.merged(i.v), i.keys), {all, i.heads, i.depth});
  i.g.finish();
  REQUIRE(std::string(i.g.problem().view()) == "");
  return i.g;
}

/// A softmax over rows and columns, in another order than the values have them.
Graph joint_image() {
  Image i;
  const Value scores = mask(matmul(i.q, i.k, i.depth), index(i.rows) <= index(i.queries));
  return i.finished(matmul(softmax(scores, {i.columns, i.rows}), i.v, {i.rows, i.columns}));
}

/// Of which two products are.
Graph joint_twice() {
  Image i;
  const Value weights = softmax(matmul(i.q, i.k, i.depth), {i.columns, i.rows});
  const Value sums = matmul(weights, i.g.input("u", {i.columns, i.rows}), {i.rows, i.columns});
  return i.finished(matmul(weights, i.v, {i.rows, i.columns}) + sums);
}

/// Of heads, too, of which the product then is the sum.
Graph joint_heads() {
  Image i;
  const Value weights = softmax(matmul(i.q, i.k, i.depth), {i.heads, i.rows, i.columns});
  i.g.output("out", matmul(weights, i.v, {i.heads, i.rows, i.columns}), {i.queries, i.depth});
  i.g.finish();
  REQUIRE(std::string(i.g.problem().view()) == "");
  return i.g;
}

/// Both operands of a product are weights of rows and columns.
Graph joint_both() {
  Image i;
  const Dim high = i.g.dim("high");
  const Value others = softmax(matmul(i.g.input("p", {i.heads, high, i.depth}), i.k, i.depth), {i.rows, i.columns});
  i.g.output("out", matmul(softmax(matmul(i.q, i.k, i.depth), {i.rows, i.columns}), others, {i.rows, i.columns}), {i.heads, i.queries, high});
  i.g.finish();
  REQUIRE(std::string(i.g.problem().view()) == "");
  return i.g;
}

/// Relative positions by rows and by columns, as image models have them (Segment Anything): products of fewer pairs than the scores are.
Graph relative_positions() {
  Image i;
  const auto term = [&](const char* table, Dim offsets, Dim along) {
    return matmul(i.q, gather(i.g.input(table, {offsets, i.depth}), index(i.queries) + index(along), offsets), i.depth);
  };
  const Value of_rows = term("row_table", i.g.dim("row_offsets", 64), i.rows), of_columns = term("column_table", i.g.dim("offsets", 64), i.columns);
  return i.finished(matmul(softmax(matmul(i.q, i.k, i.depth) + of_rows + of_columns, {i.rows, i.columns}), i.v, {i.rows, i.columns}));
}

/// Scores that are a result before they are merged.
Graph kept_image() {
  Image i;
  const Value scores = matmul(i.q, i.k, i.depth);
  i.g.output("scores", scores, {i.heads, i.queries, i.rows, i.columns});
  return i.finished(matmul(i.weights(scores), i.merged(i.v), i.keys));
}

const char* const image_shapes[] = {"heads=2,queries=5,rows=3,columns=7,depth=5,high=2,wide=4,all=12", "heads=1,queries=1,rows=1,columns=1,depth=16,high=1,wide=1,all=3",
                              "heads=1,queries=37,rows=5,columns=27,depth=16,high=4,wide=9,all=129", "heads=2,queries=3,rows=0,columns=4,depth=3,high=3,wide=1,all=0"};

}  // namespace

TEST_CASE("scores of keys in rows and columns are computed with their softmax", "[merge]") {
  for (const MakeImage make : {plain_image, changed_image, of_both, joint_image}) CHECK(kinds_of(make()) == std::vector<std::string>{"online_softmax"});
  CHECK(kinds_of(relative_positions()) == std::vector<std::string>{"gemm", "gemm", "online_softmax"});
}

TEST_CASE("kernels of attention over rows and columns agree with the interpreter", "[merge]") {
  for (const MakeImage make : {plain_image, changed_image, split_again, of_both, kept_image, joint_image, joint_twice, joint_heads, joint_both, relative_positions}) {
    const Graph graph = make();
    check_shapes(KernelCase(graph, "image"), image_shapes);
  }
}

}  // namespace attune
