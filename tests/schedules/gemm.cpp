/// Products of any operands, and what gemm refuses.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "codegen/halide/numbers/vector_math.h"
#include "tests/schedules/product_case.h"

using namespace attune;
using Halide::Expr;

TEST_CASE("numbers made of one element of memory are multiplied together", "[gemm]") {
  ProductCase p{StageCase({"tokens", "half", "place", "columns"}, {{"half", 2}})};
  const auto x = p.stage.operand("x", {"tokens", "half", "place"}), pairs = p.stage.operand("pairs", {"place", "columns"});
  const Piece of_pairs{{"half", "place", "columns"}, [pairs](const Coordinates& at) { return Lowered{pairs->piece().at(at) * Halide::cast<float>(at.at("half") * 2 + 1)}; }};
  p.body = {x->piece(), of_pairs, {}, {"tokens"}, {"columns"}, {"half", "place"}, {}, {"tokens", "columns"}};
  p.a = element(x);
  p.b = [pairs](const Index& index) { return static_cast<double>(pairs->at(index)) * (index[1] * 2 + 1); };
  const Stored stored = gemm(p.body, p.stage.extents(), host_machine(), gemm_parameters(host_machine(), SizeClass::small));
  int sums = 0, unrolled_sums = 0;
  for (const auto& [name, function] : Halide::Internal::find_transitive_calls(stored.func.function()))
    if (name.starts_with("sums")) {
      ++sums;
      for (const Halide::Internal::Dim& dim : function.update(0).schedule().dims())
        unrolled_sums += dim.is_rvar() && dim.for_type == Halide::Internal::ForType::Unrolled;
    }
  CHECK(sums >= 2);  // of tiles of rows, and of single ones
  CHECK(unrolled_sums == sums);
  check(p, {{1, 2, 1, 1}, {1, 2, 37, 64}, {5, 2, 16, 37}, {37, 2, 5, 129}, {1, 2, 0, 5}, {0, 2, 5, 5}});
}

TEST_CASE("a projection back from heads contracts two dims", "[gemm]") {
  ProductCase p{StageCase({"batch", "heads", "tokens", "depth", "model"})};
  const auto x = p.stage.operand("x", {"batch", "heads", "tokens", "depth"}), weight = p.stage.operand("wo", {"model", "heads", "depth"});
  p.body = {x->piece(), weight->piece(), {}, {"batch", "tokens"}, {"model"}, {"heads", "depth"}, {}, {"batch", "tokens", "model"}};
  p.a = element(x), p.b = element(weight);
  check(p, {{1, 1, 1, 1, 1}, {2, 3, 5, 37, 37}, {1, 12, 37, 32, 129}, {1, 5, 129, 5, 16}, {2, 0, 5, 3, 4}, {2, 3, 5, 0, 4}, {1, 2, 1, 77, 200}});
}

TEST_CASE("scores of a batch, scaled before and masked after", "[gemm]") {
  ProductCase p{StageCase({"batch", "heads", "queries", "keys", "depth"})};
  const auto q = p.stage.operand("q", {"batch", "heads", "queries", "depth"}), k = p.stage.operand("k", {"batch", "heads", "keys", "depth"});
  Piece scaled = q->piece();
  scaled.element = [q](const Coordinates& at) { return Lowered{q->piece().at(at) * 0.25f}; };
  p.body = {scaled, k->piece(), {"batch", "heads"}, {"queries"}, {"keys"}, {"depth"}, {}, {"batch", "heads", "queries", "keys"}};
  p.body.finish = [](Expr sum, const Coordinates& at) { return Halide::select(at.at("keys") <= at.at("queries"), sum, -1.f); };
  p.a = [q](const Index& index) { return q->at(index) * 0.25; };
  p.b = element(k);
  p.finish = [](double sum, const Index& at) { return at[3] <= at[2] ? sum : -1.0; };
  check(p, {{1, 1, 1, 1, 1}, {2, 3, 5, 37, 37}, {1, 8, 129, 129, 64}, {1, 2, 37, 1, 16}, {2, 3, 1, 129, 5}, {0, 1, 2, 3, 4}});
}

TEST_CASE("values of grouped heads, weighed by an expression that is not computed again in the inner loop", "[gemm]") {
  ProductCase p{StageCase({"batch", "heads", "group", "queries", "keys", "depth"})};
  const auto s = p.stage.operand("s", {"batch", "heads", "group", "queries", "keys"}), v = p.stage.operand("v", {"batch", "heads", "keys", "depth"});
  Piece weights = s->piece();
  weights.element = [s](const Coordinates& at) { return Lowered{vector_math::exp(vector_math::tanh(s->piece().at(at)))}; };
  p.body = {weights, v->piece(), {"batch", "heads", "group"}, {"queries"}, {"depth"}, {"keys"}, {}, {"batch", "heads", "group", "queries", "depth"}};
  p.a = [s](const Index& index) { return std::exp(std::tanh(s->at(index))); };
  p.b = element(v);
  check(p, {{1, 1, 1, 1, 1, 1}, {2, 3, 2, 5, 37, 37}, {1, 2, 3, 37, 129, 64}, {1, 2, 4, 1, 77, 5}, {1, 1, 1, 5, 0, 5}, {0, 1, 1, 5, 3, 5}, {1, 1, 1, 0, 3, 5}, {1, 1, 1, 5, 3, 0}});
}

TEST_CASE("operands that are both transposed", "[gemm]") {
  ProductCase p{StageCase({"rows", "columns", "over"})};
  const auto a = p.stage.operand("a", {"over", "rows"}), b = p.stage.operand("b", {"over", "columns"});
  p.body = {a->piece(), b->piece(), {}, {"rows"}, {"columns"}, {"over"}, {}, {"rows", "columns"}};
  p.a = element(a), p.b = element(b);
  check(p, {{1, 1, 1}, {5, 37, 129}, {37, 129, 5}, {129, 5, 37}, {1, 129, 40}, {129, 1, 40}, {1000, 77, 3}, {5, 3, 0}, {0, 3, 5}, {5, 0, 3}});
}

TEST_CASE("a matrix times a vector, either way round, and a dot product", "[gemm]") {
  for (const bool has_rows : {true, false}) {
    ProductCase p{StageCase({"batch", "tokens", "model"})};
    const auto x = p.stage.operand("x", {"batch", "tokens", "model"}), w = p.stage.operand("w", {"model"});
    p.body = {x->piece(), w->piece(), {}, {"batch", "tokens"}, {}, {"model"}, {}, {"batch", "tokens"}};
    p.a = element(x), p.b = element(w);
    if (!has_rows) std::swap(p.body.a, p.body.b), std::swap(p.body.rows, p.body.columns);
    check(p, {{1, 1, 1}, {2, 37, 129}, {5, 1, 1000}, {1, 300, 5}, {0, 3, 4}, {2, 3, 0}});
  }
  ProductCase p{StageCase({"model"})};
  const auto x = p.stage.operand("x", {"model"}), w = p.stage.operand("w", {"model"});
  p.body = {x->piece(), w->piece(), {}, {}, {}, {"model"}, {}, {}};
  p.a = element(x), p.b = element(w);
  check(p, {{1}, {37}, {1000}, {0}});
}

TEST_CASE("an outer product contracts nothing", "[gemm]") {
  ProductCase p{StageCase({"rows", "columns"})};
  const auto a = p.stage.operand("a", {"rows"}), b = p.stage.operand("b", {"columns"});
  p.body = {a->piece(), b->piece(), {}, {"rows"}, {"columns"}, {}, {}, {"rows", "columns"}};
  p.a = element(a), p.b = element(b);
  check(p, {{1, 1}, {37, 129}, {0, 5}, {5, 0}});
}

TEST_CASE("panels that do not fit into one part or one span", "[gemm]") {
  ProductCase p{StageCase({"rows", "columns", "over"})};
  const auto a = p.stage.operand("a", {"rows", "over"}), b = p.stage.operand("b", {"columns", "over"});
  p.body = {a->piece(), b->piece(), {}, {"rows"}, {"columns"}, {"over"}, {}, {"rows", "columns"}};
  p.a = element(a), p.b = element(b);
  // 11 comes to every column
  check(p, {{3, 1300, 2100}, {200, 5, 9000}, {701, 70, 9500}}, host_machine(), 11);
}

TEST_CASE("a contraction in slices, of one dim and of places of several", "[gemm]") {
  ProductCase p{StageCase({"batch", "heads", "tokens", "depth", "model"})};
  const auto x = p.stage.operand("x", {"batch", "heads", "tokens", "depth"}), weight = p.stage.operand("wo", {"model", "heads", "depth"});
  p.body = {x->piece(), weight->piece(), {}, {"batch", "tokens"}, {"model"}, {"heads", "depth"}, {}, {"batch", "tokens", "model"}};
  p.body.finish = [](Expr sum, const Coordinates& at) { return Halide::select(at.at("tokens") <= at.at("model"), sum, -1.f); };
  p.a = element(x), p.b = element(weight);
  p.finish = [](double sum, const Index& at) { return at[2] <= at[4] ? sum : -1.0; };
  // Tiles of tasks that are not full, last parts and last slices; the sums of some go over 32 slices.
  check(p, {{1, 1, 5, 4099, 129}, {2, 1, 129, 2500, 333}, {1, 3, 129, 1500, 333}, {1, 3, 37, 1500, 77}, {1, 77, 101, 64, 700}, {1, 700, 13, 5, 37}, {1, 1, 37, 33000, 5},
            {1, 1, 0, 3000, 5}, {1, 1, 5, 3000, 0}, {0, 1, 5, 3000, 5}},
        host_machine(), 7);
}

TEST_CASE("NaN and infinity reach the sums that they are in, and no other", "[gemm]") {
  ProductCase p{StageCase({"rows", "columns", "over"})};
  const auto a = p.stage.operand("a", {"rows", "over"}), b = p.stage.operand("b", {"columns", "over"});
  p.body = {a->piece(), b->piece(), {}, {"rows"}, {"columns"}, {"over"}, {}, {"rows", "columns"}};
  p.a = element(a), p.b = element(b);
  p.change = [a, b] {
    a->at({4, 0, 18}) = std::numeric_limits<float>::quiet_NaN();
    b->at({0, 36, 18}) = std::numeric_limits<float>::quiet_NaN();
  };
  check(p, {{5, 37, 19}});
}

TEST_CASE("a product between stages", "[gemm]") {
  StageCase stage({"rows", "columns", "over", "last"});
  const auto a = stage.operand("a", {"rows", "over"}), b = stage.operand("b", {"columns", "over"}), c = stage.operand("c", {"columns", "last"});
  const Machine machine = host_machine();
  for (const SizeClass size : {SizeClass::large, SizeClass::small}) {
    const auto values = gemm_parameters(machine, size);
    const Stored inner = gemm({a->piece(), b->piece(), {}, {"rows"}, {"columns"}, {"over"}, {}, {"rows", "columns"}}, stage.extents(), machine, values);
    const Piece middle{inner.dims, [inner](const Coordinates& at) { return Lowered{inner.func(at.at("columns"), at.at("rows"))}; }};
    Stored outer = gemm({middle, c->piece(), {}, {"rows"}, {"last"}, {"columns"}, {}, {"rows", "last"}}, stage.extents(), machine, values);
    outer.numbers.insert(outer.numbers.end(), inner.numbers.begin(), inner.numbers.end());
    stage.compile(outer);
    for (const Sizes& sizes : {Sizes{1, 1, 1, 1}, {37, 5, 16, 5}, {20, 37, 5, 40}, {5, 0, 3, 5}, {5, 3, 0, 5}, {0, 3, 2, 5}, {5, 3, 2, 0}}) {
      stage.run(sizes, 3);
      CAPTURE(size == SizeClass::large, sizes);
      double magnitude = 0;
      const auto expected = [&](const Index& at) {
        double sum = 0;
        magnitude = 0;
        stage.each({"columns", "over"}, at, [&](const Index& index) {
          sum += static_cast<double>(a->at(index)) * b->at(index) * c->at(index);
          magnitude += std::abs(static_cast<double>(a->at(index)) * b->at(index) * c->at(index));
        });
        return sum;
      };
      CHECK(stage.difference(expected, [&](const Index&) { return (sizes[1] + sizes[2] + 4) * std::ldexp(magnitude, -24); }) == "");
      CHECK(stage.stray_writes() == 0);
    }
  }
}

TEST_CASE("a value that is not legal is refused with those that are", "[parameters]") {
  const Machine machine = narrow_machine(32);
  CHECK(parameter_problem("gemm", gemm_parameters(machine, SizeClass::large), {{"row_tile", {}, 48}}) ==
        "schedule 'gemm': row_tile = 48 is not one of 1, 2, 4, 6");
}
