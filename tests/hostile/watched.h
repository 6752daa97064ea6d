/// watched(body): what a trial finds, run in a process of its own, so that a crash or a hang is a sentence too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace attune {

/// How often something was tried, and the first thing that was wrong; empty if nothing was.
struct Found {
  std::int64_t count = 0;
  std::string problem;
};

/// Runs `body` in a child process and gives what it found. A fault is told as report_faults() tells it; another signal, a status that is
/// not 0, an exception and more than `limit_s` seconds are problems too. Only while this process has one thread: a child has no others.
Found watched(const std::function<Found()>& body, int limit_s = 600);

/// Writes "trials: 7056 calls of causal" to the standard output, where docs/reliability.md has its counts from.
void tell(const std::string& trials, std::int64_t count);

}  // namespace attune
