/// Each pointwise operation in code for tensor cores, as what changes the sums of a product, on special numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
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

/// out[i, j] = op(x0[i], x1[j], x2[i]) + sum of products that are 0.
template <class Op>
void check_operation_of_sums(Kind kind) {
  INFO(Op::name << " of " << name_of(kind));
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  std::vector<Value> operands;
  for (int i = 0; i < Op::arity; ++i) {
    const bool is_condition = Op::signature == Signature::selection && i == 0;
    static constexpr std::string_view labels[] = {"x0", "x1", "x2"};
    operands.push_back(g.input(labels[i], {i == 1 ? columns : rows}, is_condition ? Kind::boolean : kind));
  }
  const Value product = matmul(g.input("a", {rows, over}), g.input("b", {columns, over}), over);
  g.output("out", product + to_real(g.add(Op{}, operands, Here{})), {rows, columns});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  std::string types = "bf16,out=f32";
  if (kind == Kind::real)
    for (int i = Op::signature == Signature::selection ? 1 : 0; i < Op::arity; ++i) types += ",x" + std::to_string(i) + "=f32";
  // An operation stands in the code once for each sum of a thread: the least tiles have the fewest.
  const KernelCase kernel(*new Graph(g), "operation", {.target = "cuda", .types = types, .schedule = "mma_gemm,row_tile=64,column_tile=64,warp_rows=32,warp_columns=32"});
  const Shape extents{{"rows", 37}, {"columns", 37}, {"over", 5}};
  Arrays inputs = random_inputs(kernel.graph(), extents, 1);
  for (auto& [label, array] : inputs) {
    const std::vector<double> all = tried(array.type.kind);
    for (std::size_t i = 0; i < array.data.size(); ++i)
      array.data[i] = label.starts_with('x') ? static_cast<double>(static_cast<float>(all[i % all.size()])) : 0;
  }
  std::vector<double> got;
  const ptx::Counts counts = counts_of([&] { got = kernel.outputs(extents, inputs).at("out"); });
  CHECK(counts.instructions.contains("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"));
  const Array expected = interpret(kernel.graph(), inputs).outputs.at("out");
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = static_cast<double>(static_cast<float>(expected.data[i]));
    if (kind != Kind::real && std::abs(x) >= (kind == Kind::i32 ? 0x1p31 : 0x1p63)) continue;  // of an integer that its kind does not have nothing is promised
    if (got[i] == x || (std::isnan(got[i]) && std::isnan(x))) continue;
    CAPTURE(i / 37, i % 37, inputs.at("x0").data[i / 37], Op::arity > 1 ? inputs.at("x1").data[i % 37] : 0.0);
    if (std::abs(x) < 0x1p-120 && std::abs(got[i]) < 0x1p-120) continue;
    CHECK(std::abs(got[i] - x) <= 0x1p-21 * std::abs(x));
  }
}

template <class Op>
void check_operation_of_sums() {
  for (const Kind kind : kinds_of(Op::signature)) check_operation_of_sums<Op>(kind);
}

}  // namespace

TEST_CASE("operations in code for tensor cores agree with the interpreter", "[cuda]") {
  load_driver();
  [&]<class... Op>(std::type_identity<std::variant<Op...>>) {
    const auto check_one = [&]<class One>(std::type_identity<One>) {
      constexpr bool is_left_to_halide = std::is_same_v<One, Pow> || std::is_same_v<One, Sin> || std::is_same_v<One, Cos>;
      if constexpr (PointwiseOp<One> && !is_left_to_halide) check_operation_of_sums<One>();
    };
    (check_one(std::type_identity<Op>{}), ...);
  }(std::type_identity<AnyOp>{});
}

}  // namespace attune
