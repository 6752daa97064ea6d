/// ONNX's node tests: the interpreter gives what ONNX expects of the same node.
#include "tests/dsl/values.h"
#include "tests/onnx/onnx_case.h"

namespace attune {
namespace {

/// How many elements differ, and the worst of them in words.
void check_output(const std::string& name, const Array& got, const Array& expected, const OnnxCase& node) {
  REQUIRE(got.extents == expected.extents);
  std::size_t differing = 0, worst = 0;
  double worst_excess = 0;
  for (std::size_t i = 0; i < got.data.size(); ++i) {
    const double a = got.data[i], b = expected.data[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double excess = std::abs(a - b) - (node.absolute + node.relative * std::abs(b));
    if (excess <= 0) continue;
    ++differing;
    if (!(excess <= worst_excess)) worst = i, worst_excess = excess;
  }
  INFO(node.name << ", " << name << ": " << differing << " of " << got.data.size() << " elements differ; worst at " << worst << ": got "
                 << got.data[worst] << ", expected " << expected.data[worst]);
  CHECK(differing == 0);
}

}  // namespace

TEST_CASE("ONNX's node tests of attention and rotary embedding", "[onnx]") {
  const std::vector<std::filesystem::path> folders = onnx_cases();
  REQUIRE(folders.size() == 90);
  for (const std::filesystem::path& folder : folders) {
    const OnnxCase node = read_onnx_case(folder);
    INFO(node.name);
    const OnnxGraph said = node.op == "Attention" ? attention_node(node) : rotary_node(node);
    const Arrays got = outputs_of(said.graph, said.inputs);
    REQUIRE(got.size() == node.outputs.size());
    for (const auto& [name, expected] : node.outputs) {
      REQUIRE(got.contains(name));
      check_output(name, got.at(name), expected, node);
    }
  }
}

}  // namespace attune
