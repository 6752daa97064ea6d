/// Runs a program under a limit of file sizes, and to a certain moment only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace attune {

struct LimitedEnd {
  int status = -1;   ///< 128 and the signal's number if one ended it
  std::string said;  ///< on both outputs, which are pipes: no limit counts for them
};

/// `largest_file` in bytes: a write behind it fails, as on a full disk but with "File too large".
LimitedEnd run_limited(const std::vector<std::string>& words, std::size_t largest_file);

/// Starts the program, with its outputs nowhere.
pid_t start_program(const std::vector<std::string>& words);
/// Waits for its end; the status as in LimitedEnd.
int end_of(pid_t program);

}  // namespace attune
