/// What scripts/gpu-check carries to a GPU: the list of its kernels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/attune/options.h"
#include "tools/gpu_check/checks.h"

namespace attune {

/// A call that is measured.
struct Headline {
  std::string shape = {};  ///< as --shape takes it
  Goal goal = {};
  bool is_by_blocks = false;               ///< the goal is for a call that visits all blocks: it grows by what is left out
  double flops_of_element = 0;             ///< of the output, of a kernel without products
  std::vector<std::string> bytes_of = {};  ///< which tensors' bytes count; without any all
};

struct KernelSpec {
  std::string name;
  Options options;
  std::optional<LoadedGraph> graph;  ///< instead of that of the options
  std::optional<Headline> headline;
  std::map<std::string, double, std::less<>> deviations = {};  ///< of the inputs whose values are compared, if not those of random_inputs
  bool may_be_refused = false;                                 ///< not every target has the type

  std::string goal_of() const { return headline ? headline->goal.of : std::string(); }
};

/// For a device's target: the peaks, the headline kernels, which know their depth, and all variants; where calls copy tensors the last alone.
std::vector<KernelSpec> packed_kernels(const std::string& target);

}  // namespace attune
