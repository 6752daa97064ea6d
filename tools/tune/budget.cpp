#include "tools/tune/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

/// A kernel for calls of one size takes up to three fifths of the time of one for all.
constexpr double one_size = 0.6;
/// Calls of a race with the fewest pairs that a candidate loses and wins with, over the seven of a duel of one pair.
constexpr double lost_race = 2, least_race = 3;
/// A limit is learned from two kernels and up to eight duels of 16 pairs.
constexpr double limit_kernels = 2, limit_races = 8 * 37. / 7;

}  // namespace

double Budget::candidate_s() const {
  const double expected_s = one_size * search_costs_.compile_s + lost_race * search_costs_.duel_s;
  return seen_s_ > 0 ? std::min(seen_s_, expected_s) : expected_s;
}

double Budget::last_race_s() const { return least_race * costs_.duel_s; }

double Budget::limit_s() const { return limit_kernels * costs_.compile_s + limit_races * costs_.duel_s; }

double Budget::least_end_s() const { return end_.tasks * last_race_s() + end_.kernels * one_size * costs_.compile_s; }

void Budget::expect(std::span<const TuneCosts> of_stages, const TuneEnd& end) {
  costs_ = {};
  for (const TuneCosts& costs : of_stages) {
    costs_.compile_s += costs.compile_s / static_cast<double>(of_stages.size());
    costs_.duel_s += costs.duel_s / static_cast<double>(of_stages.size());
  }
  begin_search(costs_);
  end_ = end;
  reserve_s_ = std::max(share_of_end * seconds_, least_end_s());
  // A limit is worth its time if half of what is left stays for the search.
  const double limits_s = end.limits * limit_s(), with_limits_s = least_end_s() + limits_s;
  if (with_limits_s > left_s() / 2) return;
  limits_reserve_s_ = limits_s;
  reserve_s_ = std::max(reserve_s_, with_limits_s);
}

double Budget::end_race_s(int races) const {
  constexpr double part = 0.5;  // the rest is for checks and for what takes longer than was expected
  return std::max(0., part * (left_s() - limits_reserve_s_) / races);
}

double Budget::end_of(double weight, double all_weights) const {
  const double now_s = elapsed_s(), share_s = (search_end_s() - now_s) * weight / all_weights;
  constexpr double slack = 1.1;  // time goes by until the candidate is begun
  return std::min(search_end_s(), now_s + std::max(share_s, slack * candidate_s()));
}

double Budget::end_of_candidate(double end_s) const {
  constexpr double patience = 4;
  return std::min(search_end_s(), std::max(end_s, elapsed_s() + patience * candidate_s()));
}

std::string Budget::problem(const std::string& text) const {
  // The first candidate's opponent is compiled, too.
  const double one_s = candidate_s() + one_size * costs_.compile_s;
  const double needed_s = elapsed_s() + one_s + std::max(least_end_s(), share_of_end / (1 - share_of_end) * (elapsed_s() + one_s));
  if (needed_s <= seconds_) return {};
  constexpr double margin = 1.5;  // for one that can do with it
  return fmt::format("--budget {}: is too short for one candidate: the kernel by the default schedules took {:.1f} s to compile, a candidate with its races takes about {:.1f} s; "
                     "give at least {:.0f}s",
                     text, costs_.compile_s, one_s + least_end_s(), std::ceil(margin * needed_s));
}

}  // namespace attune
