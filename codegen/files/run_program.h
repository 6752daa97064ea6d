/// Runs another program, a linker or a compiler, to its end.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace attune {

/// How a program ended. `output` is what it said on both of its outputs, read through a pipe: a full disk is a reason that a file could not
/// hold.
struct ProgramEnd {
  bool is_found = true;     ///< the PATH has a program of the name
  bool is_success = false;  ///< it ended with status 0
  bool is_late = false;     ///< it was ended, with all that it started, because its time was over
  std::string output;
  /// Why it is no success: the first line that it said, or how it ended.
  std::string reason;
};
/// `environment`: "NAME=VALUE" each, added to this process's own.
ProgramEnd run_program(const std::string& program, const std::vector<std::string>& arguments, std::optional<std::chrono::seconds> longest = {},
                       const std::vector<std::string>& environment = {});

}  // namespace attune
