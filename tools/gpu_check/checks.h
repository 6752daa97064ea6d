/// What a folder of scripts/gpu-check holds: compiled kernels, calls whose results are known, and calls to be measured, listed in
/// checks.json.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"
#include "tools/measure/allowance.h"

namespace attune {

inline constexpr std::string_view checks_file = "checks.json";

struct PackedTensor {
  std::string name;
  attune_storage storage = attune_f32;
  std::vector<std::int64_t> extents;
  std::string values = {};    ///< a file of the folder: an input's as stored; empty of an output, and in a call that is measured
  std::string expected = {};  ///< of what the call writes: doubles of the interpreter
  Allowance allowed = {};     ///< of these
};

/// Tensors in the order of the call, inputs first.
struct PackedCall {
  std::vector<PackedTensor> tensors;
  std::size_t input_count = 0;
};

/// At least `least` times what `of` names: "fma" and "copy", the measured peaks in FLOP/s and bytes/s, "gflops", so many 1e9 FLOP/s, or
/// another kernel, by how often it can be called in the time. Empty: none.
struct Goal {
  std::string of = {};
  double least = 0;
};

/// A call to be measured, its FLOPs of visible pairs and its bytes.
struct PackedRow {
  PackedCall call;
  double flops = 0, bytes = 0;
  Goal goal;
};

struct PackedKernel {
  std::string name;  ///< in its file, which is NAME.so
  std::string variant, parameters, type;
  std::vector<PackedCall> checks;
  std::optional<PackedRow> full, quick;  ///< of shapes to be reported, and of small ones; both or none

  std::string file() const { return name + ".so"; }
  std::string goal_of() const { return full ? full->goal.of : std::string(); }
};

struct Checks {
  std::string target;
  std::vector<PackedKernel> kernels;  ///< the peaks come first, and a kernel that a goal names before who has the goal
  std::vector<std::string> left_out;  ///< what the target refuses, in sentences
};

/// The names of kernels with those that their goals name, and so on; `kernels` have a `name` and a `goal_of()` each and stand as those of
/// Checks do.
template <class Kernels>
std::set<std::string> with_compared(std::set<std::string> names, const Kernels& kernels) {
  for (auto kernel = kernels.rbegin(); kernel != kernels.rend(); ++kernel)
    if (names.contains(kernel->name)) names.insert(kernel->goal_of());
  return names;
}

/// As checks.json has it.
std::string text_of(const Checks& checks);

/// Those of the folder. Refuses a folder without them, and what is no list of checks.
Result<Checks> read_checks(const std::filesystem::path& folder);

}  // namespace attune
