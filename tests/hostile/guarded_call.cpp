#include "tests/hostile/guarded_call.h"

#include <algorithm>

#include "runtime/threads.h"
#include "runtime/words.h"

namespace attune {

std::string text_of(const How& how) {
  return words(name_of(how.layout), ", ", name_of(how.flush), ", memory filled with ", static_cast<int>(how.fill), ", ", how.threads,
               " threads", how.workspace != nullptr ? ", with a workspace" : "");
}

GuardedOutputs call_guarded(const Kernel& kernel, const Trial& trial, const How& how) {
  std::vector<PlacedArray> placed;
  placed.reserve(trial.arrays.size());
  for (std::size_t i = 0; i < trial.arrays.size(); ++i) {
    const attune_role role = static_cast<attune_role>(kernel.manifest().tensors[i].role);
    const StoredArray& array = trial.arrays[i];
    const std::string name = words(role == attune_output ? "output '" : "input '", kernel.manifest().tensors[i].name, "'");
    if (role == attune_input) {
      placed.emplace_back(name, array, how.layout, how.flush, how.fill).make_read_only();
    } else {
      StoredArray before = array;
      if (role == attune_output) std::ranges::fill(before.bytes, how.fill);
      placed.emplace_back(name, before, how.layout == Layout::broadcast ? Layout::contiguous : how.layout, how.flush, how.fill);
    }
  }
  std::vector<Tensor> tensors;
  for (const PlacedArray& array : placed) tensors.push_back(array.tensor());
  plan_scratch({how.flush, how.fill});
  GuardedOutputs outputs;
  if (const Result<void> set = set_num_threads(how.threads); !set) return {{}, set.error().message};
  if (const Result<void> called = kernel.call(std::span<const Tensor>(tensors), how.workspace); !called)
    return {{}, called.error().message};
  for (const std::size_t i : trial.results) {
    outputs.arrays.push_back(placed[i].elements());
    if (outputs.problem.empty()) outputs.problem = placed[i].gap_problem();
  }
  if (outputs.problem.empty()) outputs.problem = scratch_problem();
  return outputs;
}

bool are_same(const std::vector<StoredArray>& a, const std::vector<StoredArray>& b) {
  return std::ranges::equal(a, b, {}, &StoredArray::bytes, &StoredArray::bytes);
}

}  // namespace attune
