/// What a tuning run is asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace attune {

struct TuneSettings {
  std::string target;
  std::string device;      ///< where calls run, as Kernel::on takes it; empty on the CPU
  int threads = 1;         ///< of the CPU
  double budget_s = 60;    ///< of wall time since `started`
  std::string budget;      ///< as the user says it
  int most_tries = 0;      ///< candidates of each stage; 0 is as many as the budget allows
  std::uint64_t seed = 1;
  std::string state_path;
  std::string inputs = {};  ///< as --in gives them: a state is of them
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
};

}  // namespace attune
