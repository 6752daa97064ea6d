/// A duel: a candidate kernel is checked, then raced against the incumbent in pairs of calls. Runs kernels: call it in a child.
#pragma once

#include <string>
#include <vector>

#include "tools/attune/trial.h"
#include "tools/tune/race.h"

namespace attune {

/// What a kernel is called with. `expected` is the interpreter's; where it is empty the trusted kernel's outputs are right, and the `number` of
/// an allowance is a share of the output's root mean square.
struct DuelCall {
  Shape extents;
  Arrays inputs, expected;
  std::map<std::string, Allowance, std::less<>> allowed;
};

/// A graph's kernel as the candidate, the incumbent and the trusted schedules make it.
struct DuelKernel {
  std::string trusted, incumbent, candidate;  ///< kernel files
  std::string name;                           ///< the kernel's in each
  std::vector<DuelCall> checks, races;        ///< what the candidate must get right, and what is timed
};

struct Duel {
  std::vector<DuelKernel> kernels;  ///< a pair of calls is one of every race of them all
  int threads = 1;      ///< of calls on the CPU
  RaceRules rules;
  std::string device = {};  ///< where calls run, as Kernel::on takes it; empty: on the CPU
};

/// Of a call, medians over the pairs.
struct RaceTimes {
  double incumbent_ms = 0, candidate_ms = 0;
};

/// The geometric mean; of none 0.
RaceTimes mean_of(const std::vector<RaceTimes>& races);

/// The problem: a call that is refused, wrong numbers.
struct DuelAnswer {
  Verdict verdict = Verdict::undecided;
  double ratio = 0;              ///< candidate's over incumbent's time: of a pair the geometric mean over the races, of all pairs the median
  std::vector<RaceTimes> races;  ///< in the order of the kernels and their races; none with a problem
  int pairs = 0;
  std::string problem;
};

/// The duel in a child that may take `limit_s` seconds; its end without an answer is a problem like any other.
DuelAnswer run_duel(const Duel& duel, double limit_s);

}  // namespace attune
