/// Each operation on its own: a kernel of nothing else against the interpreter, on odd extents and special values.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "codegen/halide/lower/lowered_graph.h"
#include "runtime/bfloat16.h"
#include "tests/codegen/kernel_case.h"
#include "tests/operation_examples.h"
#include "tests/skip.h"
#include "tests/thinned.h"

namespace attune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// Odd extents, one, and none along some dims.
const Shape shapes[] = {
    {{"batch", 1}, {"rows", 1}, {"columns", 1}, {"depth", 1}, {"even", 2}, {"other", 1}, {"seven", 7}, {"two", 2}},
    {{"batch", 2}, {"rows", 5}, {"columns", 37}, {"depth", 5}, {"even", 10}, {"other", 0}, {"seven", 7}, {"two", 2}},
    {{"batch", 3}, {"rows", 37}, {"columns", 5}, {"depth", 37}, {"even", 74}, {"other", 37}, {"seven", 7}, {"two", 2}},
    {{"batch", 1}, {"rows", 37}, {"columns", 37}, {"depth", 5}, {"even", 6}, {"other", 5}, {"seven", 7}, {"two", 2}},
    {{"batch", 2}, {"rows", 5}, {"columns", 0}, {"depth", 0}, {"even", 0}, {"other", 5}, {"seven", 7}, {"two", 2}},
    {{"batch", 2}, {"rows", 0}, {"columns", 5}, {"depth", 37}, {"even", 10}, {"other", 1}, {"seven", 7}, {"two", 2}},
    {{"batch", 0}, {"rows", 37}, {"columns", 5}, {"depth", 1}, {"even", 2}, {"other", 1}, {"seven", 7}, {"two", 2}},
};

/// What an elementwise operation is tried on; no more than 37, so that each meets each.
std::vector<double> special(Kind kind) {
  switch (kind) {
    case Kind::real:
      return {0,  -0.0, 1,   -1,   0.5,  -2.5, 3,    -7,     88,     -88,    100,   -104,     1e5,       -1e5,
              20, 1e10, 3e38, -3e38, 2e-38, 1e-30, 0.25, 0.9225, -0.003, infinity, -infinity, quiet_nan};
    case Kind::i32: return {0, 1, -1, 2, -3, 7, -7, 10, 100, -1000, 65536, 2147483647, -2147483647, -2147483648.0};
    case Kind::i64: return {0, 1, -1, 2, -3, 7, -7, 10, 100, 2147483648.0, -2147483648.0, 4294967297.0, 9007199254740992.0, -9007199254740991.0};
    case Kind::i8: return {0, 1, -1, 7, -128, 127};
    case Kind::u8: return {0, 1, 7, 128, 255};
    case Kind::boolean: return {0, 1, 1};
  }
  return {};
}

/// What occurs now and then in the operands of other operations. Sums of them are exact in a double.
std::vector<double> rare(Kind kind) {
  switch (kind) {
    case Kind::real: return {0, -0.0, infinity, -infinity, quiet_nan};
    case Kind::i32: return {-1, -7, 65536, 0};
    case Kind::i64: return {-1, 4294967297.0, -1099511627776.0, 2147483648.0};
    default: return special(kind);
  }
}

/// The inputs of the graph: for elementwise operations special numbers in order, integers up to `most` in size; for others random numbers,
/// every eleventh or so a rare one. Reals are such as their storage has.
Arrays inputs_of(const Graph& graph, const Shape& shape, bool is_elementwise, double most, bool is_bf16) {
  DimExtents extents;
  for (const auto& [dim, extent] : shape) extents[dim] = extent;
  Arrays inputs;
  std::mt19937 random(1);
  for (const Node& node : graph.nodes()) {
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr) continue;
    const Kind kind = input->type.kind;
    const std::vector<double> specials = is_elementwise ? special(kind) : rare(kind);
    Array array(input->type, extents);
    for (std::size_t i = 0; i < array.data.size(); ++i) {
      const double drawn = static_cast<double>(random() % 8000) / 1000 - 4;
      double& x = array.data[i];
      if (is_elementwise) x = specials[i % specials.size()];
      else if (random() % 11 == 0) x = specials[random() % specials.size()];
      else if (kind == Kind::real) x = drawn;
      else x = kind == Kind::boolean ? drawn > -2 : std::trunc(std::abs(drawn) * 10);
      if (kind != Kind::real) x = std::clamp(x, -most, most);
      const auto stored = static_cast<float>(x);
      if (kind == Kind::real) x = static_cast<double>(is_bf16 ? static_cast<float>(bfloat16(stored)) : stored);
    }
    inputs.emplace(input->label, std::move(array));
  }
  return inputs;
}

/// Whether the language promises the number: an integer that its kind does not have has no value.
bool is_promised(Kind kind, double x) { return kind == Kind::i64 ? x >= -0x1p63 && x < 0x1p63 : holds(kind, x); }

/// Empty, or the first element that differs.
std::string difference(const std::vector<double>& got, const Array& expected, const Allowance& allowed) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = expected.type.kind == Kind::real ? static_cast<double>(static_cast<float>(expected.data[i])) : expected.data[i];
    if (!is_promised(expected.type.kind, x) || got[i] == x || (std::isnan(got[i]) && std::isnan(x))) continue;
    const double bound = expected.type.kind == Kind::real ? allowed.of(i, x) : 0;
    if (std::isfinite(got[i]) && std::abs(got[i] - x) <= bound) continue;
    Difference found{1, static_cast<std::int64_t>(got.size()), {static_cast<std::int64_t>(i)}, got[i], x, 0, bound};
    return describe(found);
  }
  return {};
}

/// An operation and what its kernels are tried on. What is done with it is no template: it would be compiled for each operation.
struct TriedOperation {
  std::string_view name;
  std::size_t place;  ///< in AnyOp
  bool is_elementwise;
  double most;  ///< a larger integer is rounded when it becomes an f32, and so is its angle, and odd ones become even
  Graph graph;
};
template <class Op>
TriedOperation tried_operation() {
  constexpr bool is_of_angle_or_parity = std::is_same_v<Op, Sin> || std::is_same_v<Op, Cos> || std::is_same_v<Op, Pow>;
  return {Op::name, place_in<Op>(static_cast<const AnyOp*>(nullptr)), PointwiseOp<Op>, is_of_angle_or_parity ? 0x1p24 : infinity, graph_of_operation<Op>()};
}

/// Compares the operation's kernel with the interpreter on every shape.
void check_operation(const TriedOperation& operation, const KernelOptions& options) {
  constexpr double ulp = 0x1p-23;
  const bool is_bf16 = options.types == "bf16";
  INFO(operation.name << " for " << options.target << " in " << options.types);
  const Graph& graph = operation.graph;
  REQUIRE(std::string(graph.problem().view()) == "");
  const KernelCase kernel(graph, "only_" + std::string(operation.name), options);  // "and" is no name of a kernel
  std::vector<Arrays> all;
  std::vector<Shape> calls;
  for (const Shape& shape : shapes) {
    all.push_back(inputs_of(graph, shape, operation.is_elementwise, operation.most, is_bf16));
    calls.push_back(kernel.extents_of(all.back()));
  }
  kernel.compile_for(calls);
  for (std::size_t call = 0; call < calls.size(); ++call) {
    std::string said;
    for (const auto& [dim, extent] : shapes[call]) said += " " + dim + "=" + std::to_string(extent);
    INFO(said);
    const Arrays& inputs = all[call];
    const Judge right = judge(graph, inputs, {});
    for (const auto& [name, got] : kernel.outputs(calls[call], inputs)) {
      INFO(name);
      Allowance allowed = operation.is_elementwise ? Allowance{4 * ulp, 0, {}} : right.allowed.find(name)->second;
      allowed.share = 4 * ulp + (is_bf16 ? 0x1p-8 : 0);
      CHECK(difference(got, right.outputs.find(name)->second, allowed) == "");
    }
  }
}

/// Beside this machine's target in f32: other targets, where this CPU runs them.
std::vector<KernelOptions> other_options() {
  std::vector<KernelOptions> usable;
  for (const KernelOptions& options : {KernelOptions{.target = "x86-64-v3"}, KernelOptions{.target = "x86-64-v4", .types = "bf16"}})
    if (runs_here(*find_target(options.target))) usable.push_back(options);
  return usable;
}

void check_others(const TriedOperation& operation, Tried tried) {
  const std::vector<KernelOptions> others = other_options();
  for (std::size_t column = 0; column < others.size(); ++column)
    if (is_tried(tried, operation.place, column, others.size())) check_operation(operation, others[column]);
}

}  // namespace

TEST_CASE("cos and sin of rotary angles are right to 1e-6 at a million positions", "[operation]") {
  constexpr std::size_t rows = 5000, columns = 5;
  const auto step = [](std::size_t column) { return std::pow(10000.0, -static_cast<double>(column) / columns); };
  Graph g;
  const Dim row = g.dim("rows"), column = g.dim("columns");
  const Value position = g.input("positions", {row}, Kind::i64), in_steps = g.input("steps", {column}, Kind::i64);
  const Value angle = rotary_angle(position, in_steps);
  g.output("c", cos(angle), {row, column});
  g.output("s", sin(angle), {row, column});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  Array positions(g.node(0).type, {{"rows", rows}}), steps(g.node(1).type, {{"columns", columns}});
  for (std::size_t i = 0; i < rows; ++i) positions.data[i] = static_cast<double>(1000000 - 199 * i);
  for (std::size_t k = 0; k < columns; ++k) steps.data[k] = static_cast<double>(turn_units(step(k)));
  const Arrays inputs = {{"positions", positions}, {"steps", steps}};
  const KernelCase kernel(g, "angles");
  const auto outputs = kernel.outputs(kernel.extents_of(inputs), inputs);
  double worst = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < columns; ++k) {
      const double exact = positions.data[i] * step(k);
      worst = std::max(worst, std::hypot(outputs.at("c")[i * columns + k] - std::cos(exact), outputs.at("s")[i * columns + k] - std::sin(exact)));
    }
  INFO("worst " << worst);
  CHECK(worst < 1e-6);
}

TEST_CASE("an index along a known dim is narrow, and so is what is made of it", "[operation]") {
  Graph g;
  const Dim half = g.dim("half");
  const Value bits = shift_left(constant(g, 15), 4 * index(half));
  const auto bits_of = [&](const Halide::Expr& extent) { return LoweredGraph(g, {}, {{"half", extent}}).at(bits.id, {{"half", Halide::Var("half")}}); };
  CHECK(bits_of(2).range == Range{15, 240});
  CHECK(bits_of(2).expr.type() == Halide::Int(32));
  CHECK(bits_of(16).expr.type() == Halide::Int(64));
  CHECK(bits_of(Halide::Var("extent")).expr.type() == Halide::Int(64));
  for (const int one_element : {0, 1}) CHECK(bits_of(one_element).range == Range{15, 15});
}

TEST_CASE("a slice of a dim of any extent is that of the interpreter, and of too few positions refused", "[operation]") {
  Graph g;
  const Dim keys = g.dim("keys"), odd = g.dim("odd"), three = g.dim("three");
  const Value x = g.input("x", {keys});
  g.output("odd", slice(x, keys, {.start = 1, .step = 2}, odd), {odd});
  g.output("three", slice(x, keys, {.start = 2, .count = 3}, three), {three});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  const KernelCase kernel(g, "sliced");
  for (const char* shape : {"keys=5", "keys=6", "keys=37", "keys=129"}) CHECK(kernel.difference(shape, 1) == "");
  std::vector<float> elements(4), two(2), all(3);
  const auto refused = kernel.kernel()(Tensor(elements.data(), {4}), Tensor(two.data(), {2}), Tensor(all.data(), {3}));
  REQUIRE(!refused);
  CHECK(refused.error().message == "kernel 'sliced': three = keys[2:5]: keys is 4; expected at least 5");
}

TEMPLATE_LIST_TEST_CASE("an operation's kernels agree with the interpreter", "[operation]", AnyOp) {
  const TriedOperation operation = tried_operation<TestType>();
  check_operation(operation, {});
  check_others(operation, Tried::part);
}

TEST_CASE("operations are tried on targets of other CPUs, and in bf16", "[operation]") {
  if (other_options().size() < 2) return skip("this CPU cannot run both x86-64-v3 and x86-64-v4");
  SUCCEED("by the case of each operation");
}

TEMPLATE_LIST_TEST_CASE("an operation's kernels for every other CPU and in bf16 agree with the interpreter", "[.full]", AnyOp) {
  check_others(tried_operation<TestType>(), Tried::whole);
}

}  // namespace attune

