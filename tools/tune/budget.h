/// The wall time that a tuning run may take, and what it is for: a run that cannot try anything says so before it tries, one that can ends in time.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace attune {

/// What the steps of a stage take together, of all graphs that it is measured with, in seconds, as the kernels by the default schedules took them.
struct TuneCosts {
  double compile_s = 0;  ///< a kernel for calls of all sizes
  double duel_s = 0;     ///< a duel of one pair: seven calls of each shape and a process
};

/// What there is to do at the end of a run.
struct TuneEnd {
  int tasks = 1;        ///< each is raced once more against the default
  int kernels = 0;      ///< that have to be compiled for that
  int limits = 0;       ///< sizes of calls whose limit is learned
};

class Budget {
 public:
  /// Of the budget, for the end of the run if that needs no more.
  static constexpr double share_of_end = 0.1;

  /// `elapsed_s()` counts from when the user gave the command, with what earlier runs of the same state took.
  Budget(double seconds, std::function<double()> elapsed_s) : seconds_(seconds), elapsed_s_(std::move(elapsed_s)) {}

  double elapsed_s() const { return elapsed_s_(); }
  double left_s() const { return seconds_ - elapsed_s(); }

  /// From now on the rest is kept for the end of the run, and expectations are made of the costs of the stages: of one as of their mean.
  void expect(std::span<const TuneCosts> of_stages, const TuneEnd& end);
  const TuneCosts& costs() const { return costs_; }

  /// From now on candidates are those of a stage of these costs. Stages differ by ten times: one may be measured with several graphs.
  void begin_search(const TuneCosts& costs) { search_costs_ = costs, seen_s_ = 0; }
  /// From now on a candidate is expected to take so long, if that is less than the default kernel lets expect.
  void saw_candidate(double seconds) { seen_s_ = seconds; }
  /// What compiling a candidate and a race that it loses take; the shortest race that can be won.
  double candidate_s() const;
  double last_race_s() const;
  /// When no candidate is tried any more.
  double search_end_s() const { return seconds_ - reserve_s_; }
  /// When a stage of the weight, of all that are left, has had its share of the search: at least what one candidate takes, begun soon.
  double end_of(double weight, double all_weights) const;
  /// When a candidate that is begun now is ended, of a stage whose share ends at `end_s`: one that takes longer than expected, as on a machine that
  /// got busy, is finished at the cost of the stages behind it, for what it has cost would be lost.
  double end_of_candidate(double end_s) const;
  /// What each of so many races at the end may take, with their kernels.
  double end_race_s(int races) const;
  /// What learning the limit of one size of calls takes, and whether there is time for it.
  double limit_s() const;
  bool has_limit_time() const { return left_s() >= limit_s(); }

  /// Why nothing can be tried, as a sentence; empty if something can.
  std::string problem(const std::string& text) const;

 private:
  double least_end_s() const;

  double seconds_;
  std::function<double()> elapsed_s_;
  TuneCosts costs_, search_costs_;
  TuneEnd end_;
  double reserve_s_ = 0, limits_reserve_s_ = 0, seen_s_ = 0;
};

}  // namespace attune
