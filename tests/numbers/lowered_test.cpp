#include "codegen/halide/numbers/lowered.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/numbers/masks.h"
#include "tests/numbers/tree_value.h"

using Halide::Bool;
using Halide::Expr;
using Halide::Float;
using Halide::Int;
using Halide::UInt;

namespace attune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), quiet_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double int32_least = -2147483648.0, int32_greatest = 2147483647.0;

Lowered integer(double x) { return Lowered::integer(static_cast<std::int64_t>(x)); }
double itself(double x) { return x; }
bool is_constant(const Lowered& x, int value) { return Halide::Internal::is_const(x.expr, value); }

/// The columns of a table of numbers as Lowered leaves at the row `i`, and expressions of them computed for all rows.
template <class T>
struct Table {
  std::vector<Halide::Buffer<T>> columns;
  Halide::Var i{"i"};

  explicit Table(const std::vector<std::vector<double>>& values) {
    for (const std::vector<double>& column : values) {
      columns.emplace_back(static_cast<int>(column.size()));
      for (std::size_t row = 0; row < column.size(); ++row) columns.back()(static_cast<int>(row)) = static_cast<T>(column[row]);
    }
  }
  Lowered leaf(std::size_t column) { return Lowered::of(columns[column](i)); }

  /// Integers as they are (their doubles are exact in these tests), reals, and truth values as 0 and 1.
  std::vector<double> operator()(const Lowered& x) const { return (*this)(std::vector<Lowered>{x})[0]; }
  std::vector<std::vector<double>> operator()(const std::vector<Lowered>& all, bool in_vectors = true) const {
    std::vector<Halide::Func> funcs;
    for (const Lowered& x : all) {
      funcs.emplace_back("f");
      funcs.back()(i) = Halide::cast(Float(64), x.is_boolean() ? to_i64(x).expr : x.expr);
      if (in_vectors) funcs.back().vectorize(i, 8, Halide::TailStrategy::GuardWithIf);
    }
    const int rows = columns[0].width();
    Halide::Realization results = Halide::Pipeline(funcs).realize({rows});
    std::vector<std::vector<double>> values;
    for (std::size_t k = 0; k < all.size(); ++k) {
      Halide::Buffer<double> column = results[static_cast<int>(k)];
      values.emplace_back(column.begin(), column.end());
    }
    return values;
  }
};

/// All pairs of these numbers, as two columns.
std::vector<std::vector<double>> pairs(const std::vector<double>& numbers) {
  std::vector<std::vector<double>> columns(2);
  for (double a : numbers)
    for (double b : numbers) columns[0].push_back(a), columns[1].push_back(b);
  return columns;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// What is done with two operands, lowered or double.
template <class Of>
struct Named {
  const char* name;
  Of of;
};
template <class Of>
Named(const char*, Of) -> Named<Of>;

/// Checks lowered operations of two operands against those on double, for all pairs. One pipeline computes all: it compiles sooner than one for each.
template <class T, class... Of>
void check_operations(const std::vector<double>& numbers, const Named<Of>&... operations) {
  const std::vector<std::vector<double>> columns = pairs(numbers);
  Table<T> table(columns);
  const Lowered a = table.leaf(0), b = table.leaf(1);
  const std::vector<std::vector<double>> all = table(std::vector<Lowered>{operations.of(a, b)...});
  auto got = all.begin();
  const auto check = [&](const auto& operation) {
    for (std::size_t k = 0; k < got->size(); ++k) {
      const double expected = static_cast<double>(operation.of(columns[0][k], columns[1][k]));
      INFO(operation.name << " of " << columns[0][k] << " and " << columns[1][k] << ": got " << (*got)[k] << ", expected " << expected);
      CHECK(is_same((*got)[k], expected));
    }
    ++got;
  };
  (check(operations), ...);
}

template <class T>
void check_integers(const std::vector<double>& numbers) {
  check_operations<T>(numbers,
      Named{"add", [](auto a, auto b) { return Add::apply(a, b); }},
      Named{"subtract", [](auto a, auto b) { return Subtract::apply(a, b); }},
      Named{"floor_div", [](auto a, auto b) { return FloorDiv::apply(a, b); }},
      Named{"mod", [](auto a, auto b) { return Mod::apply(a, b); }},
      Named{"minimum", [](auto a, auto b) { return Minimum::apply(a, b); }},
      Named{"maximum", [](auto a, auto b) { return Maximum::apply(a, b); }},
      Named{"bit_and", [](auto a, auto b) { return BitAnd::apply(a, b); }},
      Named{"bit_or", [](auto a, auto b) { return BitOr::apply(a, b); }},
      Named{"bit_xor", [](auto a, auto b) { return BitXor::apply(a, b); }},
      Named{"shift_right", [](auto a, auto b) { return ShiftRight::apply(a, b); }},
      Named{"abs", [](auto a, auto) { return Abs::apply(a); }},
      Named{"negate", [](auto a, auto) { return Negate::apply(a); }},
      Named{"less", [](auto a, auto b) { return Less::apply(a, b); }},
      Named{"equal", [](auto a, auto b) { return Equal::apply(a, b); }});
}

}  // namespace

TEST_CASE("integers stay in 32 bits as long as nothing overflows", "[lowered]") {
  const Halide::Var i("i"), j("j");
  const Lowered query = Lowered::of(Expr(i), index_range), key = Lowered::of(Expr(j), index_range);
  CHECK((query + key).expr.type() == Int(32));
  CHECK((query - key).expr.type() == Int(32));
  CHECK((query + key + key).expr.type() == Int(64));
  CHECK((query * integer(2)).expr.type() == Int(32));
  CHECK((query * integer(3)).expr.type() == Int(64));
  CHECK((query * key).range == Range{0, index_range.high * index_range.high});
  CHECK((-query).range == Range{-index_range.high, 0});
  CHECK(floor_div(query, integer(-1)).range == Range{-index_range.high, 0});
  CHECK(mod(query - key, integer(-7)).range == Range{-6, 0});
}

TEST_CASE("64-bit integers narrow where their range does", "[lowered]") {
  Halide::ImageParam ids(Int(64), 1);
  const Lowered id = Lowered::of(ids(Halide::Var()));
  CHECK(id.expr.type() == Int(64));
  CHECK(mod(id, integer(64)).expr.type() == Int(32));
  CHECK(mod(id, integer(64)).range == Range{0, 63});
  CHECK(minimum(maximum(id, integer(-5)), integer(9)).expr.type() == Int(32));
  CHECK(to_i64(id < integer(0)).range == Range{0, 1});
}

TEST_CASE("what is loaded has the range of its type", "[lowered]") {
  const Halide::Var i;
  const auto loaded = [&](Halide::Type type) { return Lowered::of(Halide::ImageParam(type, 1)(i)); };
  CHECK(loaded(Int(8)).range == Range{-128, 127});
  CHECK(loaded(UInt(8)).range == Range{0, 255});
  CHECK(loaded(Int(32)).range == Range{-2147483648LL, 2147483647});
  CHECK(loaded(UInt(32)).expr.type() == Int(64));
  CHECK(loaded(Int(8)).expr.type() == Int(32));
  CHECK(loaded(Halide::BFloat(16)).expr.type() == Float(32));
  CHECK(loaded(Bool()).is_boolean());
}

TEST_CASE("what is known of ranges is folded", "[lowered]") {
  const Halide::Var i("i"), j("j");
  const Lowered query = Lowered::of(Expr(i), index_range), key = Lowered::of(Expr(j), index_range);
  CHECK(is_certain(query >= integer(0)));
  CHECK(is_certain(!(query < integer(0))));
  CHECK_FALSE(is_certain(query >= key));
  CHECK(is_constant(query * integer(0), 0));
  CHECK(is_constant(mod(key, integer(1)), 0));
  CHECK(is_constant(floor_div(key, integer(0)), 0));
  CHECK(is_certain(query < key || query >= integer(0)));
  const Lowered small = Lowered::of(Expr(i), {0, 6});
  CHECK(mod(small, integer(7)).expr.same_as(small.expr));
  CHECK(minimum(query, integer(-1)).range == Range{-1, -1});
}

TEST_CASE("operations on integers are those on double, at the ends of their types too", "[lowered]") {
  check_integers<std::int8_t>({-128, -127, -7, -1, 0, 1, 6, 127});
  check_integers<std::uint8_t>({0, 1, 7, 200, 255});
  check_integers<std::int32_t>({int32_least, int32_least + 1, -1000, -7, -3, -2, -1, 0, 1, 2, 3, 7, 1000, int32_greatest});
  check_integers<std::int64_t>({-4503599627370496, int32_least, -7, -3, -1, 0, 1, 3, 7, int32_greatest, 4503599627370496});
  check_operations<std::int32_t>({int32_least, -7, -1, 0, 1, 3, 65536, int32_greatest}, Named{"multiply", [](auto a, auto b) { return a * b; }});
}

TEST_CASE("division and remainder by constants round down", "[lowered]") {
  const std::vector<double> numbers = {int32_least, -15, -14, -13, -8, -7, -1, 0, 1, 6, 7, 8, 13, 14, int32_greatest};
  Table<std::int32_t> table({numbers});
  const std::vector<double> divisors = {-2147483648.0, -64.0, -7.0, -1.0, 0.0, 1.0, 2.0, 7.0, 64.0, 2147483647.0};
  std::vector<Lowered> results;
  for (const double divisor : divisors) {
    results.push_back(floor_div(table.leaf(0), integer(divisor)));
    results.push_back(mod(table.leaf(0), integer(divisor)));
  }
  const auto got = table(results);
  for (std::size_t n = 0; n < divisors.size(); ++n)
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      INFO(numbers[k] << " by " << divisors[n]);
      CHECK(got[2 * n][k] == floor_div(numbers[k], divisors[n]));
      CHECK(got[2 * n + 1][k] == mod(numbers[k], divisors[n]));
    }
}

TEST_CASE("operations on reals follow IEEE at infinities and NaN", "[lowered]") {
  const std::vector<double> numbers = {-infinity, -2.5, -1, 0, 0.5, 3, infinity, quiet_nan};
  check_operations<float>(numbers,
      Named{"add", [](auto a, auto b) { return a + b; }},
      Named{"subtract", [](auto a, auto b) { return a - b; }},
      Named{"multiply", [](auto a, auto b) { return a * b; }},
      Named{"minimum", [](auto a, auto b) { return minimum(a, b); }},
      Named{"maximum", [](auto a, auto b) { return maximum(a, b); }},
      Named{"less", [](auto a, auto b) { return a < b; }},
      Named{"less_equal", [](auto a, auto b) { return a <= b; }},
      Named{"greater", [](auto a, auto b) { return a > b; }},
      Named{"not less", [](auto a, auto b) { return !(a < b); }},
      Named{"equal", [](auto a, auto b) { return a == b; }},
      Named{"not_equal", [](auto a, auto b) { return a != b; }},
      Named{"a - a", [](auto a, auto) { return a - a; }},
      Named{"select", [](auto a, auto b) { return select(a < b, a, b); }});
}

TEST_CASE("a product with 0 and a quotient by 0 follow IEEE", "[lowered]") {
  const std::vector<double> numbers = {-infinity, -1, 0, 2, infinity, quiet_nan};
  Table<float> table({numbers});
  const Lowered x = table.leaf(0);
  const auto got = table({x * Lowered::real(0), x / Lowered::real(0), x / Lowered::real(-0.0), Lowered::real(1) / x});
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    INFO(numbers[k]);
    CHECK(is_same(got[0][k], numbers[k] * 0));
    CHECK(is_same(got[1][k], numbers[k] / 0.0));
    CHECK(is_same(got[2][k], numbers[k] / -0.0));
    CHECK(is_same(got[3][k], 1 / numbers[k]));
  }
}

TEST_CASE("numbers convert towards zero, and to i64 without wrapping", "[lowered]") {
  const std::vector<double> numbers = {-infinity, -1e30, -2.75, -0.5, 0, 0.5, 2.75, 1e10, 1e30, infinity, quiet_nan};
  const double limit = std::ldexp(1.0, 62);
  const std::vector<double> expected = {-limit, -limit, -2, 0, 0, 0, 2, 1e10, limit, limit, -limit};
  Table<float> table({numbers});
  CHECK(table(to_i64(table.leaf(0))) == expected);
  // as others are after a cast: a real's own to unsigned numbers has no bits of a negative one
  const Halide::Expr unsigned_bits = Halide::reinterpret(Halide::UInt(64), to_i64(table.leaf(0)).expr);
  CHECK(table(Lowered::of(Halide::reinterpret(Halide::Int(64), unsigned_bits ^ Halide::Internal::make_one(Halide::UInt(64))) ^ 1)) == expected);
  Table<std::int32_t> integers({{int32_least, -1, 0, 16777216}});
  CHECK(integers(to_real(integers.leaf(0))) == std::vector<double>{int32_least, -1, 0, 16777216});
  CHECK(integers(to_real(integers.leaf(0) < integer(0))) == std::vector<double>{1, 1, 0, 0});
}

TEST_CASE("functions of integers are those of reals", "[lowered]") {
  Table<std::int32_t> table({{0, 1, 2, 9}});
  const Lowered x = table.leaf(0);
  const auto got = table({exp(x), log(x), sqrt(x), tanh(x), sigmoid(x), erf(x), sin(x), cos(x), floor(x)});
  for (std::size_t k = 0; k < 4; ++k) {
    const double value = std::array{0., 1., 2., 9.}[k];
    const std::array exact = {std::exp(value),  std::log(value), std::sqrt(value),
                              std::tanh(value), sigmoid(value),  std::erf(value),
                              std::sin(value),  std::cos(value), value};
    for (std::size_t f = 0; f < exact.size(); ++f) {
      INFO("function " << f << " of " << value << ": got " << got[f][k] << ", expected " << exact[f]);
      CHECK((got[f][k] == exact[f] || std::abs(got[f][k] - exact[f]) <= 4e-7 * std::max(1.0, std::abs(exact[f]))));
    }
  }
}

TEST_CASE("random trees of operations on integers are those on double", "[lowered]") {
  std::vector<std::vector<double>> columns(3);
  TreeMaker rows(5, 3, false);
  for (auto& column : columns)
    for (int row = 0; row < 64; ++row) column.push_back(rows.below(61) - 30);
  Table<std::int32_t> table(columns);
  const std::array leaves = {table.leaf(0), table.leaf(1), table.leaf(2)};
  std::vector<Tree> trees;
  std::vector<Lowered> lowered;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    trees.push_back(TreeMaker(seed, 3, false).number(3));
    lowered.push_back(Evaluation<Lowered, Lowered>(trees.back(), leaves, integer).number());
  }
  const auto got = table(lowered, false);
  for (std::size_t t = 0; t < trees.size(); ++t)
    for (std::size_t row = 0; row < 64; ++row) {
      const std::array<double, 3> numbers = {columns[0][row], columns[1][row], columns[2][row]};
      INFO("seed " << t << ", leaves " << numbers[0] << " " << numbers[1] << " " << numbers[2]);
      REQUIRE(got[t][row] == Evaluation<double, bool>(trees[t], numbers, itself).number());
    }
}

}  // namespace attune
