/// Every elementwise operation at ordinary and at special values.
#include "dsl/graph.h"
#include "dsl/interval_functions.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

using Numbers = std::vector<double>;
constexpr double tiny = 1e-300;

/// The elements of `Op` applied to columns of one kind each.
template <class Op>
Array applied(const std::vector<std::pair<Kind, Numbers>>& columns) {
  static constexpr std::array<Name, 3> names = {"a", "b", "c"};
  Arrays inputs;
  for (std::size_t i = 0; i < columns.size(); ++i)
    inputs[std::string(names[i])] = array({static_cast<std::int64_t>(columns[i].second.size())}, columns[i].second);
  return result_of(inputs, [&](Graph& g) {
    const Dim rows = g.dim("rows");
    std::vector<Value> operands;
    for (std::size_t i = 0; i < columns.size(); ++i) operands.push_back(g.input(names[i], {rows}, columns[i].first));
    g.output("out", g.add(Op{}, operands, Here::current()), {rows});
  });
}
template <class Op>
void check_unary(const Numbers& a, const Numbers& expected, double allowed = 0, Kind kind = Kind::real) {
  INFO(Op::name);
  check_elements(applied<Op>({{kind, a}}), {static_cast<std::int64_t>(a.size())}, expected, allowed);
}
template <class Op>
void check_binary(const Numbers& a, const Numbers& b, const Numbers& expected, Kind kind = Kind::real) {
  INFO(Op::name);
  check_elements(applied<Op>({{kind, a}, {kind, b}}), {static_cast<std::int64_t>(a.size())}, expected);
}

}  // namespace

TEST_CASE("arithmetic of reals is that of doubles", "[pointwise]") {
  const Numbers a = {1.5, -2, infinity, infinity, quiet_nan, 0}, b = {0.25, 3, 1, -infinity, 1, -0.0};
  check_binary<Add>(a, b, {1.75, 1, infinity, quiet_nan, quiet_nan, 0});
  check_binary<Subtract>(a, b, {1.25, -5, infinity, infinity, quiet_nan, 0});
  check_binary<Multiply>(a, b, {0.375, -6, infinity, -infinity, quiet_nan, -0.0});
  check_binary<Divide>(a, b, {6, -2.0 / 3, infinity, quiet_nan, quiet_nan, quiet_nan});
  check_binary<Divide>({1, -1, tiny}, {0, 0, infinity}, {infinity, -infinity, 0});
  check_unary<Negate>({1.5, -infinity, quiet_nan}, {-1.5, infinity, quiet_nan});
  check_unary<Abs>({-1.5, 1.5, -infinity, quiet_nan}, {1.5, 1.5, infinity, quiet_nan});
}

TEST_CASE("arithmetic of integers stays exact", "[pointwise]") {
  for (const Kind kind : {Kind::i64, Kind::i32}) {
    check_binary<Add>({2000000000, -7}, {147483647, 7}, {2147483647, 0}, kind);
    check_binary<Subtract>({-2000000000, 3}, {147483648, 5}, {-2147483648, -2}, kind);
    check_binary<Multiply>({-46341, 0}, {46340, -5}, {-2147441940, 0}, kind);
    check_unary<Negate>({5, -5, 0}, {-5, 5, 0}, 0, kind);
    check_unary<Abs>({5, -5, 0}, {5, 5, 0}, 0, kind);
  }
  check_binary<Subtract>({9007199254740992}, {1}, {9007199254740991}, Kind::i64);
}

TEST_CASE("integer division rounds down, and by zero gives zero", "[pointwise]") {
  const Numbers a = {7, -7, 7, -7, 6, 5, -5, 0}, b = {2, 2, -2, -2, 3, 0, 0, 4};
  for (const Kind kind : {Kind::i64, Kind::i32}) {
    check_binary<FloorDiv>(a, b, {3, -4, -4, 3, 2, 0, 0, 0}, kind);
    check_binary<Mod>(a, b, {1, 1, -1, -1, 0, 0, 0, 0}, kind);
  }
}

TEST_CASE("integer division is exact up to 2^53", "[pointwise]") {
  constexpr double most = 9007199254740992;
  const Numbers a = {most, most, -most, -most, most - 1, 1 - most, most, -1, 1}, b = {-3, 3, 3, -3, -2, 2, most - 1, most, -most};
  check_binary<FloorDiv>(
      a, b, {-3002399751580331, 3002399751580330, -3002399751580331, 3002399751580330, -4503599627370496, -4503599627370496, 1, -1, -1}, Kind::i64);
  check_binary<Mod>(a, b, {-1, 2, 1, -2, -1, 1, 1, most - 1, 1 - most}, Kind::i64);
  static_assert(mod(most, -3.0) == -1 && mod(-6.0, 3.0) == 0);
}

TEST_CASE("minimum and maximum pass NaN on", "[pointwise]") {
  const Numbers a = {1, 2, quiet_nan, 1, -infinity, infinity}, b = {2, 1, 1, quiet_nan, 5, 5};
  check_binary<Minimum>(a, b, {1, 1, quiet_nan, quiet_nan, -infinity, 5});
  check_binary<Maximum>(a, b, {2, 2, quiet_nan, quiet_nan, 5, infinity});
  check_binary<Minimum>({3, -3}, {-4, 4}, {-4, -3}, Kind::i64);
  check_binary<Maximum>({3, -3}, {-4, 4}, {3, 4}, Kind::i32);
}

TEST_CASE("comparisons with NaN are false, but for not_equal", "[pointwise]") {
  const Numbers a = {1, 2, 2, quiet_nan, quiet_nan, -infinity, 0}, b = {2, 1, 2, 1, quiet_nan, infinity, -0.0};
  check_binary<Less>(a, b, {1, 0, 0, 0, 0, 1, 0});
  check_binary<LessEqual>(a, b, {1, 0, 1, 0, 0, 1, 1});
  check_binary<Greater>(a, b, {0, 1, 0, 0, 0, 0, 0});
  check_binary<GreaterEqual>(a, b, {0, 1, 1, 0, 0, 0, 1});
  check_binary<Equal>(a, b, {0, 0, 1, 0, 0, 0, 1});
  check_binary<NotEqual>(a, b, {1, 1, 0, 1, 1, 1, 0});
  check_binary<Less>({-3, 3}, {2, 3}, {1, 0}, Kind::i64);
  check_binary<Equal>({-3, 3}, {2, 3}, {0, 1}, Kind::i32);
}

TEST_CASE("logic follows its truth tables", "[pointwise]") {
  check_binary<And>({0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}, Kind::boolean);
  check_binary<Or>({0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}, Kind::boolean);
  check_unary<Not>({0, 1}, {1, 0}, 0, Kind::boolean);
}

TEST_CASE("select takes one branch, and nothing of the other", "[pointwise]") {
  check_elements(applied<Select>({{Kind::boolean, {1, 0, 1, 0}}, {Kind::real, {1, 2, quiet_nan, quiet_nan}}, {Kind::real, {5, 6, 7, -infinity}}}),
                 {4}, {1, 6, quiet_nan, -infinity});
  check_elements(applied<Select>({{Kind::boolean, {1, 0}}, {Kind::i64, {1, 2}}, {Kind::i64, {5, 6}}}), {2}, {1, 6});
  check_elements(applied<Select>({{Kind::boolean, {1, 0}}, {Kind::boolean, {1, 1}}, {Kind::boolean, {0, 0}}}), {2}, {1, 0});
}

TEST_CASE("functions at ordinary and special values", "[pointwise]") {
  const double ulps = rounding();
  check_unary<Exp>({0, 1, -infinity, infinity, quiet_nan, -1000}, {1, 2.718281828459045, 0, infinity, quiet_nan, 0}, ulps);
  check_unary<Log>({1, 10, 0, infinity, -1, quiet_nan}, {0, 2.302585092994046, -infinity, infinity, quiet_nan, quiet_nan}, ulps);
  check_unary<Sqrt>({4, 2, 0, infinity, -1, quiet_nan}, {2, 1.4142135623730951, 0, infinity, quiet_nan, quiet_nan}, ulps);
  check_unary<Rsqrt>({4, 2, 0, -0.0, infinity, -1, quiet_nan}, {0.5, 0.7071067811865476, infinity, -infinity, 0, quiet_nan, quiet_nan}, ulps);
  check_unary<Tanh>({0, 0.5, -infinity, infinity, quiet_nan}, {0, 0.46211715726000973, -1, 1, quiet_nan}, ulps);
  check_unary<Erf>({0, 0.5, -infinity, infinity, quiet_nan}, {0, 0.5204998778130465, -1, 1, quiet_nan}, ulps);
  check_unary<Sin>({0, 0.5, 1000, infinity, quiet_nan}, {0, 0.479425538604203, 0.8268795405320025, quiet_nan, quiet_nan}, ulps);
  check_unary<Cos>({0, 0.5, 1000, infinity, quiet_nan}, {1, 0.8775825618903728, 0.562379076290703, quiet_nan, quiet_nan}, ulps);
  check_unary<Sigmoid>({0, 0.5, -infinity, infinity, quiet_nan, -800, 800}, {0.5, 0.6224593312018546, 0, 1, quiet_nan, 0, 1}, ulps);
}

TEST_CASE("rounding down, up and to the nearest, of two the even one, keeps infinities and NaN", "[pointwise]") {
  const Numbers x = {-2.5, -1.5, -0.75, -0.5, -0.25, 0, 0.5, 1.5, 2.5, 0.49999999999999994, 0x1p60 + 256, infinity, -infinity, quiet_nan};
  check_unary<Floor>(x, {-3, -2, -1, -1, -1, 0, 0, 1, 2, 0, 0x1p60 + 256, infinity, -infinity, quiet_nan});
  const auto rounded = [&](Value (*word)(Value, Here)) {
    return result_of({{"a", array({static_cast<std::int64_t>(x.size())}, x)}}, [&](Graph& g) {
      const Dim rows = g.dim("rows");
      g.output("out", word(g.input("a", {rows}), Here::current()), {rows});
    });
  };
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(x.size())};
  check_elements(rounded(ceil), shape, {-2, -1, 0, 0, 0, 0, 1, 2, 3, 1, 0x1p60 + 256, infinity, -infinity, quiet_nan});
  check_elements(rounded(round), shape, {-2, -2, -1, 0, 0, 0, 0, 2, 2, 0, 0x1p60 + 256, infinity, -infinity, quiet_nan});
}

namespace {

/// An operation whose function only double has.
double halved(double a) { return a / 2; }
struct Halve {
  static constexpr int arity = 1;
  template <class N>
  static constexpr auto apply(N a) -> decltype(halved(a)) { return halved(a); }
};

}  // namespace

TEST_CASE("what a number lacks for an operation is known before the operation is applied to it", "[pointwise]") {
  struct NoNumber {};
  STATIC_REQUIRE(HasForm<Halve, double>);
  STATIC_REQUIRE(!HasForm<Halve, NoNumber>);
  STATIC_REQUIRE(HasForm<Tanh, double>);
  STATIC_REQUIRE(!HasForm<Tanh, NoNumber>);
  STATIC_REQUIRE(HasForm<Pow, Interval<double>>);
  STATIC_REQUIRE(!HasForm<Pow, NoNumber>);
}

TEST_CASE("pow is that of C", "[pointwise]") {
  check_binary<Pow>({2, 2, -2, -2, -2, 0, 0, 0, quiet_nan, 1, -1, 0.25, infinity},
                    {10, -1, 3, 2, 0.5, 2, -1, 0, 0, quiet_nan, infinity, 1.5, -2},
                    {1024, 0.5, -8, 4, quiet_nan, 0, infinity, 1, 1, 1, 1, 0.125, 0});
}

TEST_CASE("a constant has the kind of its number", "[constant]") {
  Graph g;
  CHECK(kind_of(constant(g, 0)) == Kind::i64);
  CHECK(kind_of(constant(g, 7u)) == Kind::i64);
  CHECK(kind_of(constant(g, 0.0)) == Kind::real);
  CHECK(kind_of(constant(g, 0.5f)) == Kind::real);
  CHECK(kind_of(constant(g, true)) == Kind::boolean);
  CHECK(std::get<Constant>(g.node(constant(g, -(std::int64_t{1} << 53)).id).op).value == -9007199254740992.0);
  CHECK(text(g.problem()) == "");
}

TEST_CASE("functions of integers are real", "[pointwise]") {
  check_unary<Sqrt>({64, 2}, {8, 1.4142135623730951}, rounding(), Kind::i64);
  check_unary<Exp>({0, 1}, {1, 2.718281828459045}, rounding(), Kind::i32);
}

TEST_CASE("conversions round towards zero, and read a boolean as 0 or 1", "[pointwise]") {
  check_unary<ToI64>({1.9, -1.9, 0.5, -0.5, 3}, {1, -1, 0, -0.0, 3});
  check_unary<ToI64>({0, 1}, {0, 1}, 0, Kind::boolean);
  check_unary<ToI64>({-128, 127}, {-128, 127}, 0, Kind::i8);
  check_unary<ToReal>({0, 1}, {0, 1}, 0, Kind::boolean);
  check_unary<ToReal>({0, 255}, {0, 255}, 0, Kind::u8);
  check_unary<ToReal>({-5}, {-5}, 0, Kind::i32);
}

TEST_CASE("operands are broadcast by name, whatever the order of their dims", "[pointwise]") {
  const Arrays inputs = {{"row", array({2}, {10, 20})}, {"table", array({3, 2}, {1, 2, 3, 4, 5, 6})}, {"one", scalar(100)}};
  const Array sum = result_of(inputs, [](Graph& g) {
    auto [rows, columns] = g.dims("rows", "columns");
    g.output("out", g.input("row", {columns}) + g.input("table", {rows, columns}) + g.input("one", {}), {rows, columns});
  });
  check_elements(sum, {3, 2}, {111, 122, 113, 124, 115, 126});
}

TEST_CASE("a number takes the kind of the other operand", "[pointwise]") {
  Graph g;
  const Dim rows = g.dim("rows");
  const Value n = g.input("n", {rows}, Kind::i32), x = g.input("x", {rows});
  CHECK(kind_of(n + 1) == Kind::i32);
  CHECK(kind_of(2 * x) == Kind::real);
  CHECK(kind_of(floor_div(7, n)) == Kind::i32);
  CHECK(kind_of(select(x > 0, n, 0)) == Kind::i32);
  CHECK(kind_of(select(x > 0, 1, 0)) == Kind::real);
  CHECK(kind_of(index(rows) - 1) == Kind::i64);
  CHECK(text(g.problem()) == "");
}

}  // namespace attune
