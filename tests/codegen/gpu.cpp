#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <limits>

#include "tests/codegen/device_problem.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/quick_opencl.h"
#include "tests/codegen/small_tiles.h"
#include "tests/skip.h"

namespace attune {
namespace {

constexpr const char* devices[] = {"opencl", "vulkan"};

void check(const std::string& target, const std::function<KernelCase(const KernelOptions&)>& compiled, const KernelOptions& given,
           std::initializer_list<const char*> shapes) {
  CAPTURE(target);
  if (const std::string problem = device_problem(target); !problem.empty()) return skip(problem);
  KernelOptions options = given;
  options.target = target;
  const KernelCase kernel = compiled(options);
  std::uint64_t seed = 1;
  for (const char* shape : shapes) CHECK(kernel.difference(shape, seed++) == "");
}

void check_on_devices(const std::string& variant, const KernelOptions& options, std::initializer_list<const char*> shapes) {
  for (const char* target : devices) check(target, [&](const KernelOptions& o) { return KernelCase(variant, o); }, options, shapes);
}

void check_on_devices(const Graph& graph, const std::string& name, std::initializer_list<const char*> shapes) {
  for (const char* target : devices) check(target, [&](const KernelOptions& o) { return KernelCase(graph, name, o); }, {}, shapes);
}

}  // namespace

TEST_CASE("attention on devices agrees with the interpreter", "[devices]") {
  check_on_devices("causal", {}, {"queries=1,keys=1,depth=1", "queries=37,keys=53,depth=17", "queries=3,keys=70,depth=5"});
}

TEST_CASE("attention of a few known keys on devices agrees with the interpreter", "[devices]") {
  // what a thread has of them are keys that there are and that there are not, each known
  for (const char* keys : {"keys=8", "keys=17"}) check_on_devices("causal", {.set = {keys}}, {"queries=37,depth=5", "batch=1,queries=3,depth=17"});
}

TEST_CASE("attention of bf16 on devices agrees with the interpreter", "[devices]") {
  check_on_devices("scaled_dot_product", {.types = "bf16"}, {"queries=5,keys=37,depth=16"});
}

TEST_CASE("attention of few queries on devices agrees with the interpreter", "[devices]") {
  check_on_devices("grouped_query", {.schedule = "gpu_split_keys,size=few,split_tile=64,block_columns=4,block_rows=4,thread_keys=2,thread_values=4,over_chunk=16,value_chunk=1"},
                  {"queries=1,keys=65,group=3,depth=5", "batch=2,queries=5,keys=300,group=3,depth=17,value_depth=19"});
}

TEST_CASE("attention whose heads are merged into the result on devices agrees with the interpreter", "[devices]") {
  Graph g;
  const auto [batch, queries, keys] = g.dims("batch", "queries", "keys");
  const auto [heads, depth, model] = g.dims("heads", "depth", "model");
  const Value q = g.input("q", {batch, heads, queries, depth}), k = g.input("k", {batch, heads, keys, depth}), v = g.input("v", {batch, heads, keys, depth});
  const Value result = matmul(softmax(matmul(q, k, depth), keys), v, keys);
  g.output("out", merge(result, {heads, depth}, model), {batch, queries, model});
  g.output("sums", sum(result, depth), {batch, heads, queries});
  g.finish();
  check_on_devices(g, "merged", {"batch=2,heads=3,queries=5,keys=37,depth=7", "batch=1,heads=2,queries=37,keys=9,depth=16"});
}

TEST_CASE("quotients and remainders of negative integers on devices agree with the interpreter", "[devices]") {
  Graph g;
  const Dim keys = g.dim("keys");
  const Value x = g.input("x", {keys}), number = index(keys) - 60;
  const auto parts = [&](std::int64_t divisor) { return to_real(floor_div(number, divisor)) + 1000.0 * to_real(mod(number, divisor)); };
  g.output("out", select(x > 100, x, parts(3) + parts(7) * 0.5 + parts(16) * 0.25), {keys});
  g.finish();
  check_on_devices(g, "quotients", {"keys=129", "keys=1"});
}

TEST_CASE("a softmax over all that a call has agrees with the interpreter on devices", "[devices]") {
  Graph g;
  const auto [queries, keys] = g.dims("queries", "keys");
  g.output("out", softmax(g.input("x", {queries, keys}), {queries, keys}) * 1.5, {queries, keys});
  g.finish();
  check_on_devices(g, "of_all", {"queries=5,keys=37", "queries=1,keys=1", "queries=3,keys=0"});
}

TEST_CASE("a kernel of sixteen stages on Vulkan agrees with the interpreter", "[devices]") {
  Graph g;
  const auto [batch, queries, keys] = g.dims("batch", "queries", "keys");
  const Value z = g.input("z", {batch, queries, keys});
  Value low = g.input("low", {batch, queries});
  double width = 1;
  for (int i = 0; i < 16; ++i) {
    low = low + (width /= 2) * sum(maximum(z - low, 0), keys);
    if (i >= 9) g.output(std::array<Name, 7>{"a", "b", "c", "d", "e", "f", "g"}[static_cast<std::size_t>(i - 9)], low, {batch, queries});
  }
  g.finish();
  check("vulkan", [&](const KernelOptions& o) { return KernelCase(g, "sums", o); }, {}, {"batch=2,queries=13,keys=21"});
}

TEST_CASE("projections and stored weights on devices agree with the interpreter", "[devices]") {
  const QuickOpencl quick;
  check_on_devices("multi_head", {.settings = {"weights=true", "mask=true"}, .schedule = small_tiles}, {"batch=2,tokens=17,depth=5", "batch=1,tokens=1,depth=3"});
}

TEST_CASE("attention of keys that an indexer chooses on devices agrees with the interpreter", "[devices]") {
  check_on_devices("chosen_keys", {.settings = {"count=5", "causal=true"}, .schedule = small_tiles},
                  {"batch=2,heads=2,group=3,queries=37,keys=37,depth=16,value_depth=9,index_heads=3,index_depth=7"});
}

TEST_CASE("sums that are no products on devices agree with the interpreter", "[devices]") {
  check_on_devices("additive", {}, {"batch=2,queries=5,keys=37", "batch=1,queries=1,keys=1"});
}

TEST_CASE("infinities and NaN of literals on devices agree with the interpreter", "[devices]") {
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
  check_on_devices(g, "literals", {"rows=1,columns=1", "rows=1,columns=31", "rows=5,columns=37", "rows=37,columns=129"});
}

TEST_CASE("remainders of great powers and angles on devices agree with the interpreter", "[devices]") {
  Graph g;
  const Dim tokens = g.dim("tokens"), pairs = g.dim("pairs");
  const Value x = g.input("x", {tokens, pairs}, Kind::i64), wide = x * ((std::int64_t{1} << 40) + 12345);
  for (const int bits : {31, 32, 33, 44}) {
    const std::int64_t power = std::int64_t{1} << bits;
    g.output(std::array<Name, 4>{"a", "b", "c", "d"}[static_cast<std::size_t>(bits == 44 ? 3 : bits - 31)], floor_div(mod(wide + 5, power) - power / 2, 1 << 16),
             {tokens, pairs});
  }
  g.output("low", bit_and(wide, (std::int64_t{1} << 40) - 1), {tokens, pairs});
  g.output("angle", rotary_angle(index(tokens), wide), {tokens, pairs});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  check_on_devices(g, "remainders", {"tokens=9,pairs=5", "tokens=1,pairs=1", "tokens=37,pairs=3"});
}

TEST_CASE("devices choose the greatest elements of rows as the interpreter does", "[devices]") {
  const QuickOpencl quick;
  Graph g;
  const Dim rows = g.dim("rows"), words = g.dim("words"), picks = g.dim("picks", 7);
  const Value x = g.input("x", {rows, words}), whole = floor(2 * x);
  g.output("chosen", top_k(whole, words, 5), {rows, words});
  g.output("positions", top_k_positions(to_i64(whole), words, 9, picks), {rows, picks});
  g.output("sorted", sorted_positions(whole, rows, 5, picks), {picks, words});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  check_on_devices(g, "choices", {"rows=5,words=37", "rows=1,words=1", "rows=3,words=0", "rows=17,words=4"});
}

TEST_CASE("attention without keys, queries or heads on devices agrees with the interpreter", "[devices]") {
  const QuickOpencl quick;
  check_on_devices("scaled_dot_product", {.schedule = small_tiles}, {"queries=5,keys=0", "queries=0,keys=5", "queries=1,keys=1,depth=3,value_depth=0", "queries=5,keys=0,depth=0",
                                             "queries=37,keys=0,heads=0"});
  check_on_devices("scaled_dot_product", {.settings = {"lse=true", "row_max=true"}, .schedule = small_tiles}, {"queries=5,keys=7,value_depth=0", "queries=5,keys=0,value_depth=0"});
  check_on_devices("masked", {.types = "bf16", .schedule = small_tiles}, {"queries=5,keys=0,depth=7", "queries=5,keys=37,depth=7"});
  check_on_devices("multi_head", {.settings = {"weights=true", "biases=true", "lengths=true"}, .schedule = small_tiles},
                  {"batch=2,tokens=5,heads=2,depth=3,model=0", "batch=2,tokens=5,heads=0", "batch=2,tokens=0,heads=2", "batch=0,tokens=5"});
  check_on_devices("grouped_query", {.schedule = small_tiles}, {"queries=5,keys=0,group=3", "queries=5,keys=3,group=0"});
  check_on_devices("additive", {.schedule = small_tiles}, {"batch=2,queries=5,keys=0", "batch=2,queries=5,keys=37,hidden=0"});
}

TEST_CASE("sums, maxima, softmax, gather and concat of nothing on devices agree with the interpreter", "[devices]") {
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
  check_on_devices(g, "nothing",
                   {"rows=1,columns=1,past=1", "rows=5,columns=37,past=0", "rows=0,columns=37,past=5", "rows=5,columns=0,past=1",
                    "rows=0,columns=0,past=0", "rows=37,columns=129,past=3"});
}

}  // namespace attune
