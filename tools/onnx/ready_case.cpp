#include "tools/onnx/ready_case.h"

#include <fmt/format.h>

namespace attune {
namespace {

std::string types_of(const OnnxCase& one) {
  std::vector<std::string> types;
  const auto add = [&](const std::string& name, const OnnxElement& element) {
    if (!element.storage.empty()) types.push_back(fmt::format("{}={}", name, element.storage));
  };
  for (const auto& [name, tensor] : one.node.inputs) add(name, *tensor.element);
  for (const auto& [name, element] : one.output_elements) add(name, *element);
  return fmt::format("{}", fmt::join(types, ","));
}

}  // namespace


ReadyCase ready_case(const std::filesystem::path& folder) {
  ReadyCase ready{read_case(folder), {}, {}, {}, {}};
  ready.problem = ready.one.problem;
  if (!ready.problem.empty()) return ready;
  ready.node = node_graph(ready.one.node);
  ready.problem = ready.node.problem;
  if (!ready.problem.empty()) return ready;
  ready.inputs = ready.one.inputs;
  for (const auto& [name, extents] : ready.node.declared) ready.inputs.at(name).extents = extents;
  for (const auto& [name, array] : ready.node.constants) ready.inputs.insert_or_assign(name, array);
  ready.types = types_of(ready.one);
  return ready;
}

}  // namespace attune
