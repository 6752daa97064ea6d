/// Each pointwise operation in code for tensor cores, as what changes the sums of a product, on special numbers.
/// A kernel has several: each for some rows.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(), unbounded = std::numeric_limits<double>::infinity();

/// What an operand of the kind is: results of integers stay integers that the language promises.
std::vector<double> tried(Kind kind) {
  switch (kind) {
    case Kind::real:
      return {0,    -0.0, 1,    -1,   0.5,   -2.5,  3,     -7,   88,     -88,       100,        -104,     1e5,
              -1e5, 20,   1e10, 3e38, -3e38, 2e-38, 1e-30, 0.25, -0.003, unbounded, -unbounded, no_number};
    case Kind::boolean:
      return {0, 1, 1};
    case Kind::i32:
      return {0, 1, -1, 2, -3, 7, -7, 10, 100, -1000, 30000};
    default:
      return {0, 1, -1, 2, -3, 7, -7, 10, 100, 1073741824.0, -2147483648.0, 2147483649.0};
  }
}

std::vector<Kind> kinds_of(Signature signature) {
  switch (signature) {
    case Signature::integral:
      return {Kind::i64, Kind::i32};
    case Signature::fractional:
      return {Kind::real};
    case Signature::logic:
      return {Kind::boolean};
    default:
      return {Kind::real, Kind::i64, Kind::i32};
  }
}

struct Operation {
  std::string_view name;
  int arity;
  bool has_condition;  ///< as its first operand
  Value (*of)(Graph&, std::span<const Value>);
};
template <class Op>
constexpr Operation operation{Op::name, Op::arity, Op::signature == Signature::selection,
                              [](Graph& g, std::span<const Value> operands) { return g.add(Op{}, operands, Here{}); }};

/// All that take operands of the kind, or a condition before them.
std::vector<Operation> operations_of(Kind kind, bool has_condition) {
  std::vector<Operation> all;
  [&]<class... Op>(std::type_identity<std::variant<Op...>>) {
    const auto add = [&]<class One>(std::type_identity<One>) {
      constexpr bool is_left_to_halide = std::is_same_v<One, Pow> || std::is_same_v<One, Sin> || std::is_same_v<One, Cos>;
      if constexpr (PointwiseOp<One> && !is_left_to_halide)
        if (operation<One>.has_condition == has_condition && std::ranges::count(kinds_of(One::signature), kind) > 0) all.push_back(operation<One>);
    };
    (add(std::type_identity<Op>{}), ...);
  }(std::type_identity<AnyOp>{});
  return all;
}

constexpr std::int64_t rows_of_one = 37, all_columns = 37;

/// out[i, j] = op(x0[i], x1[j], x2[i]) + sum of products that are 0, where `op` is that of the row.
Graph graph_of(std::span<const Operation> operations, Kind kind) {
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  std::vector<Value> operands;
  const int arity = std::ranges::max(operations, {}, &Operation::arity).arity;
  for (int i = 0; i < arity; ++i) {
    static constexpr std::string_view labels[] = {"x0", "x1", "x2"};
    operands.push_back(g.input(labels[i], {i == 1 ? columns : rows}, i == 0 && operations[0].has_condition ? Kind::boolean : kind));
  }
  const auto result_of = [&](const Operation& one) { return to_real(one.of(g, std::span(operands).first(static_cast<std::size_t>(one.arity)))); };
  Value changed = result_of(operations.back());
  for (std::size_t n = operations.size() - 1; n-- > 0;)
    changed = select(index(rows) < static_cast<std::int64_t>(n + 1) * rows_of_one, result_of(operations[n]), changed);
  g.output("out", matmul(g.input("a", {rows, over}), g.input("b", {columns, over}), over) + changed, {rows, columns});
  g.finish();
  return g;
}

void check_operations_of_sums(std::span<const Operation> operations, Kind kind) {
  const Graph graph = graph_of(operations, kind);
  REQUIRE(std::string(graph.problem().view()) == "");
  std::string types = "bf16,out=f32";
  for (const Node& node : graph.nodes())
    if (const auto* input = std::get_if<Input>(&node.op); input != nullptr && input->label.starts_with('x') && node.type.kind == Kind::real)
      types += "," + std::string(input->label) + "=f32";
  // An operation stands in the code once for each sum of a thread: the least tiles have the fewest.
  const char* least_tiles = "mma_gemm,row_tile=64,column_tile=64,warp_rows=32,warp_columns=32";
  const KernelCase kernel(graph, "operations", {.target = "cuda", .types = types, .schedule = least_tiles});
  const Shape extents{{"rows", rows_of_one * static_cast<std::int64_t>(operations.size())}, {"columns", all_columns}, {"over", 5}};
  Arrays inputs = random_inputs(graph, extents, 1);
  for (auto& [label, array] : inputs) {
    const std::vector<double> all = tried(array.type.kind);
    for (std::size_t i = 0; i < array.data.size(); ++i)
      array.data[i] = label.starts_with('x') ? static_cast<double>(static_cast<float>(all[i % rows_of_one % all.size()])) : 0;
  }
  std::vector<double> got;
  const ptx::Counts counts = counts_of([&] { got = kernel.outputs(extents, inputs).at("out"); });
  CHECK(counts.instructions.contains("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"));
  const Array expected = interpret(graph, inputs).outputs.at("out");
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = static_cast<double>(static_cast<float>(expected.data[i]));
    if (kind != Kind::real && std::abs(x) >= (kind == Kind::i32 ? 0x1p31 : 0x1p63)) continue;  // of an integer that its kind does not have nothing is promised
    if (got[i] == x || (std::isnan(got[i]) && std::isnan(x))) continue;
    const std::size_t row = i / all_columns, column = i % all_columns;
    CAPTURE(operations[row / rows_of_one].name, row, column, inputs.at("x0").data[row], inputs.contains("x1") ? inputs.at("x1").data[column] : 0.0);
    if (std::abs(x) < 0x1p-120 && std::abs(got[i]) < 0x1p-120) continue;
    CHECK(std::abs(got[i] - x) <= 0x1p-21 * std::abs(x));
  }
}

/// So many to a kernel that what it has beside them does not take the most of its time to compile.
void check_operations_of_sums(Kind kind, bool has_condition) {
  const std::vector<Operation> all = operations_of(kind, has_condition);
  constexpr std::size_t most = 4;
  for (std::size_t first = 0; first < all.size(); first += most) {
    CAPTURE(name_of(kind), first);
    check_operations_of_sums(std::span(all).subspan(first, std::min(most, all.size() - first)), kind);
  }
}

}  // namespace

TEST_CASE("operations in code for tensor cores agree with the interpreter", "[cuda]") {
  load_driver();
  for (const Kind kind : {Kind::real, Kind::i64, Kind::i32, Kind::boolean})
    for (const bool has_condition : {false, true}) check_operations_of_sums(kind, has_condition);
}

}  // namespace attune
