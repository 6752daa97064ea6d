#include "tools/tune/budget.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>

namespace attune {
namespace {

/// A run by a clock of its own: every step takes `slowness` times what is expected of it.
struct Run {
  double now_s = 0;
  int tried = 0;
  std::string problem;

  /// The first stage has `dearness` times the costs of each of the others.
  Run(double seconds, const TuneCosts& costs, const std::vector<double>& weights, double slowness = 1, double dearness = 1) {
    Budget budget(seconds, [this] { return now_s; });
    const int tasks = static_cast<int>(weights.size());
    std::vector<TuneCosts> of_stages(weights.size(), costs);
    of_stages[0] = {dearness * costs.compile_s, dearness * costs.duel_s};
    now_s += 1 + of_stages[0].compile_s + of_stages[0].duel_s;
    budget.expect(of_stages, {tasks, tasks > 1 ? tasks : 0, 1});
    problem = budget.problem("a while");
    if (!problem.empty()) return;
    bool is_first = true;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      budget.begin_search(of_stages[i]);
      double all = 0;
      for (std::size_t j = i; j < weights.size(); ++j) all += weights[j];
      const double end_s = budget.end_of(weights[i], all);
      CHECK(end_s <= budget.search_end_s());
      const int tried_before = tried;
      const double begin_s = now_s;
      now_s += 1e-3;  // what a search does before its first candidate
      while (now_s + budget.candidate_s() <= end_s) {
        now_s = std::min(budget.end_of_candidate(end_s), now_s + slowness * (budget.candidate_s() + (is_first ? 0.6 * of_stages[i].compile_s : 0)));
        is_first = false;
        tried += 1;
      }
      CHECK((tried > tried_before || begin_s + 1.1 * budget.candidate_s() > budget.search_end_s()));
    }
    for (int races = tasks; races > 0; --races)
      now_s += std::min(std::max(budget.last_race_s(), budget.end_race_s(races)), std::max(budget.left_s(), 2 * budget.last_race_s()));
    if (budget.has_limit_time()) now_s += budget.limit_s();
  }
};

const std::vector<std::vector<double>> stages = {{4}, {4, 2, 2, 1}, {1, 1, 1, 1, 1, 1, 1, 1}};

}  // namespace

TEST_CASE("a run tries something and ends in time, or says before that it cannot", "[tuning]") {
  int refused = 0, run = 0;
  for (const double compile_s : {0.5, 2., 20.})
    for (const double duel_s : {0.05, 0.5, 10.})
      for (const std::vector<double>& weights : stages)
        for (double seconds = 1; seconds < 4000; seconds *= 1.3) {
          const Run one(seconds, {compile_s, duel_s}, weights);
          INFO("budget " << seconds << ", compile " << compile_s << ", duel " << duel_s << ", stages " << weights.size());
          one.problem.empty() ? ++run : ++refused;
          if (!one.problem.empty()) {
            CHECK(one.problem.find("--budget a while: is too short for one candidate: the kernel by the default schedules took ") == 0);
            continue;
          }
          CHECK(one.tried > 0);
          CHECK(one.now_s <= 1.1 * seconds);
          CHECK(Run(seconds, {compile_s, duel_s}, weights, 4).now_s <= 1.1 * seconds);  // candidates that take longer are ended
          const Run dear(seconds, {compile_s, duel_s}, weights, 1, 8);
          if (dear.problem.empty()) CHECK(dear.now_s <= 1.1 * seconds);
        }
  CHECK(run > 100);
  CHECK(refused > 100);
}

TEST_CASE("the budget that a refusal asks for is enough, and not far too much", "[tuning]") {
  for (const double compile_s : {0.5, 2., 20.})
    for (const std::vector<double>& weights : stages) {
      const TuneCosts costs{compile_s, 0.3};
      const std::string problem = Run(1, costs, weights).problem;
      const std::size_t at = problem.rfind("at least ");
      REQUIRE(at != std::string::npos);
      const double asked_s = std::stod(problem.substr(at + 9));
      INFO(problem);
      CHECK(Run(asked_s, costs, weights).tried > 0);
      CHECK_FALSE(Run(asked_s / 2, costs, weights).problem.empty());
    }
}

TEST_CASE("a stage has its share of the search, and one candidate at least while there is time", "[tuning]") {
  double now_s = 10;
  Budget budget(110, [&] { return now_s; });
  const TuneCosts cheap{0.5, 0.05}, dear{1.5, 0.15};
  budget.expect(std::array{cheap, dear}, {2, 0, 0});
  CHECK(budget.search_end_s() == Approx(99));
  CHECK(budget.end_of(3, 4) == Approx(10 + 89. * 3 / 4));
  CHECK(budget.end_of(1, 1e6) == Approx(10 + 1.1 * budget.candidate_s()));
  CHECK(budget.end_of_candidate(budget.end_of(1, 1e6)) == Approx(10 + 4 * budget.candidate_s()));  // one that is slow is finished
  CHECK(budget.end_of_candidate(80) == 80);
  const double expected_s = budget.candidate_s();
  budget.saw_candidate(expected_s / 4);
  CHECK(budget.candidate_s() == expected_s / 4);
  budget.saw_candidate(expected_s * 4);  // a slow one does not keep others from being tried
  CHECK(budget.candidate_s() == expected_s);
  budget.saw_candidate(expected_s / 4);
  budget.begin_search(budget.costs());
  CHECK(budget.candidate_s() == expected_s);
  budget.begin_search(dear);  // a stage whose candidates take longer than others' has their time
  CHECK(budget.candidate_s() == Approx(1.5 * expected_s));
  CHECK(budget.end_of(1, 1e6) == Approx(10 + 1.1 * 1.5 * expected_s));
  now_s = 98;
  CHECK(budget.end_of(1, 1) == Approx(99));
  CHECK(budget.end_of_candidate(99) == Approx(99));
  now_s = 200;
  CHECK(budget.end_of(1, 1) < now_s);
  CHECK(budget.end_race_s(1) == 0);
}

}  // namespace attune
