/// The duels of a plan's tasks: compiles the kernels that differ in a task's parameters and races them, each within a limit of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/tune/budget.h"
#include "tools/tune/builder.h"
#include "tools/tune/duel.h"

namespace attune {

class TaskDuels {
 public:
  /// What a run may take for the first kernel, where earlier runs have used the budget up.
  static constexpr double first_compile_limit_s = 600;

  TaskDuels(const TunePlan& plan, const TuneSettings& settings, const Budget& budget)
      : plan_(plan), settings_(settings), budget_(budget), builder_(plan, settings) {}

  /// Writes what kernels are compiled from; the problem in words.
  std::string prepare() { return builder_.prepare(); }

  /// Compiles and calls the kernels of the defaults, which the others are checked against, before `end_s`.
  std::string measure_costs(const Choice& defaults, double end_s);
  /// Of each task then, the sum of what its subjects took.
  std::vector<TuneCosts> costs_of_tasks() const;

  /// A candidate against an incumbent, which differ in task `i`, until `end_s`. A kernel that lost is forgotten.
  DuelAnswer compare(std::size_t i, const Choice& candidate, const Choice& incumbent, double end_s);

  /// What the last race of a task says. Where nothing is better both times of a race are the default's.
  struct Verified {
    bool is_better = false;
    std::vector<RaceTimes> races;
  };
  /// The best of task `i` against its default; `races` are left with this one.
  Verified verify(std::size_t i, const Choice& best, const Choice& by_default, int races);

  /// Up to which extent of their rows calls of the task's size are better off with its schedules than with those for longer ones, all as they are
  /// best: measured at extents 2, 4, 8 ... of all the dims that tell them apart, in calls of the task's first subject. 0: a kernel did not compile.
  std::int64_t learned_limit_of(std::size_t i, const Choice& best);

 private:
  /// The kernels of some subjects that differ in a task's choice, or why they cannot be raced.
  struct Opponents {
    std::vector<DuelKernel> kernels;
    std::string problem;
  };
  Opponents opponents(std::size_t i, const std::vector<std::size_t>& subjects, const Choice& candidate, const Choice& incumbent, double limit_s);
  DuelKernel duel_kernel(std::size_t subject, const std::string& incumbent, const std::string& candidate,
                         const std::vector<std::size_t>& calls) const;
  DuelAnswer duel(std::vector<DuelKernel> kernels, const RaceRules& rules, double limit_s) const;
  double ratio_of_hopeless(std::size_t i, const Choice& candidate, const Choice& incumbent, double end_s, std::string& problem);
  std::string compile_trusted(std::size_t subject, const Choice& defaults, double end_s, TuneCosts& costs);
  std::string about(std::size_t subject) const;
  std::vector<std::size_t> calls_of(std::size_t subject) const;
  double limited(double most_s, double end_s) const;
  double call_s(std::size_t i) const;
  double duel_limit_s(std::size_t i, const RaceRules& rules) const;
  RaceRules rules_of(std::size_t i, int most_pairs, double seconds) const;
  RaceRules rules_of_long_race(std::size_t i, double seconds) const;

  const TunePlan& plan_;
  const TuneSettings& settings_;
  const Budget& budget_;
  Builder builder_;
  std::vector<std::string> trusted_;  // of each subject: the kernel of the defaults
  std::vector<double> call_s_;        // of each call, by the default schedules
  std::vector<TuneCosts> costs_of_subjects_;
  double compile_limit_s_ = 60;
};

}  // namespace attune
