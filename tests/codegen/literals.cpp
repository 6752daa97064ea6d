// Literals that are infinite or NaN, in every kind of stage: nothing may be left out of a result because LLVM takes arithmetic on them for undefined.
#include <catch2/catch.hpp>

#include <array>
#include <functional>

#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/special_numbers.h"

namespace attune {
namespace {

constexpr std::array literals = {infinity, -infinity, quiet_nan};
constexpr std::array<Name, 8> names = {"o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7"};

/// The tensors that the cases are made of: x [rows x columns], y [columns], truth [rows x columns].
struct Operands {
  Graph& g;
  Dim rows = g.dim("rows"), columns = g.dim("columns"), depth = g.dim("depth");
  Value x = g.input("x", {rows, columns}), y = g.input("y", {columns});
  Value truth = g.input("truth", {rows, columns}, Kind::boolean);
  Value q = g.input("q", {rows, depth}), k = g.input("k", {columns, depth}), v = g.input("v", {columns, depth});
  Value table = g.input("table", {columns, depth}), ids = g.input("ids", {rows}, Kind::i64);

  Value hidden(Value a, double literal) const { return select(truth, a, literal); }
  Value attention(Value scores, Value values) const { return matmul(softmax(scores, columns), values, columns); }
};

/// A graph of up to eight results, each with stages of the kind that is named.
struct Case {
  const char* name;
  std::function<std::vector<Value>(const Operands&, double literal)> results;
};

const std::vector<Case> cases = {
    {"pointwise",
     [](const Operands& o, double literal) {
       return std::vector{o.x + literal, o.x * literal,     literal - o.x,          o.x / literal, o.hidden(o.x, literal) + o.y, o.hidden(o.x, literal) * o.y,
                          -o.hidden(o.x, literal), exp(o.hidden(o.x, literal)) - o.y};
     }},
    {"gemm",
     [](const Operands& o, double literal) {
       const Value product = matmul(o.q, o.k, o.depth);
       return std::vector{product + literal, scale(product, literal), matmul(o.hidden(o.x, literal), o.v, o.columns), matmul(o.x * literal, o.v, o.columns)};
     }},
    {"gemm with a mask behind it",
     [](const Operands& o, double literal) {
       return std::vector{o.hidden(matmul(o.q, o.k, o.depth), literal) + o.y, o.hidden(matmul(o.q, o.k, o.depth), literal) * o.y,
                          maximum(o.hidden(matmul(o.q, o.k, o.depth), literal), o.y)};
     }},
    {"reduce",
     [](const Operands& o, double literal) {
       return std::vector{sum(o.hidden(o.x, literal), o.columns), max(o.hidden(o.x, literal), o.columns), max(o.x + literal, o.columns), max(o.hidden(o.x, literal), o.rows) + o.y,
                          sum(o.hidden(o.x, literal) * o.y, o.rows)};
     }},
    {"row_walk",
     [](const Operands& o, double literal) {
       const Value x = o.hidden(o.x, literal);
       return std::vector{cumulative_sum(x, o.columns), cumulative_sum(x, o.rows, true), cumulative_sum(o.x + literal, o.columns), select(top_k(x, o.columns, 3), o.x, 0),
                          select(top_k(x, o.rows, 2), o.x, 0)};
     }},
    {"row_softmax",
     [](const Operands& o, double literal) {
       return std::vector{softmax(o.hidden(o.x, literal), o.columns), softmax(o.hidden(o.x, literal) + o.y, o.columns), softmax(o.x * literal, o.columns)};
     }},
    {"online_softmax of changed scores",
     [](const Operands& o, double literal) {
       const Value scores = matmul(o.q, o.k, o.depth);
       return std::vector{o.attention(scale(scores, literal), o.v), o.attention(o.hidden(scores, literal) + o.y, o.v), o.attention(o.hidden(scores, literal), o.v),
                          o.attention(scores + o.hidden(o.x, literal), o.v)};
     }},
    {"online_softmax of changed values and results",
     [](const Operands& o, double literal) {
       const Value scores = matmul(o.q, o.k, o.depth), values = select(o.v > 0.5, o.v, literal);
       return std::vector{o.attention(scores, values), o.attention(scores, o.v) + literal, o.attention(scores, o.v) * literal,
                          matmul(softmax(scores, o.columns) * literal, o.v, o.columns)};
     }},
    {"gather outside",
     [](const Operands& o, double literal) {
       const Value rows = gather(o.table, o.ids, o.columns);  // [rows x depth]
       return std::vector{rows + o.q, rows * literal, max(rows + o.q, o.depth), sum(rows, o.depth), matmul(rows, o.k, o.depth)};
     }},
};

/// Each result with one of the literals, the first with that of the number.
Graph graph_of(const Case& c, std::size_t number) {
  Graph g;
  const Operands operands{g};
  std::array<std::vector<Value>, literals.size()> results;
  for (std::size_t l = 0; l < literals.size(); ++l) results[l] = c.results(operands, literals[l]);
  for (std::size_t n = 0; n < results[0].size(); ++n) {
    const Value result = results[(n + number) % literals.size()][n];
    g.output(names[n], result, dims_of(result));
  }
  g.finish();
  return g;
}

/// Of calls of every size.
const char* const literal_shapes[] = {"rows=1,columns=1,depth=16", "rows=1,columns=31,depth=16", "rows=5,columns=37,depth=16",
                                      "rows=37,columns=129,depth=16", "rows=70,columns=5,depth=16"};

/// How the kernel differs from the interpreter at any of the shapes; ids are outside where they are odd.
std::string difference(const KernelCase& kernel) {
  std::string all;
  for (const char* shape : literal_shapes) {
    const Shape extents = fill_shape(kernel.graph(), parse_shape(shape, "shape").extents).extents;
    const auto columns = static_cast<double>(extents.at("columns"));
    Arrays inputs = random_inputs(kernel.graph(), extents, 3);
    if (const auto ids = inputs.find("ids"); ids != inputs.end())
      for (std::size_t n = 1; n < ids->second.data.size(); n += 2) ids->second.data[n] = n % 4 == 1 ? -1.0 : columns;
    if (const std::string text = kernel.difference(extents, inputs); !text.empty()) all += std::string(shape) + ": " + text + "\n";
  }
  return all;
}

}  // namespace

void check_all(std::size_t number, Tried tried) {
  std::size_t row = number;
  for (const Case& c : cases) {
    CAPTURE(c.name, number);
    const Graph graph = graph_of(c, number);
    REQUIRE(graph.problem().empty());
    const KernelCase kernel(graph, "literals");
    keep_to_part(kernel, literal_shapes, tried, row++);
    CHECK(difference(kernel) == "");
  }
}

TEST_CASE("stages of every kind with literals that are infinite or NaN agree with the interpreter", "[special]") { check_all(0, Tried::part); }

TEST_CASE("stages of every kind with each literal that is infinite or NaN agree with the interpreter", "[.full]") {
  for (std::size_t number = 0; number < literals.size(); ++number) check_all(number, Tried::whole);
}

TEST_CASE("ordinary shapes of a product with a mask and no softmax behind it agree with the interpreter", "[special]") {
  const auto masked = [](const Operands& o, double) {
    const Value product = matmul(o.q, o.k, o.depth);
    return std::vector{mask(product, o.truth) + o.y, mask(product, index(o.columns) <= 3 * index(o.rows) + 16) + o.y};
  };
  const Graph graph = graph_of({"", masked}, 0);
  const KernelCase kernel(graph, "masked_product");
  for (int rows = 1; rows < 8; ++rows)
    for (int columns = 1; columns < 70; ++columns)
      CHECK(kernel.difference("rows=" + std::to_string(rows) + ",columns=" + std::to_string(columns) + ",depth=5", 1) == "");
}

}  // namespace attune
