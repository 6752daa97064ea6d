#include "codegen/shared_panels.h"

#include <algorithm>

namespace attune {
namespace {

bool is_same(const Halide::Func& a, const Halide::Func& b) {
  const auto names = [](const Halide::Func& f) { return f.function().args(); };
  // Halide names what a definition uses more than once, each time anew.
  const auto value = [](const Halide::Func& f) { return Halide::Internal::substitute_in_all_lets(f.value()); };
  return names(a) == names(b) && Halide::Internal::graph_equal(value(a), value(b));
}

}  // namespace

void SharedPanels::add(const Panel& panel) {
  const auto same = std::ranges::find_if(panels_, [&](const Panel& earlier) { return is_same(earlier.func, panel.func); });
  if (same == panels_.end()) {
    panels_.push_back(panel);
    return;
  }
  same->func.compute_root();
  panel.reader.function().substitute_calls(panel.func.function(), same->func.function());
}

}  // namespace attune
