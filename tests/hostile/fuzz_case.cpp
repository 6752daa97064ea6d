/// Conformance cases: each case.json is refused in a sentence, or its node is a graph whose inputs fit.
#include <unistd.h>

#include <filesystem>

#include "tests/folder.h"
#include "tests/hostile/fuzz_sentence.h"
#include "tools/npy.h"
#include "tools/onnx/ready_case.h"

namespace attune {
namespace {

/// A folder with the arrays that the corpus names: those of a case of each shape.
const Folder& case_folder() {
  static const Folder folder;
  static const bool is_filled = [] {
    const auto write = [&](const char* name, std::vector<std::int64_t> extents) {
      std::int64_t count = 1;
      for (const std::int64_t extent : extents) count *= extent;
      return write_npy(folder / name, NpyArray::of<float>(std::move(extents), std::vector<float>(static_cast<std::size_t>(count), 0.5f)));
    };
    return write("heads.npy", {1, 2, 3, 4}) && write("tokens.npy", {1, 3, 8}) && write("mask.npy", {3, 3}) && write("decay.npy", {1, 3, 2});
  }();
  if (!is_filled) std::abort();
  return folder;
}

}  // namespace
}  // namespace attune

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  const Folder& folder = case_folder();
  std::filesystem::remove(folder / "case.json");  // file systems write a file that replaces another to the disk at once
  const auto file = folder.write("case.json", {reinterpret_cast<const char*>(data), size});
  const ReadyCase ready = ready_case(file.parent_path());
  require_sentence(ready.problem);
  if (!ready.problem.empty()) return 0;
  const Bound bound = bind_extents(ready.node.graph, ready.inputs);
  require_sentence(bound.problem);
  return 0;
}
