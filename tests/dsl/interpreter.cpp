/// What the interpreter refuses, and the order of memory.
#include "dsl/interpret.h"

#include "dsl/variants.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

std::string problem_of(const Arrays& inputs) { return interpret(build(Padded{}), inputs).problem; }

Array ones(std::vector<std::int64_t> extents) {
  std::size_t size = 1;
  for (std::int64_t e : extents) size *= static_cast<std::size_t>(e);
  return array(std::move(extents), std::vector<double>(size, 1));
}
Arrays right() {
  return {{"q", ones({2, 1, 3, 4})}, {"k", ones({2, 1, 5, 4})}, {"v", ones({2, 1, 5, 4})}, {"lengths", array({2}, {1, 2})}};
}
Arrays with(const char* name, Array changed) {
  Arrays inputs = right();
  inputs[name] = std::move(changed);
  return inputs;
}

}  // namespace

TEST_CASE("wrong inputs are refused in a sentence", "[interpreter]") {
  CHECK(problem_of(right()) == "");
  Arrays missing = right();
  missing.erase("k");
  CHECK(problem_of(missing) == "input 'k' is missing");
  CHECK(problem_of(with("w", ones({1}))) == "there is no input 'w'; the graph has q, k, v, lengths");
  CHECK(problem_of(with("k", ones({2, 5, 4}))) == "input 'k' is [2 x 5 x 4]; expected [batch x heads x keys x depth]");
  CHECK(problem_of(with("v", ones({2, 1, 6, 4}))) == "input 'v' is [2 x 1 x 6 x 4] as [batch x heads x keys x value_depth], but keys is 5 in 'k'");
  CHECK(problem_of(with("lengths", array({2}, {1}))) == "input 'lengths' has 1 elements for [2]");
  CHECK(problem_of(with("lengths", array({-2}, {}))) == "input 'lengths' is [-2]; an extent is 0 or more");
  CHECK(problem_of(with("lengths", array({2}, {1, 0.5}))) == "input 'lengths' is i64, but its element 1 is 0.5");
  CHECK(problem_of(with("lengths", array({2}, {quiet_nan, 1}))) == "input 'lengths' is i64, but its element 0 is nan");
}

TEST_CASE("an element of every kind is checked against its range", "[interpreter]") {
  const auto problem = [](Kind kind, double element) {
    Graph g;
    g.output("out", g.input("x", {}, kind), {});
    g.finish();
    return interpret(g, {{"x", scalar(element)}}).problem;
  };
  CHECK(problem(Kind::i8, -128) == "");
  CHECK(problem(Kind::i8, 128) == "input 'x' is i8, but its element 0 is 128");
  CHECK(problem(Kind::u8, 255) == "");
  CHECK(problem(Kind::u8, -1) == "input 'x' is u8, but its element 0 is -1");
  CHECK(problem(Kind::i32, 2147483647) == "");
  CHECK(problem(Kind::i32, 2147483648) == "input 'x' is i32, but its element 0 is 2147483648");
  CHECK(problem(Kind::i64, 9007199254740992) == "");
  CHECK(problem(Kind::i64, 9007199254740994) == "input 'x' is i64, but its element 0 is 9007199254740994; the interpreter takes integers from -2^53 to 2^53");
  CHECK(problem(Kind::boolean, 1) == "");
  CHECK(problem(Kind::boolean, 2) == "input 'x' is boolean, but its element 0 is 2");
  CHECK(problem(Kind::real, quiet_nan) == "");
}

TEST_CASE("a wrong graph is not interpreted", "[interpreter]") {
  CHECK(interpret(build(SoftCap{.cap = 0}), {}).problem == "cap is 0; it must be above 0 and finite");
}

TEST_CASE("an output is in the memory order that it names", "[interpreter]") {
  const Arrays out = outputs_of({{"x", array({2, 3}, {1, 2, 3, 4, 5, 6})}}, [](Graph& g) {
    auto [rows, columns] = g.dims("rows", "columns");
    const Value x = g.input("x", {rows, columns});
    g.output("same", x, {rows, columns});
    g.output("turned", x, {columns, rows});
  });
  check_elements(out.at("same"), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_elements(out.at("turned"), {3, 2}, {1, 4, 2, 5, 3, 6});
}

TEST_CASE("a tensor without elements takes no time, whatever its extents are", "[interpreter]") {
  const std::int64_t many = std::int64_t{1} << 30;
  const Arrays out = outputs_of({{"x", array({many, many, 0}, {})}}, [](Graph& g) {
    auto [rows, columns, depth] = g.dims("rows", "columns", "depth");
    const Value x = g.input("x", {rows, columns, depth});
    g.output("softmax", softmax(exp(x), depth), {depth, rows, columns});
    g.output("sum", sum(x, {rows, columns, depth}), {});
    g.output("square", matmul(x, x, {rows, columns, depth}), {});
  });
  check_elements(out.at("softmax"), {0, many, many}, {});
  check_elements(out.at("sum"), {}, {0});
  check_elements(out.at("square"), {}, {0});
}

TEST_CASE("an array that no memory holds is not made", "[interpreter]") {
  const std::int64_t many = std::int64_t{1} << 40;
  CHECK_THROWS_AS(Array(Type{Kind::real, {"a", "b"}}, DimExtents{{"a", many}, {"b", many}}), std::bad_alloc);
  CHECK(Array(Type{Kind::real, {"a", "b", "c"}}, DimExtents{{"a", many}, {"b", many}, {"c", 0}}).data.empty());
}

TEST_CASE("an output has the kind of its value", "[interpreter]") {
  const Arrays out = outputs_of({{"x", array({2}, {-1, 1})}}, [](Graph& g) {
    const Dim rows = g.dim("rows");
    const Value x = g.input("x", {rows});
    g.output("positive", x > 0, {rows});
    g.output("number", index(rows), {rows});
  });
  CHECK(out.at("positive").type.kind == Kind::boolean);
  CHECK(out.at("number").type.kind == Kind::i64);
  check_elements(out.at("positive"), {2}, {0, 1});
}

}  // namespace attune
