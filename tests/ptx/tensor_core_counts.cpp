/// What attention by tensor cores does, counted while its PTX is interpreted: blocks visited, and the instructions of a block.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "tests/codegen/kernel_case.h"
#include "tests/ptx/driver.h"

namespace attune {
namespace {

/// The default tiles for this depth: 4 warps of 32 queries up to depth 64, 8 of 16 beyond.
struct MmaTiles {
  int depth;
  int queries = 128, keys = 64;
  std::uint64_t warps() const { return depth > 64 ? 8 : 4; }
  /// Products of 16 x 8 x 16 of a block of queries and keys: as many for the scores as for the sums of values.
  std::uint64_t products() const { return static_cast<std::uint64_t>(2 * queries * keys * depth / (16 * 8 * 16)); }
};

std::uint64_t count(const ptx::Counts& counts, std::string_view begin) {
  std::uint64_t sum = 0;
  for (const auto& [instruction, times] : counts.instructions)
    if (instruction.starts_with(begin)) sum += times;
  return sum;
}

/// What a call does that agrees with the interpreter of graphs.
struct MmaCall {
  Arrays inputs;
  ptx::Counts counts;

  /// Without keys those of the variant follow from queries.
  MmaCall(const std::string& variant, int depth, int queries, int keys, const std::vector<std::string>& settings = {},
          const std::function<void(Arrays&)>& change = {}, const std::string& schedule = "mma_online_softmax") {
    const std::string known = "depth=" + std::to_string(depth),
                      shape = "batch=1,heads=1,queries=" + std::to_string(queries) + (keys > 0 ? ",keys=" + std::to_string(keys) : "");
    const KernelCase kernel(variant, {.settings = settings, .target = "cuda", .types = "bf16", .schedule = schedule, .set = {known, "value_" + known}});
    const Shape extents = fill_shape(kernel.graph(), parse_shape(shape + "," + known + ",value_" + known, "shape").extents).extents;
    inputs = random_inputs(kernel.graph(), extents, 1);
    if (change) change(inputs);
    CHECK(kernel.difference(extents, inputs) == "");
    counts = counts_of([&] { kernel.outputs(extents, inputs); });
  }
};

std::uint64_t blocks_of(const MmaCall& call, const MmaTiles& tiles) {
  const std::uint64_t products = count(call.counts, "mma.sync.");
  CHECK(products % tiles.products() == 0);
  return products / tiles.products();
}

/// What a product of so many rows, columns and contracted elements does, [rows x over] times [columns x over] of bf16.
ptx::Counts product_counts(const KernelCase& kernel, std::int64_t rows, std::int64_t columns, std::int64_t over) {
  const Shape extents{{"rows", rows}, {"columns", columns}, {"over", over}};
  const Arrays inputs = random_inputs(kernel.graph(), extents, 1);
  CHECK(kernel.difference(extents, inputs) == "");
  return counts_of([&] { kernel.outputs(extents, inputs); });
}
KernelCase product_case(const std::string& schedule, const std::string& types = "bf16") {
  load_driver();
  auto& g = *new Graph;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  g.output("out", matmul(g.input("a", {rows, over}), g.input("b", {columns, over}), over), {rows, columns});
  g.finish();
  return KernelCase(g, "product", {.target = "cuda", .types = types, .schedule = schedule});
}

}  // namespace

TEST_CASE("tensor cores visit the blocks in which something is visible, and no other", "[cuda]") {
  load_driver();
  const MmaTiles tiles{64};
  CHECK(blocks_of(MmaCall("scaled_dot_product", 64, 256, 256), tiles) == 8);
  CHECK(blocks_of(MmaCall("causal", 64, 256, 256), tiles) == 2 + 4);
  // The second 128 queries see keys from 128 - 31 on.
  CHECK(blocks_of(MmaCall("sliding_window", 64, 256, 256, {"window=32"}), tiles) == 2 + 3);
  CHECK(blocks_of(MmaCall("causal_offset", 64, 128, 256), tiles) == 4);
  const MmaCall padded("padded", 64, 256, 256);
  const double length = padded.inputs.at("lengths").data.at(0);
  CHECK(length < 256);
  CHECK(blocks_of(padded, tiles) == 2 * static_cast<std::uint64_t>(std::ceil(length / tiles.keys)));
}

TEST_CASE("tensor cores leave out blocks that ids and flags in memory hide", "[cuda]") {
  load_driver();
  const MmaTiles tiles{64};
  // Documents of 96 tokens in 384: 128 queries are of two of them, whose keys are in blocks 0 to 2, 1 to 4 and 3 to 5.
  const auto documents = [](Arrays& inputs) {
    for (std::size_t i = 0; i < inputs.at("ids").data.size(); ++i) inputs.at("ids").data[i] = static_cast<double>(i / 96) - (std::int64_t{1} << 40);
  };
  CHECK(blocks_of(MmaCall("document", 64, 384, 0, {}, documents), tiles) == 3 + 4 + 3);
  CHECK(blocks_of(MmaCall("document", 64, 384, 0, {"causal=true"}, documents), tiles) == 2 + 3 + 3);
  Graph g;
  const Dim queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth", 64), columns = g.dim("columns", 64);
  const Value q = g.input("q", {queries, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, columns}),
              shown = g.input("shown", {keys}, Kind::boolean);
  g.output("out", matmul(softmax(mask(matmul(q, k, depth), shown), keys), v, keys), {queries, columns});
  g.finish();
  const KernelCase kernel(*new Graph(g), "flags", {.target = "cuda", .types = "bf16", .schedule = "mma_online_softmax"});
  const Shape extents{{"queries", 37}, {"keys", 300}, {"depth", 64}, {"columns", 64}};
  Arrays inputs = random_inputs(kernel.graph(), extents, 1);
  for (std::size_t j = 0; j < 300; ++j) inputs.at("shown").data[j] = j == 70 || j > 290 ? 1 : 0;
  CHECK(kernel.difference(extents, inputs) == "");
  CHECK(count(counts_of([&] { kernel.outputs(extents, inputs); }), "mma.sync.") == 2 * tiles.products());
}

TEST_CASE("scores that are far below a soft cap take a polynomial alone, and others two special functions each", "[cuda]") {
  load_driver();
  const auto powers = [](const std::string& variant, const std::vector<std::string>& settings, const std::function<void(Arrays&)>& change = {}) {
    return count(MmaCall(variant, 64, 128, 128, settings, change).counts, "ex2.approx");
  };
  const std::uint64_t dense = powers("scaled_dot_product", {});
  CHECK(powers("soft_cap", {"cap=30"}) == dense);
  // A score of one warp's 32 queries and 64 keys that is greater than 0.55 caps.
  const auto one_far = [](Arrays& inputs) {
    for (std::size_t i = 0; i < 64; ++i) inputs.at("q").data[40 * 64 + i] = inputs.at("k").data[70 * 64 + i] = 3;
  };
  CHECK(powers("soft_cap", {"cap=100"}, one_far) == powers("scaled_dot_product", {}, one_far) + 32 * 64 / 32);
  CHECK(powers("soft_cap", {"cap=0.1"}) == dense + 128 * 128 / 32);
}

TEST_CASE("a block of tensor cores loads each fragment once, takes no bank twice and spills nothing", "[cuda]") {
  load_driver();
  for (const int depth : {64, 128}) {
    CAPTURE(depth);
    const MmaTiles tiles{depth};
    const MmaCall some("scaled_dot_product", depth, 128, 128), more("scaled_dot_product", depth, 128, 192);
    const auto in_block = [&](std::string_view begin) { return count(more.counts, begin) - count(some.counts, begin); };
    CHECK(in_block("mma.sync.") == tiles.products());
    // Four matrices of keys or values are two operands of 16 x 8, for each of a warp's 16 queries: 2 products or 4.
    CHECK(in_block("ldmatrix.") * (depth > 64 ? 2 : 4) == tiles.products());
    CHECK(in_block("ex2.approx.ftz.f32") ==
          tiles.warps() * static_cast<std::uint64_t>(tiles.queries / static_cast<int>(tiles.warps()) * (tiles.keys / 32)) +
              tiles.warps() * (depth > 64 ? 2 : 4));
    CHECK(in_block("cp.async.cg.shared.global") * 32 * 8 == static_cast<std::uint64_t>(2 * tiles.keys * depth));
    CHECK(in_block("bar.sync") == 2 * tiles.warps());
    CHECK(more.counts.bank_conflicts == 0);
    CHECK(more.counts.shared_bytes <= 48 << 10);
    for (const auto& [instruction, times] : more.counts.instructions) CHECK_THAT(instruction, !Catch::Contains(".local"));
  }
}

TEST_CASE("a block of tensor cores of f32 takes three products for one, splits each number once for a warp and takes no bank twice", "[cuda]") {
  load_driver();
  for (const int depth : {64, 128}) {
    CAPTURE(depth);
    const std::string known = "depth=" + std::to_string(depth);
    const KernelCase kernel("scaled_dot_product", {.target = "cuda", .set = {known, "value_" + known}});
    const auto counts_of_keys = [&](int keys) {
      const Shape extents = fill_shape(kernel.graph(), parse_shape("batch=1,heads=1,queries=64,keys=" + std::to_string(keys) + "," + known + ",value_" + known, "shape").extents).extents;
      const Arrays inputs = random_inputs(kernel.graph(), extents, 1);
      return counts_of([&] { kernel.outputs(extents, inputs); });
    };
    const ptx::Counts some = counts_of_keys(128), more = counts_of_keys(160);
    const auto in_blocks = [&](std::string_view begin) { return count(more, begin) - count(some, begin); };
    // 32 keys are one block at depth 64 and two at 128; four warps have 16 queries each.
    const auto warps = std::uint64_t{4}, blocks = static_cast<std::uint64_t>(depth > 64 ? 2 : 1), columns = static_cast<std::uint64_t>(depth);
    CHECK(in_blocks("mma.sync.aligned.m16n8k8.") == warps * 3 * 2 * 32 * columns / 64);
    // Four 8 x 4 words at once: queries for each block, and keys; values by two words a thread.
    CHECK(in_blocks("ldmatrix.") == warps * (blocks * 16 + 32) * columns / 128);
    CHECK(in_blocks("ld.shared.v2.b32") == warps * 32 * columns / 64);
    CHECK(in_blocks("and.b32") >= warps * (blocks * 16 * columns + 2 * 32 * columns + 16 * 32) / 32);
    CHECK(in_blocks("and.b32") < warps * (blocks * 16 * columns + 2 * 32 * columns + 16 * 32) / 32 + warps * blocks * 16);
    CHECK(in_blocks("cp.async.cg.shared.global") * 32 * 4 == 2 * 32 * columns);
    CHECK(in_blocks("bar.sync") == 2 * warps * blocks);
    CHECK(more.bank_conflicts == 0);
    CHECK(more.shared_bytes <= 48 << 10);
    for (const auto& [instruction, times] : more.instructions) CHECK_THAT(instruction, !Catch::Contains(".local"));
  }
}

TEST_CASE("warpgroups visit the blocks that warps visit, whose products read each chunk of shared memory where it was copied", "[cuda]") {
  load_driver();
  for (const char* more : {"stages=2,turns=0", "stages=3,turns=1,query_registers=1"}) {
    CAPTURE(more);
    const std::string schedule = "wgmma_online_softmax,query_tile=128,key_tile=64," + std::string(more);
    const auto call = [&](const std::string& variant, int depth, int queries, int keys, const std::vector<std::string>& settings = {},
                          const std::function<void(Arrays&)>& change = {}) {
      return MmaCall(variant, depth, queries, keys, settings, change, schedule).counts;
    };
    // Each of 8 warps takes part in products of 16 columns of queries and keys, and of 16 keys and all columns of values.
    const auto products_of_block = [](int depth) { return static_cast<std::uint64_t>(8 * (depth / 16 + 64 / 16)); };
    const auto blocks = [&](const ptx::Counts& counts, int depth) {
      CHECK(count(counts, "mma.sync.") == 0);
      CHECK(count(counts, "wgmma.mma_async.") % products_of_block(depth) == 0);
      return count(counts, "wgmma.mma_async.") / products_of_block(depth);
    };
    CHECK(blocks(call("scaled_dot_product", 64, 256, 256), 64) == 8);
    CHECK(blocks(call("causal", 64, 256, 256), 64) == 2 + 4);
    CHECK(blocks(call("sliding_window", 64, 256, 256, {"window=32"}), 64) == 2 + 3);
    const auto documents = [](Arrays& inputs) {
      for (std::size_t i = 0; i < inputs.at("ids").data.size(); ++i) inputs.at("ids").data[i] = static_cast<double>(i / 96) - (std::int64_t{1} << 40);
    };
    CHECK(blocks(call("document", 64, 384, 0, {"causal=true"}, documents), 64) == 2 + 3 + 3);
    for (const int depth : {64, 128}) {
      const ptx::Counts some = call("scaled_dot_product", depth, 128, 256), more_keys = call("scaled_dot_product", depth, 128, 320);
      const auto in_block = [&](std::string_view begin) { return count(more_keys, begin) - count(some, begin); };
      CHECK(in_block("wgmma.mma_async.") == products_of_block(depth));
      CHECK(in_block("ex2.approx.ftz.f32") == 8 * (16 * 64 / 32 + 2));
      CHECK(in_block("cp.async.cg.shared.global") * 32 * 8 == static_cast<std::uint64_t>(2 * 64 * depth));
      CHECK(in_block("bar.sync") == 8);
      CHECK(in_block("ldmatrix.") == 0);
      CHECK(more_keys.bank_conflicts == 0);
      for (const auto& [instruction, times] : more_keys.instructions) CHECK_THAT(instruction, !Catch::Contains(".local"));
    }
  }
}

TEST_CASE("products by tensor cores load each fragment once for all that a warp multiplies it with", "[cuda]") {
  const KernelCase kernel = product_case("mma_gemm");
  const ptx::Counts some = product_counts(kernel, 128, 128, 128), more = product_counts(kernel, 128, 128, 160);
  const auto in_chunk = [&](std::string_view begin) { return count(more, begin) - count(some, begin); };
  // 4 warps of 64 x 64 sums, and 32 contracted elements in two steps: 4 loads of rows and 4 of columns for 32 products each.
  CHECK(in_chunk("mma.sync.") == 4 * 2 * 32);
  CHECK(in_chunk("ldmatrix.") == 4 * 2 * (4 + 4));
  CHECK(in_chunk("cp.async.cg.shared.global") * 32 * 8 == 2 * 128 * 32);
  CHECK(in_chunk("bar.sync") == 4);
  CHECK(more.bank_conflicts == 0);
}

TEST_CASE("products of f32 by tensor cores take three products for one, or two beside 16 bits, and a warp splits each number once", "[cuda]") {
  struct Case {
    const char* types;
    std::uint64_t products, bytes, split;  // of a product; of a chunk of 16 contracted elements: of all rows and columns, and numbers of a warp's
  };
  for (const Case& of : {Case{"f32", 3, 16 * (128 + 64) * 4, 16 * (64 + 32)}, Case{"f32,a=bf16", 2, 16 * (128 * 2 + 64 * 4), 16 * 32}}) {
    CAPTURE(of.types);
    const KernelCase kernel = product_case("mma_gemm,row_tile=128,column_tile=64,warp_rows=64,warp_columns=32", of.types);
    const ptx::Counts some = product_counts(kernel, 128, 64, 128), more = product_counts(kernel, 128, 64, 144);
    const auto in_chunk = [&](std::string_view begin) { return count(more, begin) - count(some, begin); };
    CHECK(in_chunk("mma.sync.aligned.m16n8k8.") == 4 * of.products * 2 * 4 * 4);
    // A chunk is added to the sums once; a low part is what is left of a number.
    CHECK(in_chunk("add.f32") == 4 * 64 * 32 / 32);
    CHECK(in_chunk("sub.f32") == 4 * of.split / 32);
    CHECK(in_chunk("cp.async.cg.shared.global") * 32 * 16 == of.bytes);
    CHECK(in_chunk("bar.sync") == 4);
    CHECK(more.bank_conflicts == 0);
    for (const auto& [instruction, times] : more.instructions) CHECK_THAT(instruction, !Catch::Contains(".local"));
  }
}

TEST_CASE("products by warpgroups load no fragment, and store what lies side by side at once", "[cuda]") {
  const KernelCase kernel = product_case("wgmma_gemm,row_tile=128,column_tile=256,group_rows=64");
  const ptx::Counts some = product_counts(kernel, 128, 256, 128), more = product_counts(kernel, 128, 256, 192);
  const auto in_chunk = [&](std::string_view begin) { return count(more, begin) - count(some, begin); };
  CHECK(in_chunk("wgmma.mma_async.sync.aligned.m64n256k16.") == 8 * 4);  // of 8 warps, 16 contracted elements each
  CHECK(count(more, "ldmatrix.") == 0);
  CHECK(in_chunk("cp.async.cg.shared.global") * 32 * 8 == (128 + 256) * 64);
  CHECK(in_chunk("bar.sync") == 8);
  CHECK(count(more, "st.global") * 32 * 4 == 128 * 256);  // four columns a lane at once
  CHECK(more.bank_conflicts == 0);
}

}  // namespace attune
