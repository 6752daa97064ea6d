/// docs/gpu.md holds what ptxas and the interpreter say of the headline kernels' registers and memory; ATTUNE_UPDATE=1 writes it anew.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>

#include "tests/codegen/kernel_case.h"
#include "tests/folder.h"
#include "tests/ptx/driver.h"
#include "tests/skip.h"

namespace attune {
namespace {

/// What a thread and a block of a kernel need, the most of its launches.
struct Needs {
  int registers = 0, spilled_bytes = 0;
  std::size_t shared_bytes = 0;
};

/// The greatest of the numbers before the words, of all entries of a module.
int greatest(const std::string& log, const std::string& number_and_words) {
  const std::regex pattern(number_and_words);
  int most = -1;
  for (std::sregex_iterator found(log.begin(), log.end(), pattern), end; found != end; ++found) most = std::max(most, std::stoi((*found)[1]));
  REQUIRE(most >= 0);
  return most;
}

Needs needs_of(const KernelCase& kernel, const std::string& shape) {
  driver_log().modules.clear();
  Needs needs;
  needs.shared_bytes = counts_of([&] { CHECK(kernel.difference(shape, 1) == ""); }).shared_bytes;
  REQUIRE(!driver_log().modules.empty());
  const Folder folder;
  for (const std::string& module : driver_log().modules) {
    const std::string ptx = folder.write("kernel.ptx", module), log = (folder / "log").string();
    const std::string architecture = module.find(".target sm_90a") != std::string::npos ? "sm_90a" : "sm_90";
    REQUIRE(std::system((ATTUNE_PTXAS " -v -arch=" + architecture + " -o " + ptx + ".cubin " + ptx + " > " + log + " 2>&1").c_str()) == 0);
    const std::string said = contents(log);
    CHECK(said.find("serialized") == std::string::npos);  // products one after the other
    needs.registers = std::max(needs.registers, greatest(said, "Used ([0-9]+) registers"));
    needs.spilled_bytes = std::max(needs.spilled_bytes, greatest(said, "([0-9]+) bytes spill stores"));
    // Arrays that no register holds lie on the stack.
    CHECK(greatest(said, "([0-9]+) bytes stack frame") <= needs.spilled_bytes + 7);
  }
  return needs;
}

/// A row of the page's table.
struct Row {
  const char *kernel, *variant, *schedule;
  const char* types;
  std::vector<std::string> set;
  const char* shape;
  int most_spilled = 0;
};

/// out [rows x columns] = a [rows x over] b [over x columns], in place of a variant.
constexpr const char* product = "product";
KernelCase case_of(const Row& row) {
  // Some kernels of attention are another schedule's unless it is asked for.
  const std::string_view wanted = row.schedule;
  const std::string schedule(wanted.ends_with("online_softmax") || wanted.ends_with("split_keys") ? wanted : "");
  if (row.variant != std::string(product)) return KernelCase(row.variant, {.target = "cuda", .types = row.types, .schedule = schedule, .set = row.set});
  auto& g = *new Graph;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  g.output("out", matmul(g.input("a", {rows, over}), g.input("b", {over, columns}), over), {rows, columns});
  g.finish();
  return KernelCase(g, product, {.target = "cuda", .types = row.types, .schedule = row.schedule});
}

const std::string depth_64 = "depth=64", values_64 = "value_depth=64", depth_128 = "depth=128", values_128 = "value_depth=128";
const Row rows[] = {
    {"attention, depth 64", "scaled_dot_product", "gpu_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"attention, depth 128", "scaled_dot_product", "gpu_online_softmax", "f32", {depth_128, values_128}, "queries=5,keys=37"},
    {"causal, depth 64", "causal", "gpu_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"causal, depth 128", "causal", "gpu_online_softmax", "f32", {depth_128, values_128}, "queries=5,keys=37"},
    {"sliding window, depth 64", "sliding_window", "gpu_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"soft-cap, depth 64", "soft_cap", "gpu_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"ALiBi, depth 64", "alibi", "gpu_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"padded by lengths, depth 64", "padded", "gpu_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"attention, depth not known", "scaled_dot_product", "gpu_online_softmax", "f32", {}, "queries=5,keys=37,depth=9"},
    {"few queries, depth 64", "grouped_query", "gpu_split_keys", "f32", {depth_64, values_64, "queries=1"}, "group=3,keys=70"},
    {"few queries, depth 128", "grouped_query", "gpu_split_keys", "f32", {depth_128, values_128, "queries=1"}, "group=3,keys=70"},
    {"bf16, few queries, depth 64", "grouped_query", "mma_split_keys", "bf16", {depth_64, values_64, "queries=1"}, "group=3,keys=300"},
    {"bf16, few queries, depth 128", "grouped_query", "mma_split_keys", "bf16", {depth_128, values_128, "queries=1"}, "group=3,keys=300"},
    {"f32, few queries, depth 128", "grouped_query", "mma_split_keys", "f32", {depth_128, values_128, "queries=1"}, "group=3,keys=300", 96},
    {"bf16, depth 64", "scaled_dot_product", "mma_online_softmax", "bf16", {depth_64, values_64}, "queries=5,keys=37"},
    {"bf16, depth 128", "scaled_dot_product", "mma_online_softmax", "bf16", {depth_128, values_128}, "queries=5,keys=37"},
    {"bf16, causal, depth 64", "causal", "mma_online_softmax", "bf16", {depth_64, values_64}, "queries=5,keys=37"},
    {"bf16, causal, depth 128", "causal", "mma_online_softmax", "bf16", {depth_128, values_128}, "queries=5,keys=37"},
    {"bf16, depth 64", "scaled_dot_product", "wgmma_online_softmax", "bf16", {depth_64, values_64}, "queries=37,keys=37"},
    {"bf16, depth 128", "scaled_dot_product", "wgmma_online_softmax", "bf16", {depth_128, values_128}, "queries=37,keys=37"},
    {"bf16, causal, depth 64", "causal", "wgmma_online_softmax", "bf16", {depth_64, values_64}, "queries=37,keys=37"},
    {"bf16, causal, depth 128", "causal", "wgmma_online_softmax", "bf16", {depth_128, values_128}, "queries=37,keys=37"},
    {"f32, depth 64", "scaled_dot_product", "mma_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"f32, depth 128", "scaled_dot_product", "mma_online_softmax", "f32", {depth_128, values_128}, "queries=5,keys=37", 24},
    {"f32, causal, depth 64", "causal", "mma_online_softmax", "f32", {depth_64, values_64}, "queries=5,keys=37"},
    {"f32, causal, depth 128", "causal", "mma_online_softmax", "f32", {depth_128, values_128}, "queries=5,keys=37", 24},
    {"products", product, "gpu_gemm", "f32", {}, "rows=8,columns=8,over=8"},
    {"f32 products", product, "mma_gemm", "f32", {}, "rows=8,columns=8,over=8"},
    {"f32 products with bf16", product, "mma_gemm", "f32,b=bf16", {}, "rows=8,columns=8,over=8"},
    {"bf16 products", product, "mma_gemm", "bf16", {}, "rows=8,columns=8,over=8"},
    {"bf16 products, on compute capability 9.0", product, "wgmma_gemm", "bf16", {}, "rows=8,columns=8,over=8"},
};

std::string table() {
  std::string text = "| kernel | schedule | registers of a thread | spilled | memory that a block shares |\n| --- | --- | --- | --- | --- |\n";
  for (const Row& row : rows) {
    INFO(row.kernel);
    const KernelCase kernel = case_of(row);
    const Needs needs = needs_of(kernel, row.shape);
    CHECK(needs.spilled_bytes <= row.most_spilled);
    CHECK(needs.registers <= 255);
    text += std::string("| ") + row.kernel + " | `" + row.schedule + "` | " + std::to_string(needs.registers) + " | " + std::to_string(needs.spilled_bytes) + " bytes | " +
            std::to_string(needs.shared_bytes) + " bytes |\n";
  }
  return text;
}

}  // namespace

TEST_CASE("docs/gpu.md says what ptxas says of the kernels, ATTUNE_UPDATE=1 updates it", "[cuda]") {
  if (!std::filesystem::exists(ATTUNE_PTXAS)) return skip("there is no ptxas: scripts/setup installs it");
  load_driver();
  const std::string file = ATTUNE_SOURCE "/docs/gpu.md", page = contents(file);
  const std::string begin = "<!-- registers: written by tests/ptx/cuda_registers.cpp -->\n", end = "<!-- end of registers -->\n";
  REQUIRE(page.find(begin) != std::string::npos);
  const std::string wanted = page.substr(0, page.find(begin) + begin.size()) + table() + page.substr(page.find(end));
  if (std::getenv("ATTUNE_UPDATE") != nullptr && wanted != page) std::ofstream(file) << wanted;
  CHECK((page == wanted || std::getenv("ATTUNE_UPDATE") != nullptr));
}

}  // namespace attune
