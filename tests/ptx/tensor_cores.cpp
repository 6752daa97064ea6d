/// Attention by tensor cores: its PTX is interpreted, and compared with the interpreter of graphs; what it does is counted.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

/// That it is by tensor cores, which have no other instruction for their products: those of warps, or those of warpgroups.
bool has_products(const ptx::Counts& counts, const std::string& type, bool is_of_warpgroups = false) {
  const auto is_product = [&](const auto& counted) {
    return counted.first.starts_with("wgmma.mma_async.sync.aligned.m64n") && counted.first.ends_with("k16.f32." + type + "." + type);
  };
  if (is_of_warpgroups) return std::ranges::any_of(counts.instructions, is_product);
  const std::string of_f32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", other = "mma.sync.aligned.m16n8k16.row.col.f32." + type + "." + type + ".f32";
  return counts.instructions.contains(type == "f32" ? of_f32 : other);
}

std::vector<std::string> depths(int depth, int value_depth) {
  return {"depth=" + std::to_string(depth), "value_depth=" + std::to_string(value_depth)};
}

void check_by_schedule(const std::string& variant, const KernelOptions& options, std::initializer_list<const char*> shapes) {
  CAPTURE(variant, options.types, options.settings, options.set, options.schedule);
  const KernelCase kernel(variant, options);
  const ptx::Counts counts = counts_of([&] {
    for (const char* shape : shapes) CHECK(kernel.difference(fitting(shape, kernel.graph()), 1) == "");
  });
  // Rows of other depths do not begin at multiples of 16 bytes.
  const auto is_aligned = [](const std::string& known) { return std::stoi(known.substr(known.find('=') + 1)) % 8 == 0; };
  CHECK(has_products(counts, options.types, options.schedule.starts_with("wgmma") && std::ranges::all_of(options.set, is_aligned)));
  for (const auto& [instruction, conflicts] : counts.conflicts_of) CHECK_THAT(instruction, !Catch::StartsWith("ldmatrix") && !Catch::StartsWith("ld.shared"));
}

/// Warpgroups multiply elements of 16 bits alone.
std::vector<std::string> schedules_of(const std::string& type) {
  std::vector<std::string> all{"mma_online_softmax"};
  if (type != "f32") all.emplace_back("wgmma_online_softmax");
  return all;
}

void check_by_tensor_cores(const std::string& variant, KernelOptions options, std::initializer_list<const char*> shapes) {
  options.target = "cuda";
  if (!options.schedule.empty()) return check_by_schedule(variant, options, shapes);
  for (const std::string& schedule : schedules_of(options.types)) {
    options.schedule = schedule;
    check_by_schedule(variant, options, shapes);
  }
}

constexpr auto odd = {"batch=1,heads=1,group=1,queries=1,keys=1", "batch=1,heads=3,group=2,queries=5,keys=37",
                      "batch=2,heads=2,group=1,queries=37,keys=129", "batch=1,heads=1,group=3,queries=129,keys=37"};

/// That some of it is by warpgroups together.
bool has_warpgroup_products(const ptx::Counts& counts) {
  return std::ranges::any_of(counts.instructions, [](const auto& counted) { return counted.first.starts_with("wgmma.mma_async."); });
}

constexpr int of_8_0 = 80, of_9_0 = 90;

/// A product by tensor cores of a graph, which stays, on devices of a compute capability.
void check_product(const Graph& graph, const KernelOptions& given, std::initializer_list<const char*> shapes,
                   std::initializer_list<int> capabilities = {of_8_0, of_9_0}) {
  KernelOptions options = given;
  options.target = "cuda";
  const KernelCase kernel(*new Graph(graph), "product", options);
  for (const int capability : capabilities) {
    CAPTURE(options.types, options.schedule, capability);
    fresh_driver_state().capability = capability;
    const ptx::Counts counts = counts_of([&] {
      for (const char* shape : shapes) CHECK(kernel.difference(shape, 1) == "");
    });
    const bool is_by_warpgroups = capability == of_9_0 && !options.schedule.starts_with("mma_") && !options.types.starts_with("f32");
    CHECK(has_warpgroup_products(counts) == is_by_warpgroups);
    if (!is_by_warpgroups) CHECK(has_products(counts, given.types.substr(0, given.types.find(','))));
    for (const auto& [instruction, conflicts] : counts.conflicts_of)
      CHECK_THAT(instruction, !Catch::StartsWith("ldmatrix") && !Catch::StartsWith("ld.shared"));
  }
  fresh_driver_state();
}

}  // namespace

TEST_CASE("products by tensor cores agree with the interpreter, however their operands lie in memory", "[cuda]") {
  load_driver();
  for (const bool is_first_by_rows : {false, true})
    for (const bool is_second_by_rows : {false, true})
      for (const char* type : {"bf16", "f16", "f32", is_first_by_rows ? "f32,b=bf16" : "f32,a=f16"}) {
        CAPTURE(is_first_by_rows, is_second_by_rows);
        Graph g;
        const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
        const Value a = is_first_by_rows ? g.input("a", {rows, over}) : g.input("a", {over, rows}),
                    b = is_second_by_rows ? g.input("b", {over, columns}) : g.input("b", {columns, over});
        g.output("out", matmul(a, b, over), {rows, columns});
        g.finish();
        check_product(g, {.types = type},
                      {"rows=1,columns=1,over=1", "rows=5,columns=37,over=129", "rows=129,columns=5,over=37", "rows=136,columns=136,over=72",
                       "rows=64,columns=8,over=96"});
      }
}

TEST_CASE("products by tensor cores over several dims, of several products, with a change of the sums", "[cuda]") {
  load_driver();
  Graph g;
  const Dim batch = g.dim("batch"), tokens = g.dim("tokens"), heads = g.dim("heads"), depth = g.dim("depth"), model = g.dim("model"),
            out = g.dim("out");
  const Value x = g.input("x", {batch, tokens, model}), w = g.input("w", {heads, depth, model}), bias = g.input("bias", {heads, depth});
  g.output("projected", tanh(matmul(x, w, model) * 0.25 + bias), {batch, heads, tokens, depth});
  const Value y = g.input("y", {batch, tokens, heads, depth}), back = g.input("back", {out, heads, depth});
  g.output("joined", matmul(y, back, {heads, depth}), {batch, tokens, out});
  const Value each = g.input("each", {batch, heads, depth, out});
  g.output("per_head", matmul(y, each, depth), {batch, tokens, heads, out});
  g.finish();
  for (const char* type : {"bf16", "f32"})
    check_product(g, {.types = type},
                  {"batch=1,tokens=1,heads=1,depth=1,model=1,out=1", "batch=2,tokens=37,heads=3,depth=8,model=24,out=16",
                   "batch=2,tokens=5,heads=2,depth=16,model=129,out=37", "batch=1,tokens=129,heads=5,depth=5,model=40,out=8"});
}

TEST_CASE("products by tensor cores with any tiles agree with the interpreter", "[cuda]") {
  load_driver();
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  g.output("out", matmul(g.input("a", {rows, over}), g.input("b", {over, columns}), over), {rows, columns});
  g.finish();
  for (const char* tiles :
       {"row_tile=64,column_tile=64,group_rows=64,stages=3,row_band=1", "row_tile=128,column_tile=256,group_rows=64,stages=4,row_band=8",
        "row_tile=256,column_tile=128,group_rows=128,stages=3,row_band=4", "row_tile=256,column_tile=128,group_rows=64,stages=4,row_band=16",
        "row_tile=64,column_tile=128,group_rows=64,stages=6,row_band=1"})
    check_product(g, {.types = "bf16", .schedule = "wgmma_gemm," + std::string(tiles)},
                  {"rows=5,columns=40,over=136", "rows=600,columns=264,over=520"}, {of_9_0});
  for (const char* tiles :
       {"row_tile=64,column_tile=64,warp_rows=32,warp_columns=32,stages=2", "row_tile=128,column_tile=128,warp_rows=64,warp_columns=64,stages=3",
        "row_tile=128,column_tile=64,warp_rows=64,warp_columns=32,stages=3", "row_tile=64,column_tile=128,warp_rows=32,warp_columns=64,stages=2"})
    for (const char* type : {"bf16", "f32"})
      check_product(g, {.types = type, .schedule = "mma_gemm," + std::string(tiles)}, {"rows=5,columns=37,over=129", "rows=136,columns=72,over=200"}, {of_8_0});
}

TEST_CASE("products by tensor cores of nothing are right", "[cuda]") {
  load_driver();
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  g.output("out", matmul(g.input("a", {rows, over}), g.input("b", {over, columns}), over) + 1.5, {rows, columns});
  g.finish();
  for (const char* type : {"bf16", "f32"}) {
    const KernelCase kernel(*new Graph(g), "nothing", {.target = "cuda", .types = type});
    for (const char* shape : {"rows=5,columns=37,over=0", "rows=0,columns=37,over=5", "rows=5,columns=0,over=5", "rows=16,columns=8,over=0",
                              "rows=0,columns=8,over=8", "rows=8,columns=0,over=8"})
      CHECK(kernel.difference(shape, 1) == "");
  }
}

TEST_CASE("attention by tensor cores agrees with the interpreter for any numbers of queries and keys", "[cuda]") {
  load_driver();
  for (const char* type : {"bf16", "f16", "f32"})
    for (const int depth : {64, 128})
      for (const std::string& schedule : schedules_of(type)) {
        const KernelCase kernel("scaled_dot_product", {.target = "cuda", .types = type, .schedule = schedule, .set = depths(depth, depth)});
        // Of one head: other tests have several, and batches.
        for (const int queries : {1, 5, 37, 129})
          for (const int keys : {1, 5, 37, 129, 300})
            CHECK(kernel.difference("batch=1,heads=1,queries=" + std::to_string(queries) + ",keys=" + std::to_string(keys), 1) == "");
      }
}

TEST_CASE("every variant that tensor cores take agrees with the interpreter", "[cuda]") {
  load_driver();
  for (const char* type : {"bf16", "f32"})
    for (const char* variant : {"causal", "causal_offset", "sliding_window", "prefix_lm", "document", "soft_cap", "alibi", "padded", "masked",
                                "grouped_query", "relative_bias"})
      check_by_tensor_cores(variant, {.types = type, .set = depths(64, 64)}, odd);
  check_by_tensor_cores("sliding_window", {.settings = {"window=7"}, .types = "bf16", .set = depths(64, 64)}, odd);
  check_by_tensor_cores("sinks", {.settings = {"sinks=3", "window=9"}, .types = "bf16", .set = depths(64, 64)}, odd);
  check_by_tensor_cores("alibi", {.settings = {"causal=true"}, .types = "f16", .set = depths(64, 64)}, odd);
  check_by_tensor_cores("document", {.settings = {"causal=true"}, .types = "f16", .set = depths(64, 64)}, odd);
  // Masks that gather booleans, once and of what was gathered.
  for (const char* variant : {"tree", "top_blocks"}) check_by_tensor_cores(variant, {.types = "bf16", .set = depths(64, 64)}, odd);
}

TEST_CASE("one tensor may be both operands of tensor cores", "[cuda]") {
  load_driver();
  Graph g;
  const Dim tokens = g.dim("tokens"), keys = g.dim("keys"), depth = g.dim("depth", 16);
  const Value x = g.input("x", {tokens, depth}), k = rename(x, tokens, keys);
  g.output("out", matmul(softmax(matmul(x, k, depth), keys), k, keys), {tokens, depth});
  g.finish();
  const KernelCase attention(g, "of_itself", {.target = "cuda", .types = "bf16"});
  CHECK(attention.difference("tokens=37", 1) == "");
  Graph product;
  const Dim rows = product.dim("rows"), columns = product.dim("columns"), mid = product.dim("mid");
  const Value y = product.input("y", {rows, mid});
  product.output("out", matmul(y, rename(y, rows, columns), mid), {rows, columns});
  product.finish();
  const KernelCase gram(product, "gram", {.target = "cuda", .types = "bf16"});
  CHECK(gram.difference("rows=37,mid=64", 1) == "");
}

TEST_CASE("attention by tensor cores of depths that fill no fragment agrees with the interpreter", "[cuda]") {
  load_driver();
  const auto check = [](const char* variant, int depth, int value_depth) {
    for (const char* type : {"bf16", "f32"}) check_by_tensor_cores(variant, {.types = type, .set = depths(depth, value_depth)}, odd);
  };
  for (const auto& [depth, value_depth] : std::initializer_list<std::pair<int, int>>{{16, 16}, {40, 24}, {8, 120}, {7, 5}, {1, 1}, {127, 33}, {104, 80}})
    check("causal", depth, value_depth);
  for (const auto& [depth, value_depth] : std::initializer_list<std::pair<int, int>>{{40, 24}, {127, 33}}) check("grouped_query", depth, value_depth);
}

TEST_CASE("scores behind a tanh, with factors on either side of it, agree with the interpreter", "[cuda]") {
  load_driver();
  for (const char* type : {"bf16", "f32"}) {
    for (const char* cap : {"cap=0.2", "cap=2"})  // scores far from 0, and some of both
      check_by_tensor_cores("soft_cap", {.settings = {cap, "causal=true"}, .types = type, .set = depths(64, 64)}, odd);
    Graph g;
    const Dim queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth", 64), columns = g.dim("columns", 64);
    const Value product = matmul(g.input("q", {queries, depth}), g.input("k", {keys, depth}), depth);
    const Value scores = 3 * (tanh(product * 0.1 + g.input("bias", {keys})) * -0.5 + 1) * 0.5;
    g.output("lse", log_sum_exp(scores, keys), {queries});
    g.output("out", matmul(softmax(scores, keys), g.input("v", {keys, columns}), keys), {queries, columns});
    g.finish();
    REQUIRE(std::string(g.problem().view()) == "");
    for (const std::string& schedule : schedules_of(type))
      check_product(g, {.types = type, .schedule = schedule}, {"queries=1,keys=1", "queries=37,keys=129", "queries=130,keys=37"});
  }
}

TEST_CASE("attention by tensor cores stores log-sum-exp", "[cuda]") {
  load_driver();
  for (const char* type : {"bf16", "f16", "f32"}) {
    check_by_tensor_cores("scaled_dot_product", {.settings = {"lse=true"}, .types = type, .set = depths(64, 64)}, odd);
    check_by_tensor_cores("padded", {.settings = {"lse=true"}, .types = type, .set = depths(128, 64)}, odd);
  }
}

TEST_CASE("attention by tensor cores with biases, dropout, slices and a gate agrees with the interpreter", "[cuda]") {
  load_driver();
  Graph g;
  const Dim heads = g.dim("heads"), queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth", 64), columns = g.dim("columns", 48),
            all = g.dim("all"), rows = g.dim("rows");
  const Value q = g.input("q", {queries, heads, depth}), k = g.input("k", {keys, heads, depth}), v = g.input("v", {keys, heads, columns});
  const Value bias = g.input("bias", {heads, queries, keys}), table = g.input("table", {rows, heads}), seed = g.input("seed", {}, Kind::i64),
              offset = g.input("offset", {}, Kind::i64);
  const Value gate = g.input("gate", {queries, heads, columns}), shown = g.input("shown", {all}, Kind::boolean);
  const Value distances = mod(index(queries) - index(keys), constant(g, 7));
  const Value scores = matmul(q, k, depth) * -0.25 + bias + gather(table, distances, rows);
  const Value weights = dropout(softmax(mask(scores, slice(shown, all, {.start = 1, .step = 2, .count = 37}, keys)), keys), 0.25, seed, offset);
  g.output("out", matmul(weights, v, keys) * sigmoid(gate), {queries, heads, columns});
  g.finish();
  REQUIRE(std::string(g.problem().view()) == "");
  for (const char* type : {"bf16", "f32"})
    for (const std::string& schedule : schedules_of(type))
      check_product(g, {.types = type, .schedule = schedule},
                    {"heads=1,queries=1,all=75,rows=7", "heads=3,queries=37,all=80,rows=5", "heads=2,queries=129,all=74,rows=9"});
}

TEST_CASE("attention by tensor cores with any tiles agrees with the interpreter", "[cuda]") {
  load_driver();
  for (const char* tiles : {"query_tile=64,key_tile=32,warp_rows=16", "query_tile=64,key_tile=128,warp_rows=32",
                            "query_tile=128,key_tile=64,warp_rows=16", "query_tile=128,key_tile=32,warp_rows=32"})
    check_by_tensor_cores("causal",
                          {.target = "cuda", .types = "bf16", .schedule = "mma_online_softmax," + std::string(tiles), .set = depths(64, 48)}, odd);
  for (const char* tiles :
       {"query_tile=64,key_tile=32,stages=3,query_registers=0,turns=1", "query_tile=128,key_tile=64,stages=4,query_registers=1,turns=0",
        "query_tile=192,key_tile=96,stages=2,query_registers=0,turns=1", "query_tile=128,key_tile=160,stages=3,query_registers=0,turns=0",
        "query_tile=128,key_tile=128,stages=2,query_registers=1,turns=1", "query_tile=64,key_tile=176,stages=2,query_registers=0,turns=0"})
    check_by_tensor_cores("causal", {.types = "bf16", .schedule = "wgmma_online_softmax," + std::string(tiles), .set = depths(64, 48)},
                          {"batch=1,heads=1,queries=1,keys=1", "batch=1,heads=2,queries=37,keys=129", "batch=1,heads=1,queries=193,keys=600"});
  for (const char* tiles : {"query_tile=64,key_tile=16,warp_rows=16,kept_queries=1", "query_tile=64,key_tile=32,warp_rows=32,kept_queries=0",
                            "query_tile=128,key_tile=64,warp_rows=32,kept_queries=1", "query_tile=64,key_tile=64,warp_rows=16,kept_queries=0,resident_blocks=3"})
    for (const char* type : {"bf16", "f32"})
      check_by_tensor_cores("causal", {.target = "cuda", .types = type, .schedule = "mma_online_softmax," + std::string(tiles), .set = depths(64, 48)}, odd);
}

TEST_CASE("a call of tensor cores without elements is right", "[cuda]") {
  load_driver();
  for (const char* type : {"bf16", "f32"}) {
    const KernelCase kernel("scaled_dot_product", {.settings = {"lse=true"}, .target = "cuda", .types = type, .set = depths(64, 64)});
    for (const char* shape : {"queries=5,keys=0", "queries=0,keys=5", "heads=0,queries=5,keys=5"}) CHECK(kernel.difference(shape, 1) == "");
  }
}

}  // namespace attune
