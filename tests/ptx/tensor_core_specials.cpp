/// Infinities, NaN, zeros and huge numbers in attention by tensor cores: f32 is split into parts there, of which an infinity has none that is finite.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double largest_f32 = std::numeric_limits<float>::max();

/// A call with one batch and one head whose single elements are changed; depths are 16.
struct ChangedCall {
  const KernelCase& kernel;
  Shape extents;
  Arrays inputs;

  ChangedCall(const KernelCase& of, const std::string& shape) : kernel(of) {
    extents = fill_shape(of.graph(), parse_shape("batch=1,heads=1,depth=16,value_depth=16," + shape, "shape").extents).extents;
    inputs = random_inputs(of.graph(), extents, 7);
  }
  double& at(const char* name, std::int64_t row, std::int64_t column) { return inputs.at(name).data[static_cast<std::size_t>(row * 16 + column)]; }
  std::vector<double> out() const { return kernel.outputs(extents, inputs).at("out"); }
  std::string difference() const { return kernel.difference(extents, inputs); }
};

KernelOptions by_tensor_cores(const std::string& type) { return {.target = "cuda", .types = type, .set = {"depth=16", "value_depth=16"}}; }

/// Whether it holds of all elements of a row.
bool is_row(const std::vector<double>& out, std::int64_t row, bool (*holds)(double)) {
  return std::all_of(out.begin() + row * 16, out.begin() + row * 16 + 16, holds);
}
bool is_nan_element(double x) { return std::isnan(x); }
bool is_finite_element(double x) { return std::isfinite(x); }

}  // namespace

TEST_CASE("a NaN key reaches exactly the queries of tensor cores that see it", "[cuda]") {
  load_driver();
  for (const char* type : {"f32", "bf16"}) {
    const KernelCase causal("causal", by_tensor_cores(type));
    for (const char* shape : {"queries=9,keys=9", "queries=70,keys=70", "queries=4,keys=70"}) {
      CAPTURE(type, shape);
      ChangedCall call(causal, shape);
      call.at("k", 5, 3) = std::nan("");
      const std::vector<double> out = call.out();
      for (std::int64_t i = 0; i < call.extents.at("queries"); ++i) CHECK(is_row(out, i, i < 5 ? is_finite_element : is_nan_element));
    }
  }
}

TEST_CASE("a score of minus infinity weighs nothing by tensor cores, and an infinite one gives NaN", "[cuda]") {
  load_driver();
  for (const char* type : {"f32", "bf16"}) {
    const KernelCase plain("scaled_dot_product", by_tensor_cores(type));
    // Infinities in keys, or in a query; whole numbers have no low part, and others have one of either sign.
    for (const double beside : {1.0, 1.0 + 0x1p-20, 1.0 - 0x1p-20, 0.3}) {
      CAPTURE(type, beside);
      ChangedCall of_key(plain, "queries=3,keys=80");
      for (std::int64_t d = 0; d < 16; ++d) of_key.at("q", 0, d) = beside;
      of_key.at("k", 7, 0) = endless;
      of_key.at("q", 1, 0) = -beside;
      CHECK(is_row(of_key.out(), 0, is_nan_element));
      CHECK(is_row(of_key.out(), 1, is_finite_element));
      CHECK(of_key.difference() == "");
      ChangedCall of_query(plain, "queries=5,keys=40");
      for (std::int64_t j = 0; j < 40; ++j) of_query.at("k", j, 2) = beside;
      of_query.at("q", 1, 2) = -endless;
      of_query.at("q", 3, 2) = endless;
      CHECK(of_query.difference() == "");
      for (std::int64_t j = 1; j < 40; ++j) of_query.at("k", j, 2) = -beside;
      CHECK(of_query.difference() == "");
    }
  }
}

TEST_CASE("an infinite value reaches the results of tensor cores in its column, and infinities that meet are NaN", "[cuda]") {
  load_driver();
  for (const char* type : {"f32", "bf16"}) {
    const KernelCase plain("scaled_dot_product", by_tensor_cores(type));
    for (const int keys : {1, 37, 129})
      for (const int queries : {1, 37}) {
        CAPTURE(type, keys, queries);
        ChangedCall call(plain, "queries=" + std::to_string(queries) + ",keys=" + std::to_string(keys));
        call.at("v", keys - 1, 3) = endless;
        call.at("v", keys - 1, 4) = -endless;
        const std::vector<double> out = call.out();
        for (std::int64_t i = 0; i < queries; ++i) {
          const double* row = out.data() + i * 16;
          CHECK((row[3] == endless && row[4] == -endless && std::isfinite(row[2]) && std::isfinite(row[5])));
        }
        call.at("v", 0, 4) = endless;
        CHECK(call.difference() == "");
      }
  }
}

TEST_CASE("numbers that are nearly infinite stay finite by tensor cores", "[cuda]") {
  load_driver();
  const KernelCase plain("scaled_dot_product", by_tensor_cores("f32"));
  ChangedCall call(plain, "queries=5,keys=37");
  // TF32 rounds the largest numbers of f32 to no finite one. The score of key 5 is 0, and its weight less than the greatest.
  call.at("v", 5, 5) = largest_f32;
  for (std::int64_t d = 0; d < 16; ++d) call.at("k", 5, d) = 0;
  call.at("k", 3, 7) = largest_f32;
  call.at("k", 4, 7) = -largest_f32;
  for (std::int64_t i = 0; i < 5; ++i) call.at("q", i, 7) = 0x1p-126 * static_cast<double>(i - 2);
  const std::vector<double> out = call.out();
  for (std::int64_t i = 0; i < 5; ++i) CHECK(is_row(out, i, is_finite_element));
  CHECK(call.difference() == "");
}

TEST_CASE("a change of scores hides no product of tensor cores that has to be computed with care", "[cuda]") {
  load_driver();
  // Scores above 2 count as 2, those below -2 as -2, also infinite ones, whose parts multiply to NaN.
  Graph g;
  const Dim queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth", 16), columns = g.dim("columns", 16);
  const Value q = g.input("q", {queries, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, columns});
  const Value score = matmul(q, k, depth), high = select(score > constant(g, 2.0), constant(g, 2.0), score);
  g.output("out", matmul(softmax(select(high > constant(g, -2.0), high, constant(g, -2.0)), keys), v, keys), {queries, columns});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  const KernelCase kernel(*new Graph(g), "bounded", {.target = "cuda"});
  const Shape extents{{"queries", 5}, {"keys", 40}, {"depth", 16}, {"columns", 16}};
  Arrays inputs = random_inputs(kernel.graph(), extents, 7);
  for (std::size_t i = 0; i < 5; ++i) inputs.at("q").data[16 * i] = i % 2 == 0 ? 1 : -1;
  inputs.at("k").data[16 * 7] = endless;
  CHECK(kernel.difference(extents, inputs) == "");
  for (const double x : kernel.outputs(extents, inputs).at("out")) CHECK(std::isfinite(x));
}

TEST_CASE("a query of tensor cores that sees no key gives zeros", "[cuda]") {
  load_driver();
  for (const char* type : {"f32", "bf16"}) {
    const KernelCase padded("padded", by_tensor_cores(type));
    ChangedCall call(padded, "queries=20,keys=80");
    call.inputs.at("lengths").data[0] = 0;
    for (const double x : call.out()) CHECK(x == 0);
  }
}

TEST_CASE("products by tensor cores of infinities, NaN and the largest numbers are those of f32", "[cuda]") {
  load_driver();
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  g.output("out", matmul(g.input("a", {rows, over}), g.input("b", {over, columns}), over), {rows, columns});
  g.finish();
  for (const char* types : {"f32", "f32,b=bf16"})
    for (const char* shape : {"rows=37,columns=40,over=72", "rows=5,columns=37,over=129"}) {
      CAPTURE(types, shape);
      const KernelCase kernel(*new Graph(g), "product", {.target = "cuda", .types = types});
      const Shape extents = fill_shape(kernel.graph(), parse_shape(shape, "shape").extents).extents;
      Arrays inputs = random_inputs(kernel.graph(), extents, 7);
      const std::int64_t over_count = extents.at("over"), column_count = extents.at("columns");
      const auto a = [&](std::int64_t row, std::int64_t at) -> double& { return inputs.at("a").data[static_cast<std::size_t>(row * over_count + at)]; };
      const auto b = [&](std::int64_t at, std::int64_t column) -> double& { return inputs.at("b").data[static_cast<std::size_t>(at * column_count + column)]; };
      a(0, 1) = endless;
      a(1, over_count - 1) = std::nan("");
      a(2, 3) = 0x1.ffep127;  // no number of TF32, which the nearest one is infinite of
      for (std::int64_t n = 0; n < column_count; ++n) b(3, n) = n % 2 == 0 ? 0.5 : -0.25;
      b(5, 4) = -endless;
      b(1, 6) = 1;          // an infinity times a number without a low part
      b(1, 7) = 0;          // and times zero
      a(4, 5) = 1 + 0x1p-20;
      const std::vector<double> out = kernel.outputs(extents, inputs).at("out");
      const auto at = [&](std::int64_t row, std::int64_t column) { return out[static_cast<std::size_t>(row * column_count + column)]; };
      CHECK(kernel.difference(extents, inputs) == "");
      CHECK((at(0, 6) == endless && std::isnan(at(0, 7)) && at(4, 4) == -endless));
      for (std::int64_t n = 0; n < column_count; ++n) {
        CHECK(std::isnan(at(1, n)));
        if (n != 4) CHECK((std::isfinite(at(2, n)) && std::isfinite(at(3, n))));
      }
    }
}

}  // namespace attune
