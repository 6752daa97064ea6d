/// Kernels of the greatest elements of rows, and of where they stand, of short rows and of long ones.
#include <catch2/catch.hpp>

#include <string>

#include "dsl/graph.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"

namespace attune {
namespace {

/// Of reals along rows and along columns, of whole numbers with many equals, of integers; of more than there are.
Graph choices() {
  Graph g;
  const Dim rows = g.dim("rows"), words = g.dim("words"), picks = g.dim("picks", 7);
  const Value x = g.input("x", {rows, words}), whole = floor(2 * x), integers = to_i64(floor(3 * x));
  g.output("chosen", top_k(x, words, 5), {rows, words});
  g.output("down", top_k(whole, rows, 4), {rows, words});
  g.output("positions", top_k_positions(whole, words, 9, picks), {rows, picks});
  g.output("first", top_k_positions(mask(x, index(words) < index(rows)), words, 1, picks), {rows, picks});
  g.output("sorted", sorted_positions(whole, words, 5, picks), {picks, rows});
  g.output("sorted_integers", sorted_positions(integers, words, 40, picks), {rows, picks});
  g.output("sorted_down", sorted_positions(x, rows, 7, picks), {words, picks});
  g.output("greatest", gather(x, sorted_positions(x, words, 7, picks), words), {rows, picks});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  return g;
}

const char* const choice_shapes[] = {"rows=1,words=1", "rows=5,words=37", "rows=129,words=129", "rows=37,words=700", "rows=17,words=4", "rows=3,words=0", "rows=0,words=5"};

}  // namespace

TEST_CASE("kernels choose the greatest elements of rows as the interpreter does", "[row choice]") {
  const Graph graph = choices();
  check_shapes(KernelCase(graph, "choices"), choice_shapes);
  const KernelCase narrow(graph, "choices", {.target = "x86-64-v3"});
  check_shapes(narrow, choice_shapes);
}

}  // namespace attune
