/// ONNX's node tests in compiled kernels: they give what ONNX expects of the same node.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <optional>

#include "tests/codegen/kernel_case.h"
#include "tests/folder.h"
#include "tools/attune/mlir_text.h"
#include "tools/onnx/ready_case.h"

namespace attune {
namespace {

/// Kernels of this machine's best target; nodes of equal graphs, extents and storage share one.
class Kernels {
 public:
  const KernelCase& of(const ReadyCase& ready) {
    Prepared prepared;
    prepared.graph.name = "node";
    prepared.graph.graph = ready.node.graph;
    const MlirText module = mlir_text(prepared, false);
    if (!module.problem.empty()) throw std::runtime_error(module.problem);
    const KernelOptions options{.types = ready.types, .set = known_extents(ready.node.graph, ready.inputs)};
    std::string key = ready.types + "\n" + module.text;
    for (const std::string& extent : options.set) key += extent + "\n";
    std::optional<KernelCase>& kernel = kernels_[key];
    if (!kernel) kernel.emplace(folder_.write("node.mlir", module.text), options);
    return *kernel;
  }
  std::size_t count() const { return kernels_.size(); }

 private:
  Folder folder_;
  std::map<std::string, std::optional<KernelCase>> kernels_;
};

/// Why the node has no kernel, or how its outputs differ; empty if they agree.
std::string problem_of(const ReadyCase& ready, Kernels& kernels) {
  try {
    const KernelCase& kernel = kernels.of(ready);
    const auto got = kernel.outputs(kernel.extents_of(ready.inputs), ready.inputs);
    if (got.size() != ready.one.outputs.size()) return "has other outputs";
    std::string problem;
    for (const auto& [name, values] : got) problem += output_difference(ready.one, name, ready.one.outputs.at(name).extents, values).text;
    return problem;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

/// Checks the nodes of the folder whose names begin so. How many there are, and their kernels, are said.
void check_nodes(std::string_view beginning, std::string_view cases = ATTUNE_ONNX_CASES) {
  Kernels kernels;
  std::size_t nodes = 0;
  for (const std::filesystem::path& folder : case_folders(cases)) {
    if (!folder.filename().string().starts_with(beginning)) continue;
    ReadyCase ready = ready_case(folder);
    INFO(ready.one.name);
    REQUIRE(ready.problem == "");
    find_rounding(ready.one, ready.node.graph, ready.inputs);
    CHECK(problem_of(ready, kernels) == "");
    ++nodes;
  }
  CHECK(nodes > 0);
  std::cout << nodes << " nodes, " << kernels.count() << " kernels\n";
}

constexpr std::array<std::string_view, 5> beginnings = {"attention_2", "attention_3d", "attention_4d", "attention_c", "rotary"};

}  // namespace

TEST_CASE("kernels of ONNX's 3-D attention nodes give what ONNX expects", "[onnx]") { check_nodes(beginnings[1]); }

TEST_CASE("kernels of ONNX's 4-D attention nodes give what ONNX expects", "[onnx]") { check_nodes(beginnings[2]); }

TEST_CASE("kernels of ONNX's other attention nodes give what ONNX expects", "[onnx]") {
  check_nodes(beginnings[0]);
  check_nodes(beginnings[3]);
}

TEST_CASE("kernels of ONNX's rotary nodes give what ONNX expects", "[onnx]") { check_nodes(beginnings[4]); }

TEST_CASE("kernels of LinearAttention give what ONNX's reference gave", "[onnx]") { check_nodes("linear", ATTUNE_ONNX_MADE_CASES); }

TEST_CASE("kernels of FlexAttention give what ONNX's reference gave", "[onnx]") { check_nodes("flex", ATTUNE_ONNX_MADE_CASES); }

TEST_CASE("every node of ONNX is tried in a kernel once", "[onnx]") {
  for (const std::filesystem::path& folder : case_folders(ATTUNE_ONNX_CASES)) {
    const std::string name = folder.filename().string();
    CAPTURE(name);
    CHECK(std::ranges::count_if(beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); }) == 1);
    CHECK(read_case(folder).name == name);
  }
}

}  // namespace attune
