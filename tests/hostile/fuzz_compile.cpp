/// Text of MLIR through the whole compiler: a graph that is accepted becomes a kernel file, or is refused in a sentence.
#include "codegen/files/scratch_folder.h"
#include "tests/hostile/fuzz_sentence.h"
#include "tools/attune/kernel_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  Prepared prepared;
  prepared.graph = graph_from_text({reinterpret_cast<const char*>(data), size}, "input", "function");
  require_sentence(prepared.graph.problem);
  if (!prepared.graph.problem.empty()) return 0;
  prepared.targets = {find_target("x86-64-v3")};
  const ScratchFolder folder;
  const WrittenKernel file = compile_kernel(prepared, {.directory = folder.path().string()});
  require_sentence(file.problem);
  return 0;
}
