/// ONNX's node tests in compiled kernels: they give what ONNX expects of the same node.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <optional>

#include "tests/codegen/kernel_case.h"
#include "tests/folder.h"
#include "tests/onnx/onnx_case.h"
#include "tools/attune/mlir_text.h"

namespace attune {
namespace {

/// Kernels of this machine's best target; nodes of equal graphs, extents and storage share one.
class Kernels {
 public:
  const KernelCase& of(const OnnxGraph& said, const std::string& storage) {
    Prepared prepared;
    prepared.graph.name = "node";
    prepared.graph.graph = said.graph;
    const MlirText module = mlir_text(prepared, false);
    if (!module.problem.empty()) throw std::runtime_error(module.problem);
    const KernelOptions options{.types = storage, .set = known_extents(said.graph, said.inputs)};
    std::string key = storage + "\n" + module.text;
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
std::string problem_of(const OnnxCase& node, Kernels& kernels) {
  const OnnxGraph said = node_graph(node);
  try {
    const KernelCase& kernel = kernels.of(said, node.storage);
    const auto got = kernel.outputs(kernel.extents_of(said.inputs), said.inputs);
    if (got.size() != node.outputs.size()) return "has other outputs";
    std::string problem;
    for (const auto& [name, values] : got) problem += onnx_difference(node, name, values);
    return problem;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

/// Checks the nodes whose names begin so. How many there are, and their kernels, are said.
void check_nodes(std::string_view beginning) {
  Kernels kernels;
  std::size_t nodes = 0;
  for (const std::filesystem::path& folder : onnx_cases()) {
    if (!folder.filename().string().starts_with(beginning)) continue;
    const OnnxCase node = read_onnx_case(folder);
    INFO(node.name);
    CHECK(problem_of(node, kernels) == "");
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

TEST_CASE("every node of ONNX is tried in a kernel once", "[onnx]") {
  for (const std::filesystem::path& folder : onnx_cases()) {
    const std::string name = folder.filename().string();
    CAPTURE(name);
    CHECK(std::ranges::count_if(beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); }) == 1);
    CHECK(read_onnx_case(folder).name == name);
  }
}

}  // namespace attune
