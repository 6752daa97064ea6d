#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "codegen/halide/numbers/lowered.h"
#include "tests/numbers/masks.h"
#include "tests/numbers/tree_value.h"

namespace attune {
namespace {

using Symbols = Interval<Lowered>;
using Numbers = Interval<double>;

Symbols symbol(double x) { return Symbols::point(Lowered::integer(static_cast<std::int64_t>(x))); }

/// The expressions' values for t below `tiles` and b below `blocks`; truth values as 0 and 1.
std::vector<Halide::Buffer<std::int64_t>> grid(const std::vector<Lowered>& values, Halide::Var t, Halide::Var b, int tiles, int blocks) {
  std::vector<Halide::Func> funcs;
  for (const Lowered& value : values) {
    funcs.emplace_back("f");
    funcs.back()(t, b) = Halide::cast<std::int64_t>(to_i64(value).expr);
  }
  Halide::Realization results = Halide::Pipeline(funcs).realize({tiles, blocks});
  std::vector<Halide::Buffer<std::int64_t>> buffers;
  for (std::size_t k = 0; k < values.size(); ++k) buffers.emplace_back(results[static_cast<int>(k)]);
  return buffers;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("block predicates as expressions are those on double", "[interval]", Masks) {
  const Halide::Var t("t"), b("b");
  const auto first = [](Halide::Var block, int size) { return Lowered::of(Halide::Expr(block) * size, index_range); };
  const Symbols queries = {first(t, 96), first(t, 96) + Lowered::integer(95)}, keys = {first(b, 64), first(b, 64) + Lowered::integer(63)};
  const Symbols truth = TestType::visible(queries, keys, symbol);
  const auto got = grid({truth.low, truth.high}, t, b, 12, 18);
  for (int tile = 0; tile < 12; ++tile)
    for (int block = 0; block < 18; ++block) {
      const Interval<bool> expected =
          TestType::visible(Numbers{tile * 96., tile * 96. + 95}, Numbers{block * 64., block * 64. + 63}, Numbers::point);
      INFO(TestType::name << ": tile " << tile << ", block " << block);
      CHECK((got[0](tile, block) != 0) == expected.low);
      CHECK((got[1](tile, block) != 0) == expected.high);
    }
}

TEST_CASE("random trees over intervals of expressions are those over intervals of double", "[interval]") {
  const Halide::Var t("t"), b("b");
  const auto side = [](Halide::Var v, int size, int offset, int extent) {
    const Halide::Expr low = Halide::Expr(v) * size + offset;
    return Symbols{Lowered::of(low, {-1000, 1000}), Lowered::of(low + extent, {-1000, 1000})};
  };
  const std::array<Symbols, 3> leaves = {side(t, 7, -20, 5), side(b, 5, -3, 0), side(b, -9, 8, 11)};
  std::vector<Tree> trees;
  std::vector<Lowered> ends;
  for (std::uint32_t seed = 0; seed < 16; ++seed) {
    trees.push_back(TreeMaker(seed, 3, false).truth(3));
    const Symbols truth = Evaluation<Symbols, Symbols>(trees.back(), leaves, symbol).truth();
    ends.insert(ends.end(), {truth.low, truth.high});
  }
  const auto got = grid(ends, t, b, 8, 8);
  for (int tile = 0; tile < 8; ++tile)
    for (int block = 0; block < 8; ++block) {
      const double x = 7. * tile - 20, y = 5. * block - 3, z = -9. * block + 8;
      const std::array<Numbers, 3> numbers = {Numbers{x, x + 5}, Numbers{y, y}, Numbers{z, z + 11}};
      for (std::size_t k = 0; k < trees.size(); ++k) {
        const Interval<bool> expected = Evaluation<Numbers, Interval<bool>>(trees[k], numbers, Numbers::point).truth();
        INFO("seed " << k << ", tile " << tile << ", block " << block);
        REQUIRE((got[2 * k](tile, block) != 0) == expected.low);
        REQUIRE((got[2 * k + 1](tile, block) != 0) == expected.high);
      }
    }
}

TEST_CASE("nothing is certain of unbounded integers, and nothing wraps", "[interval]") {
  const Symbols anything = {Lowered::integer(std::numeric_limits<std::int64_t>::min()),
                            Lowered::integer(std::numeric_limits<std::int64_t>::max())};
  const Halide::Var t("t"), b("b");
  const Symbols keys = {Lowered::of(t * 4, index_range), Lowered::of(t * 4 + 3, index_range)};
  const Symbols step = {Lowered::of(b - 2, {-5, 5}), Lowered::of(b - 1, {-5, 5})};
  const Symbols negative = Symbols::point(Lowered::of(b - 7, {-9, 5}));
  std::vector<Lowered> certain;
  for (const Symbols& x :
       {anything, anything - keys, keys + anything, -anything, anything * step, abs(-anything), floor_div(anything, step),
        floor_div(-anything, negative), (anything + symbol(1)) * keys, anything - symbol(1)}) {
    certain.push_back((keys < x).low);
    certain.push_back((x == symbol(7)).low);
    certain.push_back(!(x > symbol(7)).high);
  }
  certain.push_back(!(mod(anything, symbol(5)) <= symbol(4)).low);
  const auto got = grid(certain, t, b, 6, 6);
  for (std::size_t k = 0; k < certain.size(); ++k)
    for (std::int64_t wrong : got[k]) {
      INFO("statement " << k);
      CHECK(wrong == 0);
    }
  CHECK((anything * symbol(0)).high.range == Range{0, 0});
}

namespace {
/// How far (i, j) lies from (40, 40).
template <class N>
auto distance(N i, N j, N (*c)(double)) {
  const auto x = Abs::apply(to_real(i) - c(40)) / c(3), y = Abs::apply(to_real(j) - c(40)) / c(3);
  return Sqrt::apply(x * x + y * y);
}
/// Whether j is inside of the disc around (40, 40): beyond it, the root is NaN, and nothing compares with it.
template <class N>
auto inside(N i, N j, N (*c)(double)) {
  const auto x = to_real(i) - c(40);
  return Abs::apply(to_real(j) - c(40)) <= Tanh::apply(Sqrt::apply(c(900.5) - x * x) / c(30)) * c(30);
}
Lowered real(double x) { return Lowered::real(x); }
Symbols real_symbol(double x) { return Symbols::point(real(x)); }
constexpr Range small{0, 400};
Symbols four(Halide::Var v) { return {Lowered::of(v * 4, small), Lowered::of(v * 4 + 3, small)}; }
}  // namespace

TEST_CASE("intervals of real expressions hold what elements give, however they are rounded", "[interval]") {
  const Halide::Var t("t"), b("b");
  const Symbols ends = distance(four(t), four(b), real_symbol);
  Halide::Func low("low"), high("high"), value("value");
  low(t, b) = ends.low.expr, high(t, b) = ends.high.expr;
  value(t, b) = distance(Lowered::of(t, small), Lowered::of(b, small), real).expr;
  value.vectorize(t, 8);
  const Halide::Buffer<float> lows = low.realize({20, 20}), highs = high.realize({20, 20}), values = value.realize({80, 80});
  for (int i = 0; i < 80; ++i)
    for (int j = 0; j < 80; ++j) {
      INFO(i << ", " << j << ": " << values(i, j) << " outside of " << lows(i / 4, j / 4) << " to " << highs(i / 4, j / 4));
      CHECK((lows(i / 4, j / 4) <= values(i, j) && values(i, j) <= highs(i / 4, j / 4)));
      CHECK(highs(i / 4, j / 4) - lows(i / 4, j / 4) < 3);
    }
}

TEST_CASE("block predicates of real expressions are sound where elements are NaN", "[interval]") {
  const Halide::Var t("t"), b("b");
  const Symbols truth = inside(four(t), four(b), real_symbol);
  Halide::Func certainly("certainly"), possibly("possibly"), visible("visible");
  certainly(t, b) = block_condition(truth.low), possibly(t, b) = block_condition(truth.high);
  visible(t, b) = inside(Lowered::of(t, small), Lowered::of(b, small), real).expr;
  visible.vectorize(t, 8);
  const Halide::Buffer<bool> all = certainly.realize({20, 20}), some = possibly.realize({20, 20}), each = visible.realize({80, 80});
  int certain = 0, hidden = 0;
  for (int i = 0; i < 80; ++i)
    for (int j = 0; j < 80; ++j) {
      INFO(i << ", " << j << ": " << each(i, j) << all(i / 4, j / 4) << some(i / 4, j / 4));
      CHECK((each(i, j) || !all(i / 4, j / 4)));
      CHECK((!each(i, j) || some(i / 4, j / 4)));
      CHECK(each(i, j) == inside<double>(i, j, [](double x) { return x; }));
      certain += all(i / 4, j / 4), hidden += !some(i / 4, j / 4);
    }
  CHECK(certain > 1000);
  CHECK(hidden > 1000);
}

}  // namespace attune
