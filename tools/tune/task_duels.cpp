#include "tools/tune/task_duels.h"

#include <algorithm>

#include "tools/tune/child.h"
#include "tools/tune/limit.h"

namespace attune {
namespace {

/// A kernel takes a second or two to compile, much longer on a machine that is busy. A schedule that takes several times as long as the default's
/// is one that nobody wants.
constexpr double compile_limit_ratio = 5;
/// What is killed when time is up gets this much at least: a process does not start in no time.
constexpr double least_limit_s = 0.5;

}  // namespace

/// For a step that may take `most_s` where nothing ends it, up to the time `end_s` of the run.
double TaskDuels::limited(double most_s, double end_s) const { return std::min(most_s, std::max(end_s - budget_.elapsed_s(), least_limit_s)); }

std::string TaskDuels::measure_costs(const Choice& defaults, double end_s) {
  for (std::size_t i = 0; i < plan_.subjects.size() && !is_interrupted(); ++i)
    if (std::string problem = compile_trusted(i, defaults, end_s, costs_of_subjects_.emplace_back()); !problem.empty()) return about(i) + problem;
  return {};
}

std::string TaskDuels::compile_trusted(std::size_t subject, const Choice& defaults, double end_s, TuneCosts& costs) {
  RaceRules rules;
  rules.most_pairs = 1;
  constexpr double first_limit_s = 120;
  const double before_s = budget_.elapsed_s();
  const Built trusted = builder_.compile_for_calls(subject, defaults, "trusted" + std::to_string(subject), limited(first_compile_limit_s, end_s));
  if (!trusted.problem.empty()) return trusted.problem;
  trusted_.push_back(trusted.path);
  costs.compile_s = budget_.elapsed_s() - before_s;
  compile_limit_s_ = std::max(compile_limit_s_, compile_limit_ratio * costs.compile_s);
  const double duel_s = budget_.elapsed_s();
  const DuelAnswer first = duel({duel_kernel(subject, trusted.path, trusted.path, calls_of(subject))}, rules, limited(first_limit_s, end_s));
  if (!first.problem.empty()) return "the kernel by the default schedules: " + first.problem;
  costs.duel_s = budget_.elapsed_s() - duel_s;
  for (const RaceTimes& times : first.races) call_s_.push_back(times.incumbent_ms * 1e-3);
  return {};
}

std::vector<TuneCosts> TaskDuels::costs_of_tasks() const {
  std::vector<TuneCosts> costs(plan_.tasks.size());
  for (std::size_t i = 0; i < costs.size(); ++i)
    for (const std::size_t subject : plan_.subjects_of(plan_.tasks[i])) {
      costs[i].compile_s += costs_of_subjects_[subject].compile_s;
      costs[i].duel_s += costs_of_subjects_[subject].duel_s;
    }
  return costs;
}

/// Which of several subjects a problem is of.
std::string TaskDuels::about(std::size_t subject) const {
  return plan_.subjects.size() > 1 ? plan_.subjects[subject].subject.title + ": " : std::string();
}

std::vector<std::size_t> TaskDuels::calls_of(std::size_t subject) const {
  std::vector<std::size_t> calls;
  for (std::size_t call = 0; call < plan_.calls.size(); ++call)
    if (plan_.calls[call].subject == subject) calls.push_back(call);
  return calls;
}

DuelKernel TaskDuels::duel_kernel(std::size_t subject, const std::string& incumbent, const std::string& candidate,
                                  const std::vector<std::size_t>& calls) const {
  const SubjectCalls& of = plan_.subjects[subject];
  DuelKernel kernel{trusted_[subject], incumbent, candidate, of.subject.kernel(), {}, {}};
  if (!of.check.expected.empty()) kernel.checks.push_back(of.check);
  for (const std::size_t call : calls)
    if (plan_.calls[call].subject == subject) kernel.races.push_back(plan_.calls[call].call);
  return kernel;
}

DuelAnswer TaskDuels::duel(std::vector<DuelKernel> kernels, const RaceRules& rules, double limit_s) const {
  return run_duel({std::move(kernels), settings_.threads, rules, settings_.device}, limit_s);
}

TaskDuels::Opponents TaskDuels::opponents(std::size_t i, const std::vector<std::size_t>& subjects, const Choice& candidate, const Choice& incumbent,
                                          double limit_s) {
  Opponents all;
  const SizeClass size = plan_.tasks[i].size;
  std::vector<Builder::Wanted> wanted;
  for (const Choice* choice : {&candidate, &incumbent})
    for (const std::size_t subject : subjects) wanted.push_back({size, *choice, subject});
  const std::vector<Built> built = builder_.built(wanted, limit_s);
  for (std::size_t k = 0; k < built.size() && all.problem.empty(); ++k) {
    all.problem = built[k].problem;
    if (!all.problem.empty() && k >= subjects.size()) builder_.forget(size, incumbent);
  }
  if (!all.problem.empty()) return all;
  for (std::size_t k = 0; k < subjects.size(); ++k)
    all.kernels.push_back(duel_kernel(subjects[k], built[subjects.size() + k].path, built[k].path, plan_.tasks[i].calls));
  return all;
}

/// Of all calls of the task.
double TaskDuels::call_s(std::size_t i) const {
  double sum = 0;
  for (const std::size_t call : plan_.tasks[i].calls) sum += call_s_[call];
  return sum;
}

/// Long enough for a race of a candidate ten times as slow, and for checks by plain loops.
double TaskDuels::duel_limit_s(std::size_t i, const RaceRules& rules) const {
  return 20 * static_cast<double>(plan_.subjects_of(plan_.tasks[i]).size()) + 11 * call_s(i) * (4 + rules.most_pairs);
}

/// Races take pairs until they are sure, but not more than some seconds.
RaceRules TaskDuels::rules_of(std::size_t i, int most_pairs, double seconds) const {
  RaceRules rules;
  rules.most_pairs = std::clamp(static_cast<int>(seconds / std::max(2 * call_s(i), 1e-3)), 8, most_pairs);
  return rules;
}

RaceRules TaskDuels::rules_of_long_race(std::size_t i, double seconds) const {
  RaceRules rules = rules_of(i, 512, seconds);
  rules.least_gain = 0.005;
  return rules;
}

/// A few pairs of the first subject's calls, where there are more subjects: a candidate that is much slower there is compiled for no other.
/// Its ratio, 0 for one that may win.
double TaskDuels::ratio_of_hopeless(std::size_t i, const Choice& candidate, const Choice& incumbent, double end_s, std::string& problem) {
  const std::vector<std::size_t> subjects = plan_.subjects_of(plan_.tasks[i]);
  if (subjects.size() == 1) return 0;
  const Opponents first = opponents(i, {subjects.front()}, candidate, incumbent, limited(compile_limit_s_, end_s));
  problem = first.problem;
  if (!problem.empty()) return 0;
  RaceRules rules;
  rules.most_pairs = 3;
  const DuelAnswer answer = duel(first.kernels, rules, limited(duel_limit_s(i, rules), end_s));
  problem = answer.problem;
  constexpr double hopeless = 1.03;  // what other subjects gain is less, as a rule
  return answer.ratio > hopeless ? answer.ratio : 0;
}

DuelAnswer TaskDuels::compare(std::size_t i, const Choice& candidate, const Choice& incumbent, double end_s) {
  DuelAnswer answer;
  answer.ratio = ratio_of_hopeless(i, candidate, incumbent, end_s, answer.problem);
  if (answer.problem.empty() && answer.ratio == 0) {
    const Opponents all = opponents(i, plan_.subjects_of(plan_.tasks[i]), candidate, incumbent, limited(compile_limit_s_, end_s));
    answer.problem = all.problem;
    const auto race = [&](const RaceRules& rules) { answer = duel(all.kernels, rules, limited(duel_limit_s(i, rules), end_s)); };
    const RaceRules rules = rules_of(i, 64, 8);
    if (answer.problem.empty()) race(rules);
    // What is faster by a percent on a machine with noise shows it in a longer race only.
    if (answer.problem.empty() && answer.verdict != Verdict::faster && answer.ratio < 1 - rules.least_gain)
      race(rules_of_long_race(i, std::min({30., settings_.budget_s / 5, end_s - budget_.elapsed_s()})));
  }
  if (answer.verdict != Verdict::faster) builder_.forget(plan_.tasks[i].size, candidate);
  return answer;
}

TaskDuels::Verified TaskDuels::verify(std::size_t i, const Choice& best, const Choice& by_default, int races) {
  const std::vector<std::size_t> subjects = plan_.subjects_of(plan_.tasks[i]);
  Opponents all;
  bool is_changed = best != by_default;
  if (is_changed) all = opponents(i, subjects, best, by_default, std::max(budget_.left_s(), 2 * budget_.costs().compile_s));
  is_changed &= all.problem.empty();
  RaceRules rules = rules_of_long_race(i, std::min(std::max(15., Budget::share_of_end * settings_.budget_s), budget_.end_race_s(races)));
  rules.hopeless = 1e9;
  rules.doubt_of_losing = rules.doubt_of_winning;
  if (!is_changed) {  // only to say how long a call takes
    rules.most_pairs = 1;
    all.kernels.clear();
    for (const std::size_t subject : subjects)
      all.kernels.push_back(duel_kernel(subject, trusted_[subject], trusted_[subject], plan_.tasks[i].calls));
  }
  const double limit_s = std::min(duel_limit_s(i, rules), std::max(budget_.left_s(), 2 * budget_.last_race_s()));
  DuelAnswer answer = duel(std::move(all.kernels), rules, limit_s);
  Verified verified{is_changed && answer.problem.empty() && answer.verdict == Verdict::faster, std::move(answer.races)};
  if (!verified.is_better)
    for (RaceTimes& times : verified.races) times.candidate_ms = times.incumbent_ms;
  return verified;
}

std::int64_t TaskDuels::learned_limit_of(std::size_t i, const Choice& best) {
  const TuneTask& task = plan_.tasks[i];
  const std::size_t subject = plan_.calls[task.calls.front()].subject;
  constexpr std::int64_t most = 256;
  const auto compiled = [&](const char* kind, std::int64_t up_to) {
    return builder_.compile(subject, best, kind + task.schedule + std::string(name_of(task.size)), limited(compile_limit_s_, settings_.budget_s),
                            {task.size, up_to});
  };
  const Built always = compiled("always_", most), never = compiled("never_", 1);
  if (!always.problem.empty() || !never.problem.empty()) return 0;
  RaceRules rules;  // no winner is looked for: the median of all pairs is wanted
  rules.doubt_of_winning = rules.doubt_of_losing = 0;
  rules.hopeless = 1e9;
  rules.most_pairs = 16;
  return learned_limit(
      [&](std::int64_t extent) {
        DuelKernel kernel = duel_kernel(subject, never.path, always.path, {});
        for (const std::size_t call : task.calls)
          if (plan_.calls[call].subject == subject)
            kernel.races.push_back(plan_.subjects[subject].with_rows(plan_.calls[call].call, task.size, extent));
        const DuelAnswer answer = duel({std::move(kernel)}, rules, limited(duel_limit_s(i, rules), settings_.budget_s));
        return answer.problem.empty() ? answer.ratio : rules.hopeless;
      },
      most);
}

}  // namespace attune
