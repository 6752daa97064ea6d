#include "schedules/row_softmax/row_softmax.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/schedules/host.h"
#include "tests/schedules/stage_case.h"

using namespace attune;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();

/// exp(x - max) / sum as design says it: zeros for a row of -infinity.
struct Softmax {
  double maximum = -infinity, sum = 0;
  double of(double x) const { return maximum == -infinity ? 0.0 : std::exp(x - maximum) / sum; }
};

Softmax softmax_of(const StageCase& stage, const std::shared_ptr<OperandTensor>& x, const Index& at) {
  Softmax row;
  stage.each({"keys"}, at, [&](const Index& index) {
    if (const double value = x->at(index); std::isnan(value) || value > row.maximum) row.maximum = value;
  });
  stage.each({"keys"}, at, [&](const Index& index) { row.sum += std::exp(x->at(index) - row.maximum); });
  return row;
}

/// x in the order `dims`, weights in the order `out`.
void check(const std::vector<std::string>& dims, const std::vector<std::string>& out, const std::vector<Sizes>& all,
           const std::function<void(OperandTensor&)>& change = nullptr, const Machine& machine = host_machine()) {
  StageCase stage({"batch", "queries", "keys"});
  const auto x = stage.operand("x", dims);
  for (const SizeClass size : {SizeClass::large, SizeClass::small}) {
    stage.compile(row_softmax({x->piece(), "keys", out, {}}, stage.extents(), machine, row_softmax_parameters(machine, size)));
    for (const Sizes& sizes : all) {
      stage.run(sizes, 11, [&] {
        if (change) change(*x);
      });
      CAPTURE(size == SizeClass::large, sizes);
      // x - max and its product with log2 e are rounded once each, exp2 is right to 2e-7, the sum is of at most keys positive numbers.
      const auto allowed = [&](const Index&) { return 1e-6 + sizes[2] * 1e-8; };
      CHECK(stage.difference([&](const Index& index) { return softmax_of(stage, x, index).of(x->at(index)); }, allowed) == "");
      CHECK(stage.stray_writes() == 0);
    }
  }
}

const std::vector<Sizes> shapes = {{1, 1, 1}, {2, 5, 37}, {3, 37, 5}, {1, 129, 129}, {2, 1, 1000}, {1, 1000, 77}, {1, 3, 64}};

}  // namespace

TEST_CASE("softmax along the innermost dim", "[row_softmax]") {
  check({"batch", "queries", "keys"}, {"batch", "queries", "keys"}, shapes);
}

TEST_CASE("softmax along a dim that is not innermost", "[row_softmax]") {
  check({"batch", "keys", "queries"}, {"batch", "keys", "queries"}, shapes);
  check({"keys", "batch", "queries"}, {"keys", "batch", "queries"}, {{1, 1, 1}, {2, 5, 37}, {3, 37, 5}, {1, 129, 129}});
}

TEST_CASE("softmax in another order than its argument", "[row_softmax]") {
  check({"batch", "keys", "queries"}, {"queries", "batch", "keys"}, {{1, 1, 1}, {2, 5, 37}, {3, 37, 5}});
}

TEST_CASE("softmax of nothing", "[row_softmax]") {
  for (const auto& dims : {std::vector<std::string>{"batch", "queries", "keys"}, {"batch", "keys", "queries"}})
    check(dims, dims, {{2, 3, 0}, {2, 0, 3}, {0, 2, 3}, {0, 0, 0}});
}

TEST_CASE("softmax of a vector", "[row_softmax]") {
  StageCase stage({"batch", "queries", "keys"});
  const auto x = stage.operand("x", {"keys"});
  const Machine machine = host_machine();
  stage.compile(row_softmax({x->piece(), "keys", {"keys"}, {}}, stage.extents(), machine, row_softmax_parameters(machine, SizeClass::small)));
  for (const int keys : {0, 1, 5, 129}) {
    stage.run({1, 1, keys}, 3);
    CHECK(stage.difference([&](const Index& index) { return softmax_of(stage, x, index).of(x->at(index)); }, [](const Index&) { return 3e-6; }) ==
          "");
  }
}

TEST_CASE("fully masked rows are zeros, NaN and infinity give NaN, large numbers do neither", "[row_softmax]") {
  const auto special = [](OperandTensor& x) {
    for (int key = 0; key < 37; ++key) {
      x.at({0, 0, key}) = -infinity;
      if (key != 20) x.at({0, 1, key}) = -infinity;
      x.at({0, 2, key}) = std::numeric_limits<float>::lowest();
      if (key % 2 == 0) x.at({0, 3, key}) = -infinity;
      x.at({1, 3, key}) *= 1000;
    }
    x.at({0, 4, 36}) = not_a_number;
    x.at({1, 0, 0}) = infinity;
    x.at({1, 1, 7}) = -infinity;
    x.at({1, 2, 9}) = std::numeric_limits<float>::max();
    x.at({1, 4, 5}) = -not_a_number;
  };
  check({"batch", "queries", "keys"}, {"batch", "queries", "keys"}, {{2, 5, 37}}, special);
  check({"batch", "keys", "queries"}, {"batch", "keys", "queries"}, {{2, 5, 37}}, special);
}

TEST_CASE("softmax with narrower vectors", "[row_softmax]") {
  for (const int vector_bytes : {16, 32})
    check({"batch", "queries", "keys"}, {"batch", "queries", "keys"}, {{2, 5, 37}, {1, 1, 1}}, nullptr, narrow_machine(vector_bytes));
}
