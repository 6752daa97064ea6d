#include <catch2/catch.hpp>

#include <limits>

#include "tests/codegen/kernel_case.h"
#include "tests/codegen/opencl_problem.h"
#include "tests/skip.h"

namespace attune {
namespace {

void check_on_opencl(const std::string& variant, const KernelOptions& given, std::initializer_list<const char*> shapes) {
  KernelOptions options = given;
  options.target = "opencl";
  const KernelCase kernel(variant, options);
  if (const std::string problem = opencl_problem(kernel, *shapes.begin()); !problem.empty()) return skip(problem);
  std::uint64_t seed = 1;
  for (const char* shape : shapes) CHECK(kernel.difference(shape, seed++) == "");
}

}  // namespace

TEST_CASE("attention on OpenCL agrees with the interpreter", "[opencl]") {
  check_on_opencl("causal", {}, {"queries=1,keys=1,depth=1", "queries=37,keys=53,depth=17", "queries=3,keys=70,depth=5"});
}

TEST_CASE("attention of bf16 on OpenCL agrees with the interpreter", "[opencl]") {
  check_on_opencl("scaled_dot_product", {.types = "bf16"}, {"queries=5,keys=37,depth=16"});
}

TEST_CASE("attention of few queries on OpenCL agrees with the interpreter", "[opencl]") {
  check_on_opencl("grouped_query", {.schedule = "gpu_split_keys,size=few,split_tile=64,block_columns=4,block_rows=4,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1"},
                  {"queries=1,keys=65,group=3,depth=5", "batch=2,queries=5,keys=300,group=3,depth=17,value_depth=19"});
}

TEST_CASE("projections and stored weights on OpenCL agree with the interpreter", "[opencl]") {
  check_on_opencl("multi_head", {.settings = {"weights=true", "mask=true"}}, {"batch=2,tokens=17,depth=5", "batch=1,tokens=1,depth=3"});
}

TEST_CASE("sums that are no products on OpenCL agree with the interpreter", "[opencl]") {
  check_on_opencl("additive", {}, {"batch=2,queries=5,keys=37", "batch=1,queries=1,keys=1"});
}

TEST_CASE("infinities and NaN of literals on OpenCL agree with the interpreter", "[opencl]") {
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns");
  const Value x = g.input("x", {rows, columns}), y = g.input("y", {columns}), truth = g.input("truth", {rows, columns}, Kind::boolean);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  g.output("masked", mask(x, truth) + y, {rows, columns});
  g.output("multiplied", x * infinity, {rows, columns});
  g.output("outside", gather(y, index(rows) - 2, columns) + x, {rows, columns});
  g.output("greatest", max(select(truth, x, std::numeric_limits<double>::quiet_NaN()), columns), {rows});
  g.output("weights", softmax(mask(x, truth), columns), {rows, columns});
  g.finish();
  // Never closed, as below.
  static const KernelCase& kernel = *new KernelCase(*new Graph(g), "literals", {.target = "opencl"});
  if (const std::string problem = opencl_problem(kernel, "rows=1,columns=1"); !problem.empty()) return skip(problem);
  for (const char* shape : {"rows=1,columns=31", "rows=5,columns=37", "rows=37,columns=129"}) CHECK(kernel.difference(shape, 1) == "");
}

TEST_CASE("attention without keys, queries or heads on OpenCL agrees with the interpreter", "[opencl]") {
  check_on_opencl("scaled_dot_product", {}, {"queries=5,keys=0", "queries=0,keys=5", "queries=1,keys=1,depth=3,value_depth=0", "queries=5,keys=0,depth=0",
                                             "queries=37,keys=0,heads=0"});
  check_on_opencl("masked", {.types = "bf16"}, {"queries=5,keys=0,depth=7", "queries=5,keys=37,depth=7"});
  check_on_opencl("multi_head", {.settings = {"weights=true", "biases=true", "lengths=true"}},
                  {"batch=2,tokens=5,heads=2,depth=3,model=0", "batch=2,tokens=5,heads=0", "batch=2,tokens=0,heads=2", "batch=0,tokens=5"});
  check_on_opencl("grouped_query", {}, {"queries=5,keys=0,group=3", "queries=5,keys=3,group=0"});
  check_on_opencl("additive", {}, {"batch=2,queries=5,keys=0", "batch=2,queries=5,keys=37,hidden=0"});
}

TEST_CASE("sums, maxima, softmax, gather and concat of nothing on OpenCL agree with the interpreter", "[opencl]") {
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), past = g.dim("past"), all = g.dim("all");
  const Value x = g.input("x", {rows, columns}), before = g.input("before", {past, columns}), y = g.input("y", {columns});
  g.output("sums", sum(x, columns), {rows});
  g.output("greatest", max(x, columns), {rows});
  g.output("over_rows", sum(x * y, rows), {columns});
  g.output("total", sum(sum(x, rows), columns), {});
  g.output("weights", softmax(x, columns), {rows, columns});
  g.output("joined", concat({{before, past}, {x, rows}}, all), {all, columns});
  g.output("gathered", gather(before, index(rows) - 1, past), {rows, columns});
  g.output("product", matmul(x, before, columns), {rows, past});
  g.finish();
  static const KernelCase& kernel = *new KernelCase(*new Graph(g), "nothing", {.target = "opencl"});
  if (const std::string problem = opencl_problem(kernel, "rows=1,columns=1,past=1"); !problem.empty()) return skip(problem);
  for (const char* shape : {"rows=5,columns=37,past=0", "rows=0,columns=37,past=5", "rows=5,columns=0,past=1", "rows=0,columns=0,past=0", "rows=37,columns=129,past=3"})
    CHECK(kernel.difference(shape, 1) == "");
}

}  // namespace attune
