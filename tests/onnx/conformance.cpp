/// ONNX's node tests: the interpreter gives what ONNX expects of the same node.
#include "tests/dsl/values.h"
#include "tests/onnx/onnx_case.h"

namespace attune {
TEST_CASE("ONNX's node tests of attention and rotary embedding", "[onnx]") {
  const std::vector<std::filesystem::path> folders = onnx_cases();
  REQUIRE(folders.size() == 90);
  for (const std::filesystem::path& folder : folders) {
    const OnnxCase node = read_onnx_case(folder);
    INFO(node.name);
    const OnnxGraph said = node_graph(node);
    const Arrays got = outputs_of(said.graph, said.inputs);
    REQUIRE(got.size() == node.outputs.size());
    for (const auto& [name, expected] : node.outputs) {
      REQUIRE(got.contains(name));
      CHECK(got.at(name).extents == expected.extents);
      CHECK(onnx_difference(node, name, got.at(name).data) == "");
    }
  }
}

}  // namespace attune
