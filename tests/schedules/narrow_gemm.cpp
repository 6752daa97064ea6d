#include "schedules/gemm/narrow_gemm.h"

#include <catch2/catch.hpp>

#include "tests/schedules/product_case.h"

using namespace attune;
using Halide::Expr;

namespace {

void check_narrow(ProductCase& p, const std::vector<Sizes>& all, const Machine& machine = host_machine()) {
  CHECK(narrow_gemm_refusal(p.body, p.stage.extents(), machine) == "");
  for (const std::int64_t rows : {1, 4, 6}) {
    CAPTURE(rows, machine.vector_bytes);
    check_stored(p, narrow_gemm(p.body, p.stage.extents(), machine, with_values(narrow_gemm_parameters(machine, SizeClass::few), {{"row_tile", {}, rows}})), all);
  }
}

ProductCase gate(const std::vector<std::string>& weight_dims) {
  ProductCase p{StageCase({"batch", "tokens", "experts", "model"})};
  const auto x = p.stage.operand("x", {"batch", "tokens", "model"}), weight = p.stage.operand("weight", weight_dims);
  const auto bias = p.stage.operand("bias", {"experts"});
  p.body = {x->piece(), weight->piece(), {}, {"batch", "tokens"}, {"experts"}, {"model"}, {}, {"batch", "tokens", "experts"}};
  p.body.finish = [bias](Expr sum, const Coordinates& at) { return sum + bias->piece().at(at); };
  p.a = element(x), p.b = element(weight);
  p.finish = [bias](double sum, const Index& at) { return sum + bias->at(at); };
  return p;
}

}  // namespace

TEST_CASE("a handful of columns, whose weights lie either way", "[narrow]") {
  for (const Machine& machine : {host_machine(), narrow_machine(16)})
    for (const auto& weights : {std::vector<std::string>{"experts", "model"}, {"model", "experts"}}) {
      ProductCase p = gate(weights);
      check_narrow(p,
                   {{1, 1, 1, 1}, {2, 37, 8, 129}, {3, 129, 5, 37}, {1, 5, 37, 64}, {2, 300, 1, 16}, {1, 5, 3, 0}, {1, 0, 3, 5}, {0, 5, 3, 5}, {1, 5, 0, 7}},
                   machine);
    }
}

TEST_CASE("a handful of keys, by batch and head", "[narrow]") {
  ProductCase p{StageCase({"heads", "queries", "keys", "depth"})};
  const auto q = p.stage.operand("q", {"heads", "queries", "depth"}), k = p.stage.operand("k", {"heads", "keys", "depth"});
  p.body = {q->piece(), k->piece(), {"heads"}, {"queries"}, {"keys"}, {"depth"}, {}, {"heads", "queries", "keys"}};
  p.a = element(q), p.b = element(k);
  check_narrow(p, {{1, 1, 1, 1}, {3, 37, 5, 129}, {2, 129, 8, 37}, {5, 5, 3, 16}, {0, 5, 3, 4}});
}

TEST_CASE("two contracted dims and no column", "[narrow]") {
  ProductCase p{StageCase({"tokens", "heads", "depth"})};
  const auto x = p.stage.operand("x", {"tokens", "heads", "depth"}), w = p.stage.operand("w", {"heads", "depth"});
  p.body = {w->piece(), x->piece(), {}, {}, {"tokens"}, {"heads", "depth"}, {}, {"tokens"}};
  p.a = element(w), p.b = element(x);
  check_narrow(p, {{1, 1, 1}, {37, 3, 20}, {129, 5, 1}, {5, 0, 3}, {5, 3, 0}, {0, 3, 3}});
}

TEST_CASE("rows that do not lie along the contraction are refused", "[narrow]") {
  ProductCase p{StageCase({"tokens", "experts", "model"})};
  const auto x = p.stage.operand("x", {"model", "tokens"}), w = p.stage.operand("w", {"experts", "model"});
  p.body = {x->piece(), w->piece(), {}, {"tokens"}, {"experts"}, {"model"}, {}, {"tokens", "experts"}};
  CHECK_THAT(narrow_gemm_refusal(p.body, p.stage.extents(), host_machine()), Catch::Contains("would be copied"));
}
