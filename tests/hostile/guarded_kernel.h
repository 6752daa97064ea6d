/// GuardedKernel: a kernel that is compiled for a trial, with its scratch memory between guard pages.
#pragma once

#include <string>
#include <vector>

#include "tests/hostile/placements.h"
#include "tests/hostile/watched.h"
#include "tools/attune/options.h"

namespace attune {

/// What is compiled, as on the command line.
struct GuardedChoice {
  std::string variant;
  std::vector<std::string> settings = {};
  std::string target = "host", types = "f32";
};

class GuardedKernel {
 public:
  /// Throws std::runtime_error with the sentence if it cannot be compiled or opened.
  explicit GuardedKernel(const GuardedChoice& choice);
  GuardedKernel(const GuardedKernel&) = delete;
  ~GuardedKernel();

  /// Calls it in every placement with random inputs of each shape ("queries=5,keys=37"), of which it takes the dims that it has,
  /// in a process of its own.
  Found call(const std::vector<std::string>& shapes) const;

 private:
  Found call_with(const std::string& shape, std::uint64_t seed) const;

  std::string name_;
  Prepared prepared_;
  void* handle_ = nullptr;
  const attune_library_v1* table_ = nullptr;
};

}  // namespace attune
