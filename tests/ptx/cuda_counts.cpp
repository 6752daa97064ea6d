/// What kernels for CUDA do, counted while their PTX is interpreted: blocks visited, loads, conflicts of banks, memory that blocks share.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "dsl/graph.h"
#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

/// The schedule's parameters by name, of which the counts follow.
struct Softmax {
  int block_columns = 8, block_rows = 16, thread_rows = 4, thread_keys = 4;
  int queries() const { return block_rows * thread_rows; }
  int keys() const { return block_columns * thread_keys; }
  std::string text() const {
    return "gpu_online_softmax,block_columns=" + std::to_string(block_columns) + ",block_rows=" + std::to_string(block_rows) +
           ",thread_rows=" + std::to_string(thread_rows) + ",thread_keys=" + std::to_string(thread_keys);
  }
};

std::uint64_t of(const ptx::Counts& counts, std::string_view instruction) {
  const auto found = counts.instructions.find(instruction);
  return found == counts.instructions.end() ? 0 : found->second;
}

/// A call that agrees with the interpreter of graphs.
struct Counted {
  Arrays inputs;
  ptx::Counts counts;

  Counted(const std::string& variant, const KernelOptions& options, const std::string& shape) {
    const KernelCase kernel(variant, options);
    CHECK(kernel.difference(shape, 1) == "");
    const Shape extents = fill_shape(kernel.graph(), parse_shape(shape, "shape").extents).extents;
    inputs = random_inputs(kernel.graph(), extents, 1);
    counts = counts_of([&] { kernel.outputs(extents, inputs); });
  }
};

/// Blocks are 64 queries x 32 keys: 4 x 8 of them.
const std::string shape = "batch=1,heads=1,queries=256,keys=256,depth=8";

Counted called(const std::string& variant, const std::vector<std::string>& settings = {}) {
  return Counted(variant, {.settings = settings, .target = "cuda", .schedule = Softmax().text()}, shape);
}

const std::string tiles = Softmax().text();
constexpr const char* wide_load = "ld.global.nc.v2.b64";

Counted called_with_depth(const std::string& depth) {
  const std::string known = "depth=" + depth, values = "value_depth=" + depth;
  return Counted("scaled_dot_product", {.target = "cuda", .schedule = tiles, .set = {known, values}}, "batch=1,heads=1,queries=64,keys=64," + known + "," + values);
}

/// Blocks of queries x keys that a call visits: a thread has a power of 2 for each of its pairs and two for each of its rows in every one of them.
std::uint64_t visited(const ptx::Counts& counts) {
  const Softmax softmax;
  const auto warps = static_cast<std::uint64_t>(softmax.block_columns * softmax.block_rows / 32), rows = static_cast<std::uint64_t>(softmax.thread_rows);
  const std::uint64_t each = warps * (rows * static_cast<std::uint64_t>(softmax.thread_keys) + 2 * rows);
  CHECK(of(counts, "ex2.approx.ftz.f32") % each == 0);
  return of(counts, "ex2.approx.ftz.f32") / each;
}

}  // namespace

TEST_CASE("attention on CUDA waits for nobody in blocks that it leaves out at the ends of a row", "[cuda]") {
  load_driver();
  const auto barriers = [](const Counted& called) { return static_cast<double>(of(called.counts, "bar.sync")) / static_cast<double>(visited(called.counts)); };
  const double whole = barriers(called("scaled_dot_product"));
  CHECK(whole > 1);
  CHECK(barriers(called("causal")) == Approx(whole).epsilon(0.05));
  CHECK(barriers(called("sliding_window", {"window=32"})) == Approx(whole).epsilon(0.1));
}

TEST_CASE("attention on CUDA visits the blocks in which something is visible, and no other", "[cuda]") {
  load_driver();
  CHECK(visited(called("scaled_dot_product").counts) == 32);
  CHECK(visited(called("causal").counts) == 2 + 4 + 6 + 8);
  // Row n of tiles sees keys from 64 n - 31 to 64 n + 63.
  CHECK(visited(called("sliding_window", {"window=32"}).counts) == 2 + 3 + 3 + 3);
  // What is in memory decides, too: each row of tiles sees the keys up to the length.
  const Counted padded = called("padded");
  const double length = padded.inputs.at("lengths").data.at(0);
  CHECK(length < 256);
  CHECK(visited(padded.counts) == 4 * static_cast<std::uint64_t>(std::ceil(length / 32)));
}

TEST_CASE("attention on CUDA keeps what its threads own in registers and shares memory nearly without conflicts", "[cuda]") {
  load_driver();
  for (const int depth : {64, 128}) {
    INFO("depth " << depth);
    const std::string known = "depth=" + std::to_string(depth), both = known + ",value_" + known;
    const ptx::Counts counts = Counted("scaled_dot_product", {.target = "cuda", .schedule = tiles, .set = {known, "value_" + known}}, "batch=1,heads=1,queries=64,keys=64," + both).counts;
    for (const auto& [instruction, count] : counts.instructions) CHECK_THAT(instruction, !Catch::Contains(".local"));
    CHECK(counts.shared_bytes <= 48 << 10);
    CHECK(driver_log().registers_at_most == 255);
    // Two products of 64 x 64 x depth by 32 lanes; what is more is the state's.
    const auto products = static_cast<std::uint64_t>(2 * 64 * 64 * depth / 32), fmas = of(counts, "fma.rn.f32");
    CHECK(fmas >= products);
    CHECK(static_cast<double>(fmas) < 1.02 * static_cast<double>(products));
    // All loads of the products are of 128 bits; conflicts are those of rows' maxima and of weights on their way.
    CHECK(of(counts, "ld.shared.v4.b32") > 14 * of(counts, "ld.shared.b32"));
    CHECK(20 * counts.bank_conflicts < 2 * counts.shared_accesses);
  }
}

TEST_CASE("attention on CUDA loads what lies at multiples of 16 bytes by 128 bits, and the rest as it can", "[cuda]") {
  load_driver();
  const auto counts = [](const std::string& depth) { return called_with_depth(depth).counts; };
  // 64 queries, keys and values of 64 elements, the queries for each of two blocks of keys: a warp loads 128 elements at once.
  CHECK(of(counts("64"), wide_load) == 4 * 64 * 64 / 128);
  CHECK(of(counts("64"), "ld.global.nc.b32") == 0);
  CHECK(of(counts("33"), wide_load) < of(counts("33"), "ld.global.nc.b32"));
}

TEST_CASE("few queries of heads that share keys on CUDA read keys and values once", "[cuda]") {
  load_driver();
  const ptx::Counts counts = Counted("grouped_query", {.target = "cuda", .schedule = "gpu_split_keys", .set = {"depth=64", "value_depth=64"}},
                                     "batch=1,heads=2,group=4,queries=1,keys=512,depth=64,value_depth=64").counts;
  // Beside keys and values of two heads there are queries, for each block of keys, and the states of splits.
  const double sectors = static_cast<double>(counts.global_sectors), once = 2.0 * 2 * 512 * 64 * 4 / 32;
  CHECK(sectors > once);
  CHECK(sectors < 1.2 * once);
}

TEST_CASE("products by FMAs on CUDA keep their sums in registers and load without conflicts", "[cuda]") {
  load_driver();
  const ptx::Counts counts =
      Counted("single_head", {.target = "cuda", .schedule = "gpu_gemm", .set = {"model=64", "depth=64", "value_depth=64"}}, "tokens=64,model=64,depth=64,value_depth=64").counts;
  for (const auto& [instruction, count] : counts.instructions) CHECK_THAT(instruction, !Catch::Contains(".local"));
  CHECK(10 * counts.bank_conflicts < counts.shared_accesses);
}

TEST_CASE("a thread of an elementwise stage on CUDA loads all its elements before it stores the first", "[cuda]") {
  load_driver();
  Graph g;
  const auto [rows, columns] = g.dims("rows", "columns");
  g.output("out", -g.input("x", {rows, columns}), {rows, columns});
  g.finish();
  const KernelCase kernel(g, "negative", {.target = "cuda", .schedule = "gpu_pointwise,thread_rows=8"});
  driver_log().modules.clear();
  for (const char* extents : {"rows=129,columns=37", "rows=1,columns=1", "rows=5,columns=129"}) CHECK(kernel.difference(extents, 1) == "");
  REQUIRE(driver_log().modules.size() == 1);
  int loads = 0, most = 0;
  std::istringstream ptx(driver_log().modules.front());
  for (std::string line; std::getline(ptx, line);) {
    loads = line.find("st.global") != line.npos ? 0 : loads + (line.find("ld.global") != line.npos ? 1 : 0);
    most = std::max(most, loads);
  }
  CHECK(most >= 8);
}

}  // namespace attune
