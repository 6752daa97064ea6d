/// Linear layers: products whose weights lie in one order or another, or in panels.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/schedules/product_case.h"

using namespace attune;
using Halide::Expr;

namespace {

/// out[batch, heads, tokens, depth] = x[batch, tokens, model] weight[heads, depth, model] + bias[heads, depth]
ProductCase linear(const std::map<std::string, int>& fixed = {}, const std::vector<std::string>& out = {"batch", "heads", "tokens", "depth"},
                   const std::vector<std::string>& weight_dims = {"heads", "depth", "model"}) {
  ProductCase p{StageCase({"batch", "heads", "tokens", "depth", "model"}, fixed)};
  const auto x = p.stage.operand("x", {"batch", "tokens", "model"}), weight = p.stage.operand("weight", weight_dims);
  const auto bias = p.stage.operand("bias", {"heads", "depth"});
  p.body = {x->piece(), weight->piece(), {}, {"batch", "tokens"}, {"heads", "depth"}, {"model"}, {}, out};
  p.body.finish = [bias](Expr sum, const Coordinates& at) { return sum + bias->piece().at(at); };
  p.a = element(x), p.b = element(weight);
  p.finish = [bias](double sum, const Index& at) { return sum + bias->at(at); };
  return p;
}

/// The columns are copied before they are multiplied.
bool copies_columns(const ProductCase& product, const Machine& machine) {
  const Stored stored = gemm(product.body, product.stage.extents(), machine, gemm_parameters(machine, SizeClass::large));
  const auto called = Halide::Internal::find_transitive_calls(stored.func.function());
  return std::ranges::any_of(called, [](const auto& named) { return named.first.starts_with("column_panel"); });
}

/// Columns of the tile in which small calls compute a single row.
int row_width(const ProductCase& product, const Machine& machine) {
  const Stored stored = gemm(product.body, product.stage.extents(), machine, gemm_parameters(machine, SizeClass::small));
  for (const auto& [name, function] : Halide::Internal::find_transitive_calls(stored.func.function())) {
    std::map<std::string, int> extents;
    for (const Halide::Internal::Bound& bound : function.schedule().bounds())
      if (const auto extent = Halide::Internal::as_const_int(bound.extent)) extents[bound.var] = static_cast<int>(*extent);
    if (name.starts_with("sums") && extents["i-"] == 1) return extents["j-"];
  }
  return 0;
}

}  // namespace

TEST_CASE("a linear layer into heads, all extents unknown", "[linear]") {
  ProductCase p = linear();
  check(p, {{1, 1, 1, 1, 1}, {2, 3, 5, 5, 37}, {1, 2, 37, 64, 129}, {3, 1, 13, 129, 16}, {2, 5, 1, 8, 77}, {1, 1, 1000, 5, 7}, {1, 1, 129, 300, 20}, {1, 2, 5, 37, 600}});
}

TEST_CASE("last tiles of every number of rows", "[linear]") {
  for (const Machine& machine : {host_machine(), narrow_machine(16)}) {
    const auto most = static_cast<int>(value_of(gemm_parameters(machine, SizeClass::large), "row_tile"));
    std::vector<Sizes> all;
    for (int rows = 1; rows <= 2 * most; ++rows) all.push_back({1, 1, rows, 37, rows % 2 == 0 ? 37 : 64});
    ProductCase p = linear();
    check(p, all, machine);
  }
}

TEST_CASE("a product with an extent of 0", "[linear]") {
  ProductCase p = linear();
  check(p, {{2, 2, 5, 3, 0}, {0, 2, 5, 3, 4}, {2, 0, 5, 3, 4}, {2, 2, 0, 3, 4}, {2, 2, 5, 0, 4}, {0, 0, 0, 0, 0}});
}

TEST_CASE("a linear layer of known extents", "[linear]") {
  ProductCase p = linear({{"heads", 3}, {"depth", 32}, {"model", 64}});
  check(p, {{1, 3, 1, 32, 64}, {2, 3, 37, 32, 64}, {0, 3, 5, 32, 64}});
}

TEST_CASE("a linear layer whose result ends in a dim of the rows", "[linear]") {
  ProductCase p = linear({}, {"heads", "depth", "batch", "tokens"});
  check(p, {{1, 1, 1, 1, 1}, {2, 3, 37, 5, 37}, {1, 2, 129, 20, 16}, {3, 1, 5, 5, 0}});
}

TEST_CASE("a linear layer whose weight is stored in x out", "[linear]") {
  ProductCase p = linear({}, {"batch", "heads", "tokens", "depth"}, {"model", "heads", "depth"});
  check(p, {{1, 1, 1, 1, 1}, {2, 3, 37, 5, 37}, {1, 2, 129, 64, 16}, {1, 2, 1, 77, 40}, {3, 1, 5, 5, 0}});
}

TEST_CASE("a few rows take wide tiles of columns, and narrow ones of those that are left", "[linear]") {
  const std::vector<std::string> out = {"batch", "heads", "tokens", "depth"}, in_x_out = {"model", "heads", "depth"};
  for (const Machine& machine : {host_machine(), narrow_machine(16)}) {
    ProductCase p = linear({}, out, in_x_out);
    check(p, {{1, 1, 1, 300, 37}, {1, 3, 1, 129, 5}, {1, 2, 4, 130, 16}, {1, 1, 3, 70, 5}, {1, 3, 2, 257, 1}, {2, 1, 5, 128, 3}}, machine);
  }
  ProductCase known = linear({{"depth", 200}}, out, in_x_out);
  check(known, {{1, 1, 1, 200, 37}, {1, 3, 1, 200, 5}, {1, 2, 3, 200, 16}, {1, 1, 5, 200, 5}});
}

TEST_CASE("heads of any width share tiles of columns", "[linear]") {
  const std::vector<std::string> out = {"batch", "heads", "tokens", "depth"}, out_x_in = {"heads", "depth", "model"}, in_x_out = {"model", "heads", "depth"};
  for (const Machine& machine : {host_machine(), narrow_machine(16)}) {
    const int lanes = machine.vector_bytes / 4;
    const std::pair<int, std::vector<std::string>> known[] = {{lanes * 3 / 2, out_x_in}, {lanes * 5 / 2, in_x_out}, {lanes * 6 + 1, out_x_in}};
    for (const auto& [depth, weights] : known) {
      CAPTURE(lanes, weights, depth);
      ProductCase p = linear({{"depth", depth}}, out, weights);
      check(p, {{1, 1, 1, depth, 1}, {2, 3, 5, depth, 37}, {1, 5, 37, depth, 7}, {1, 0, 5, depth, 4}}, machine);
    }
  }
  const int lanes = host_machine().vector_bytes / 4;
  for (const auto& weights : {out_x_in, in_x_out}) {
    ProductCase p = linear({}, out, weights);
    check(p, {{1, 5, 37, lanes * 3 / 2, 5}, {2, 3, 17, lanes * 2, 37}, {1, 7, 5, lanes * 5, 3}, {1, 2, 5, 0, 3}});
  }
}

TEST_CASE("columns that lie in panels are read in place", "[linear]") {
  for (const Machine& machine : {host_machine(), narrow_machine(16), narrow_machine(32)}) {
    const int width = static_cast<int>(value_of(gemm_parameters(machine, SizeClass::large), "column_vectors")) * machine.vector_bytes / 4;
    const std::vector<std::string> out = {"batch", "heads", "tokens", "depth"}, in_panels = {"heads", "model", "depth"};
    CAPTURE(machine.vector_bytes, width);
    ProductCase p = linear({{"depth", width}}, out, in_panels);
    CHECK(!copies_columns(p, machine));
    check(p, {{1, 1, 1, width, 1}, {2, 3, 5, width, 37}, {1, 5, 37, width, 129}, {3, 1, 129, width, 600}, {2, 2, 5, width, 0}, {2, 0, 5, width, 4}, {0, 2, 5, width, 4}},
          machine);
    CHECK(copies_columns(linear({}, out, in_panels), machine));
    CHECK(copies_columns(linear({{"depth", width}}, out), machine));
    for (const int other : {width - 1, width * 2}) CHECK(copies_columns(linear({{"depth", other}}, out, in_panels), machine));
  }
}

TEST_CASE("a single row takes columns of a known number in tiles of about a width", "[linear]") {
  const std::vector<std::string> out = {"batch", "heads", "tokens", "depth"}, in_panels = {"heads", "model", "depth"};
  const Machine machine = host_machine();
  const int lanes = machine.vector_bytes / 4, most = machine.registers / 4;
  const std::pair<int, int> vectors_of[] = {{1, 1}, {lanes * 3 - 1, 3}, {lanes * most, most}, {lanes * (most + 2), most / 2 + 1}};
  for (const auto& [depth, vectors] : vectors_of) {
    CAPTURE(depth);
    ProductCase p = linear({{"depth", depth}}, out, in_panels);
    CHECK(row_width(p, machine) == vectors * lanes);
    check(p, {{1, 1, 1, depth, 1}, {1, 3, 1, depth, 37}, {2, 3, 5, depth, 37}, {1, 2, 1, depth, 0}, {1, 0, 1, depth, 4}, {0, 2, 1, depth, 4}}, machine);
  }
}

TEST_CASE("a linear layer whose weight ends in neither the contraction nor the result's innermost dim", "[linear]") {
  ProductCase p = linear({}, {"batch", "heads", "tokens", "depth"}, {"model", "depth", "heads"});
  check(p, {{1, 1, 1, 1, 1}, {2, 3, 37, 5, 37}, {1, 2, 20, 64, 16}});
}

TEST_CASE("narrower vectors and other tiles", "[linear]") {
  for (const int vector_bytes : {16, 32}) {
    ProductCase p = linear();
    check(p, {{1, 1, 1, 1, 1}, {2, 3, 5, 5, 37}, {1, 2, 37, 64, 129}}, narrow_machine(vector_bytes));
  }
  ProductCase p = linear();
  const Machine machine = host_machine();
  for (const Parameter& parameter : gemm_parameters(machine, SizeClass::large)) {
    for (const std::int64_t value : {parameter.legal.front(), parameter.legal.back()}) {
      if (value == parameter.value) continue;
      const auto values = with_values(gemm_parameters(machine, SizeClass::large), {{parameter.name, {}, value}});
      p.stage.compile(gemm(p.body, p.stage.extents(), machine, values));
      p.stage.run({2, 3, 37, 40, 20}, 5);
      CAPTURE(parameter.name, value);
      const auto expected = [&](const Index& at) {
        double sum = 0;
        p.stage.each({"model"}, at, [&](const Index& index) { sum += p.a(index) * p.b(index); });
        return p.finish(sum, at);
      };
      CHECK(p.stage.difference(expected, [](const Index&) { return 20 * 16 * std::ldexp(1., -24); }) == "");
    }
  }
}
