/// The table of targets: what a kernel can be compiled for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/targets/machine.h"

namespace attune {

struct TargetInfo {
  std::string_view name;
  std::string_view halide;       ///< as Halide spells it, without a runtime
  std::string_view triple;       ///< as LLVM spells it, for the object that holds the manifest
  std::string_view features;     ///< what the CPU must have, in GCC's spelling
  std::string_view cpus;         ///< the kinds whose defaults it has, as runtime/cpu.h names them; none in particular if empty
  std::string_view linker;       ///< merges the objects of this architecture
  Device device = Device::cpu;
  int vector_bytes = 16, registers = 16;
  bool has_bf16_dot = false;
  std::string_view note;         ///< what `attune list targets` prints
  bool has_bf16_tiles = false;
};

/// Every target; of one architecture the best first, as far as features go.
std::span<const TargetInfo> targets();

/// Whether this machine's CPU has the target's features; false for devices, of which only their drivers know.
bool runs_here(const TargetInfo& target);

/// Whether a file with code for the target can be opened on this machine, where not all of it may run: it is of the same architecture.
bool opens_here(const TargetInfo& target);

/// Whether the row has the defaults of this machine's CPU; of those that it can run such a row is the best.
bool is_tuned_for_this_cpu(const TargetInfo& target);

/// What the row needs that this machine's CPU does not have, in GCC's spelling; empty for devices, of which only their drivers know.
std::string lacking_features(const TargetInfo& target);

/// Of the rows, best first, the one whose code this machine runs, as the runtime chooses: one that has its CPU's defaults, or the first that it can
/// run; null if it can run none.
const TargetInfo* best_here(std::span<const TargetInfo* const> rows);

/// The row of the name, or null. `host` is the best of all for this machine.
const TargetInfo* find_target(std::string_view name);

/// The names of all targets, for messages.
std::string target_names();

Machine machine_of(const TargetInfo& target);

}  // namespace attune
