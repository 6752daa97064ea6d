#include "tools/onnx/ready_case.h"

namespace attune {

ReadyCase ready_case(const std::filesystem::path& folder) {
  ReadyCase ready{read_case(folder), {}, {}, {}};
  ready.problem = ready.one.problem;
  if (!ready.problem.empty()) return ready;
  ready.node = node_graph(ready.one.node);
  ready.problem = ready.node.problem;
  if (!ready.problem.empty()) return ready;
  ready.inputs = ready.one.inputs;
  for (const auto& [name, extents] : ready.node.declared) ready.inputs.at(name).extents = extents;
  for (const auto& [name, array] : ready.node.constants) ready.inputs.insert_or_assign(name, array);
  return ready;
}

}  // namespace attune
