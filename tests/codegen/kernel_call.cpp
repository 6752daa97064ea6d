#include "tests/codegen/kernel_call.h"

#include <algorithm>

namespace attune {
namespace {

/// {"queries=3", "keys=4"} of "queries=3,keys=4"
std::vector<std::string> extents_in(const std::string& shape) {
  std::vector<std::string> extents;
  for (const auto& [dim, extent] : parse_shape(shape, "shape").extents) extents.push_back(dim + "=" + std::to_string(extent));
  return extents;
}

}  // namespace

KernelCall::KernelCall(const Choice& choice)
    : name_(choice.variant + " of " + choice.shape),
      case_(choice.variant, {.settings = choice.settings,
                             .target = choice.target,
                             .types = choice.types,
                             .set = choice.is_of_shape ? extents_in(choice.shape) : std::vector<std::string>()}) {
  draw(choice.shape);
}

KernelCall::KernelCall(const Graph& graph, const std::string& name, const std::string& shape)
    : name_(name + " of " + shape), case_(graph, name) {
  draw(shape);
}

void KernelCall::draw(const std::string& shape) {
  const Shape extents = fill_shape(case_.graph(), parse_shape(shape, "shape").extents).extents;
  kernel_ = &case_.kernel_for(extents);
  trial_ = trial_of(*kernel_, extents, random_inputs(case_.graph(), extents, 3));
  for (StoredArray& array : trial_.arrays) tensors_.push_back(array.tensor());
}

std::string KernelCall::operator()(Workspace* workspace) {
  const Result<void> result = kernel().call(std::span<const Tensor>(tensors_), workspace);
  return result ? std::string() : result.error().message;
}

std::string KernelCall::difference() const {
  const TrialVerdict verdict = trial_.compare_with_interpreter(case_.graph());
  return verdict.agrees ? std::string() : verdict.text + verdict.problem;
}

std::string KernelCall::problem_of_next() {
  trial_.fill_outputs(std::byte{0x7f});
  if (std::string sentence = (*this)(); !sentence.empty()) return sentence;
  if (results_.empty()) {
    for (const std::size_t i : trial_.results) results_.push_back(trial_.arrays[i].bytes);
    return difference();
  }
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (trial_.arrays[trial_.results[i]].bytes != results_[i]) return "gives other bits than before; " + difference();
  return {};
}

const std::vector<KernelCall::Choice>& calls_of_every_kind() {
  static const std::vector<KernelCall::Choice> choices = {
      {"causal", {}, "batch=1,heads=2,queries=3,keys=4,depth=7"},
      {"grouped_query", {}, "batch=2,heads=2,group=3,queries=1,keys=1100,depth=37"},
      {"causal", {}, "batch=2,heads=3,queries=65,keys=129,depth=37"},
      {"causal", {}, "batch=1,heads=2,queries=300,keys=300,depth=64"},
      {"document", {}, "batch=2,heads=2,queries=257,depth=16"},
      {"additive", {}, "batch=2,queries=37,keys=129,depth=5,key_depth=7,hidden=16,value_depth=5"},
      {"multi_head", {"lengths=true", "weights=true"}, "batch=2,tokens=65,heads=2,depth=5,value_depth=16,model=37"},
      {"multi_head", {}, "batch=1,tokens=300,heads=4,depth=32,value_depth=32,model=256"},
      {"causal", {}, "batch=1,heads=2,queries=300,keys=300,depth=64", "bf16"},
  };
  return choices;
}

}  // namespace attune
