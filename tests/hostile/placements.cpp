#include "tests/hostile/placements.h"

#include <algorithm>

#include "runtime/words.h"

namespace attune {
namespace {

constexpr std::byte fills[] = {std::byte{0xff}, std::byte{0x3c}};  // in f32 NaN and 0.0115

/// The calls of one set of inputs, all against the first.
class Calls {
 public:
  Calls(const Kernel& kernel, const std::string& what, Trial trial) : kernel_(kernel), what_(what), trial_(std::move(trial)) {}

  /// False if something was wrong, or has been.
  bool call(const How& how) {
    if (!found.problem.empty()) return false;
    const std::string said = words(what_, ": ", text_of(how));
    say_before_faults(said);
    GuardedOutputs outputs = call_guarded(kernel_, trial_, how);
    ++found.count;
    if (!outputs.problem.empty())
      found.problem = words(said, ": ", outputs.problem);
    else if (!first_.empty() && !are_same(outputs.arrays, first_))
      found.problem = words(said, ": ", difference(outputs.arrays));
    if (first_.empty()) first_ = std::move(outputs.arrays);
    return found.problem.empty();
  }

  void compare(const Graph& graph) {
    for (std::size_t i = 0; i < first_.size(); ++i) trial_.arrays[trial_.results[i]] = first_[i];
    const TrialVerdict verdict = trial_.compare_with_interpreter(graph);
    if (found.problem.empty() && !verdict.agrees) found.problem = words(what_, ": ", verdict.problem, verdict.text);
  }

  Found found;

 private:
  std::string difference(const std::vector<StoredArray>& outputs) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto [a, b] = std::ranges::mismatch(outputs[i].bytes, first_[i].bytes);
      if (a == outputs[i].bytes.end()) continue;
      const auto element = static_cast<std::size_t>((a - outputs[i].bytes.begin()) / bytes_of(outputs[i].storage));
      return words("output ", i, " differs from that of the first call at element ", element, " of ", outputs[i].size(), ": ",
                   std::to_string(numbers(outputs[i])[element]), " and ", std::to_string(numbers(first_[i])[element]));
    }
    return "has other outputs";
  }

  const Kernel& kernel_;
  std::string what_;
  Trial trial_;
  std::vector<StoredArray> first_;
};

/// The same inputs with every element that of its outermost index 0.
Arrays spread(Arrays inputs) {
  for (auto& [name, array] : inputs) {
    if (array.extents.size() < 2 || array.data.empty()) continue;
    const std::size_t inner = array.data.size() / static_cast<std::size_t>(array.extents[0]);
    for (std::size_t i = inner; i < array.data.size(); ++i) array.data[i] = array.data[i - inner];
  }
  return inputs;
}

/// With exactly as much memory as measuring says, at either end of a page.
void call_with_workspaces(Calls& calls) {
  Workspace measuring;
  if (!calls.call({.workspace = &measuring})) return;
  for (const Flush flush : {Flush::first, Flush::last}) {
    GuardedMemory memory("workspace", measuring.peak_bytes(), flush);
    std::ranges::fill(memory.room(), fills[0]);
    Workspace workspace(std::span(memory.data(), memory.bytes()));
    calls.call({.flush = flush, .workspace = &workspace});
  }
}

}  // namespace

Found call_in_every_placement(const Kernel& kernel, const Graph* graph, const Shape& extents, const Arrays& inputs,
                              const ScratchSwitch& scratch) {
  std::string what = words("kernel '", kernel.name(), "'");
  for (const auto& [dim, extent] : extents) what += words(what.back() == '\'' ? ", " : " ", dim, "=", extent);
  Calls calls(kernel, what, trial_of(kernel, extents, inputs));
  for (const Layout layout : every_order)
    for (const Flush flush : {Flush::last, Flush::first})
      for (const std::byte fill : fills) calls.call({layout, flush, fill});
  for (const int threads : {2, 3, 7}) calls.call({Layout::padded, Flush::last, fills[1], threads});
  scratch.unguard();
  call_with_workspaces(calls);
  scratch.guard();
  if (graph != nullptr) calls.compare(*graph);

  Calls spreads(kernel, what + ", spread", trial_of(kernel, extents, spread(inputs)));
  for (const Layout layout : {Layout::contiguous, Layout::broadcast})
    for (const Flush flush : {Flush::last, Flush::first}) spreads.call({.layout = layout, .flush = flush});
  if (graph != nullptr) spreads.compare(*graph);
  return {calls.found.count + spreads.found.count, calls.found.problem.empty() ? spreads.found.problem : calls.found.problem};
}

}  // namespace attune
