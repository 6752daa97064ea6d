/// ONNX models: every file is refused in a sentence, and each of its nodes is, or becomes a graph that the language takes.
#include "codegen/dialect/import.h"
#include "tests/hostile/fuzz_file.h"
#include "tests/hostile/fuzz_sentence.h"
#include "tools/onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  const FuzzFile file(data, size);
  const ModelAnswer answer = read_model(file.path());
  require_sentence(answer.problem);
  if (!answer.problem.empty()) return 0;
  for (const OnnxOperation& operation : answer.model.graph.operations) {
    if (operation.outputs.empty()) continue;
    const Imported imported = import_node(answer.model, {operation.outputs[0], {}, {{"batch", 2}, {"sequence", 3}}});
    require_sentence(imported.problem);
    if (imported.problem.empty() && !problem_of(imported.node.graph).empty()) std::abort();
  }
  return 0;
}
