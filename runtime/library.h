/// Library: an open kernel file.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/result.h"

namespace attune {

/// A handle, cheap to copy; the file stays open as long as a handle or one of its kernels lives.
class Library {
 public:
  /// Opens a file that `attune compile --shared` wrote, after checking it: nothing of a truncated, damaged, foreign or newer file runs.
  /// What is checked is a copy in sealed memory, and that is what runs: whatever happens to the file afterwards does no harm. A file that
  /// is open already is shared; if it was replaced meanwhile, it is refused. An open file takes a descriptor and, once for the
  /// process, its size in memory. The system has to have memfd_create and /proc.
  static Result<Library> open(const std::filesystem::path& path);

  /// Refuses an unknown name, and a kernel that has no code for this machine.
  Result<Kernel> kernel(std::string_view name) const;

  /// All of them, also those that cannot run here.
  std::span<const Kernel> kernels() const;

 private:
  struct State;
  explicit Library(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace attune
