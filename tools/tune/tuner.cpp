#include "tools/tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "tools/tune/budget.h"
#include "tools/tune/builder.h"
#include "tools/tune/child.h"
#include "tools/tune/limit.h"

namespace attune {
namespace {

/// A kernel takes a second or two to compile, much longer on a machine that is busy. A schedule that takes several times as long as the default's
/// is one that nobody wants.
constexpr double first_compile_limit_s = 600, least_compile_limit_s = 60, compile_limit_ratio = 5;
/// What is killed when time is up gets this much at least: a process does not start in no time.
constexpr double least_limit_s = 0.5;

class Tuner {
 public:
  Tuner(const TunePlan& plan, const TuneSettings& settings, const std::function<void(const TuneProgress&)>& show)
      : plan_(plan), settings_(settings), show_(show), builder_(plan, settings) {
    for (const TuneTask& task : plan.tasks) {
      order_.push_back(order_.size());
      defaults_.push_back(task.by_default);
      best_.push_back(task.start);
    }
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return plan_.tasks[i].weight(); });
  }
  Tuner(const Tuner&) = delete;

  TuneResult run() {
    TuneResult result;
    result.problem = prepare();
    if (result.problem.empty()) result.problem = save();  // a place that cannot be written to is better known before than after
    for (const TuneTask& task : plan_.tasks) result.tasks.emplace_back().task = &task;
    for (std::size_t n = 0; n < order_.size() && result.problem.empty() && !is_interrupted(); ++n) {
      search(n, result.tasks[order_[n]]);
      result.problem = save_problem_;  // what was tried before can be gone on with once there is room again
    }
    if (!result.problem.empty()) return result;
    int races = static_cast<int>(result.tasks.size());
    for (TunedTask& task : result.tasks)
      if (!is_interrupted()) verify(task, races--);
    for (const std::vector<std::size_t>& together : limited_tasks())
      if (result.problem.empty() && !is_interrupted()) learn_limit(together, result.tasks);
    result.is_interrupted = is_interrupted();
    if (result.is_interrupted && result.problem.empty()) result.problem = save();
    return result;
  }

 private:
  double elapsed_s() const { return budget_.elapsed_s(); }

  /// For a step that may take `most_s` where nothing ends it, up to the time `end_s` of the run.
  double limited(double most_s, double end_s) const { return std::min(most_s, std::max(end_s - elapsed_s(), least_limit_s)); }

  /// Reads the state, compiles the kernel of the defaults, which the others are checked against, and checks it.
  std::string prepare() {
    TuneStateAnswer answer = read_state(settings_.state_path, state_text());
    if (!answer.problem.empty()) return answer.problem;
    state_ = std::move(answer.state);
    if (std::string problem = tries_problem(); !problem.empty()) return problem;
    state_.tries.resize(plan_.tasks.size());
    if (std::string problem = builder_.prepare(); !problem.empty()) return problem;
    // What was tried before is worth its last race however little of the budget is left.
    const bool is_resumed = std::ranges::any_of(state_.tries, [](const auto& tries) { return !tries.empty(); });
    const double end_s = is_resumed ? elapsed_s() + first_compile_limit_s : settings_.budget_s;
    std::string problem = measure_costs(end_s);
    if (is_interrupted()) return {};
    if (!problem.empty() && elapsed_s() >= end_s)
      return fmt::format("--budget {}: is over before the kernel by the default schedules is compiled and called; give several times as much", settings_.budget);
    return problem.empty() && !is_resumed ? budget_.problem(settings_.budget) : problem;
  }

  /// Compiles and calls the kernels of the defaults, before `end_s`.
  std::string measure_costs(double end_s) {
    RaceRules rules;
    rules.most_pairs = 1;
    constexpr double first_limit_s = 120;
    std::vector<TuneCosts> costs;  // of each subject
    for (std::size_t i = 0; i < plan_.subjects.size() && !is_interrupted(); ++i) {
      const double before_s = elapsed_s();
      const Built trusted = builder_.compile(i, defaults_, "trusted" + std::to_string(i), limited(first_compile_limit_s, end_s));
      if (!trusted.problem.empty()) return about(i) + trusted.problem;
      trusted_.push_back(trusted.path);
      costs.push_back({elapsed_s() - before_s, 0});
      compile_limit_s_ = std::max(compile_limit_s_, compile_limit_ratio * costs.back().compile_s);
      const double duel_s = elapsed_s();
      const DuelAnswer first = run_duel({{duel_kernel(i, trusted_[i], trusted_[i], calls_of(i))}, settings_.threads, rules, settings_.device}, limited(first_limit_s, end_s));
      if (!first.problem.empty()) return about(i) + "the kernel by the default schedules: " + first.problem;
      costs.back().duel_s = elapsed_s() - duel_s;
      for (const RaceTimes& times : first.races) call_s_.push_back(times.incumbent_ms * 1e-3);
    }
    if (!is_interrupted()) budget_.expect(mean(costs), end_of_run());
    return {};
  }

  /// Of a task; what the tasks take together is a sum over them.
  TuneCosts mean(const std::vector<TuneCosts>& of_subjects) const {
    TuneCosts mean;
    for (const TuneTask& task : plan_.tasks)
      for (const std::size_t subject : plan_.subjects_of(task)) {
        mean.compile_s += of_subjects[subject].compile_s / static_cast<double>(plan_.tasks.size());
        mean.duel_s += of_subjects[subject].duel_s / static_cast<double>(plan_.tasks.size());
      }
    return mean;
  }

  /// Which of several subjects a problem is of.
  std::string about(std::size_t subject) const { return plan_.subjects.size() > 1 ? plan_.subjects[subject].subject.title + ": " : std::string(); }

  std::vector<std::size_t> calls_of(std::size_t subject) const {
    std::vector<std::size_t> calls;
    for (std::size_t call = 0; call < plan_.calls.size(); ++call)
      if (plan_.calls[call].subject == subject) calls.push_back(call);
    return calls;
  }

  /// Where one stage is tuned alone its kernels are there at the end, but that of the default where the search began elsewhere.
  TuneEnd end_of_run() const {
    TuneEnd end{static_cast<int>(plan_.tasks.size()), 0, static_cast<int>(limited_tasks().size())};
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i)
      if (plan_.tasks.size() > 1 || best_[i] != defaults_[i]) end.kernels += 1;
    return end;
  }

  /// The tasks whose limits are learned, those of one limit together: of stages that a kernel calls for the same sizes, or of a default.
  std::vector<std::vector<std::size_t>> limited_tasks() const {
    std::vector<std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i) {
      const TuneTask& task = plan_.tasks[i];
      const SubjectCalls& subject = plan_.subjects[plan_.calls[task.calls.front()].subject];
      if (task.small_up_to == 0 || !subject.row_dims.contains(task.size)) continue;
      const auto is_same = [&](const std::vector<std::size_t>& one) { return plan_.records_for == RecordsFor::stages && plan_.tasks[one.front()].size == task.size; };
      const auto place = std::ranges::find_if(all, is_same);
      if (place == all.end()) all.push_back({i});
      else place->push_back(i);
    }
    return all;
  }

  /// The state's tries are points of the plan's spaces, or a sentence.
  std::string tries_problem() const {
    const auto refuse = [&](const std::string& text) { return fmt::format("'{}': {}; remove the file to begin anew", settings_.state_path, text); };
    if (state_.tries.size() > plan_.tasks.size()) return refuse(fmt::format("has tries of {} stages; this run tunes {}", state_.tries.size(), plan_.tasks.size()));
    for (std::size_t i = 0; i < state_.tries.size(); ++i)
      for (const Try& tried : state_.tries[i])
        if (!plan_.tasks[i].space.has(tried.point)) return refuse(fmt::format("has a try of stage {} that is none of its schedule's points", i + 1));
    return {};
  }

  /// What the state must be of: everything that a try depends on.
  std::string state_text() const {
    std::vector<std::string> graphs, shapes;
    for (const SubjectCalls& one : plan_.subjects)
      graphs.push_back(fmt::format("{} {}", one.subject.graph.empty() ? one.subject.title : fmt::format("{}", fmt::join(one.subject.graph, " ")), fmt::join(one.subject.compile_arguments, " ")));
    for (const PlannedCall& call : plan_.calls) shapes.push_back(call.shape);
    return fmt::format("{}{} with {} for {} and {}{}", plan_.records_for == RecordsFor::defaults ? "defaults of " : "", fmt::join(graphs, " and "), settings_.device.empty() ? fmt::format("{} threads", settings_.threads) : settings_.device,
                       settings_.target, fmt::join(shapes, " and "), settings_.inputs.empty() ? "" : " of " + settings_.inputs);
  }

  DuelKernel duel_kernel(std::size_t subject, const std::string& incumbent, const std::string& candidate, const std::vector<std::size_t>& calls) const {
    const SubjectCalls& of = plan_.subjects[subject];
    DuelKernel kernel{trusted_[subject], incumbent, candidate, of.subject.kernel(), {}, {}};
    if (!of.check.expected.empty()) kernel.checks.push_back(of.check);
    for (const std::size_t call : calls)
      if (plan_.calls[call].subject == subject) kernel.races.push_back(plan_.calls[call].call);
    return kernel;
  }

  /// The kernels of some subjects that differ in a task's choice, or why they cannot be raced.
  struct Opponents {
    std::vector<DuelKernel> kernels;
    std::string problem;
  };
  Opponents opponents(std::size_t i, const std::vector<std::size_t>& subjects, const Choice& candidate, const Choice& incumbent, double limit_s) {
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
  double call_s(std::size_t i) const {
    double sum = 0;
    for (const std::size_t call : plan_.tasks[i].calls) sum += call_s_[call];
    return sum;
  }

  /// Long enough for a race of a candidate ten times as slow, and for checks by plain loops.
  double duel_limit_s(std::size_t i, const RaceRules& rules) const {
    return 20 * static_cast<double>(plan_.subjects_of(plan_.tasks[i]).size()) + 11 * call_s(i) * (4 + rules.most_pairs);
  }

  /// Races take pairs until they are sure, but not more than some seconds.
  RaceRules rules_of(std::size_t i, int most_pairs, double seconds) const {
    RaceRules rules;
    rules.most_pairs = std::clamp(static_cast<int>(seconds / std::max(2 * call_s(i), 1e-3)), 8, most_pairs);
    return rules;
  }

  RaceRules rules_of_long_race(std::size_t i, double seconds) const {
    RaceRules rules = rules_of(i, 512, seconds);
    rules.least_gain = 0.005;
    return rules;
  }

  /// A few pairs of the first subject's calls, where there are more subjects: a candidate that is much slower there is compiled for no other.
  /// Its ratio, 0 for one that may win.
  double ratio_of_hopeless(std::size_t i, const Choice& with, const Choice& without, double end_s, std::string& problem) {
    const std::vector<std::size_t> subjects = plan_.subjects_of(plan_.tasks[i]);
    if (subjects.size() == 1) return 0;
    const Opponents first = opponents(i, {subjects.front()}, with, without, limited(compile_limit_s_, end_s));
    problem = first.problem;
    if (!problem.empty()) return 0;
    RaceRules rules;
    rules.most_pairs = 3;
    const DuelAnswer answer = run_duel({first.kernels, settings_.threads, rules, settings_.device}, limited(duel_limit_s(i, rules), end_s));
    problem = answer.problem;
    constexpr double hopeless = 1.03;  // what other subjects gain is less, as a rule
    return answer.ratio > hopeless ? answer.ratio : 0;
  }

  /// Compiles and races until `end_s`. A candidate that this ends is a failure that counts as none.
  Try compare(std::size_t i, const Point& candidate, const Point& incumbent, double end_s, TunedTask& report) {
    Choice with = best_, without = best_;
    with[i] = candidate;
    without[i] = incumbent;
    const double before_s = elapsed_s();
    DuelAnswer answer;
    answer.ratio = ratio_of_hopeless(i, with, without, end_s, answer.problem);
    if (answer.problem.empty() && answer.ratio == 0) {
      const Opponents all = opponents(i, plan_.subjects_of(plan_.tasks[i]), with, without, limited(compile_limit_s_, end_s));
      answer.problem = all.problem;
      const auto race = [&](const RaceRules& rules) { answer = run_duel({all.kernels, settings_.threads, rules, settings_.device}, limited(duel_limit_s(i, rules), end_s)); };
      const RaceRules rules = rules_of(i, 64, 8);
      if (answer.problem.empty()) race(rules);
      // What is faster by a percent on a machine with noise shows it in a longer race only.
      if (answer.problem.empty() && answer.verdict != Verdict::faster && answer.ratio < 1 - rules.least_gain)
        race(rules_of_long_race(i, std::min({30., settings_.budget_s / 5, end_s - elapsed_s()})));
    }
    if (answer.verdict != Verdict::faster) builder_.forget(plan_.tasks[i].size, with);
    budget_.saw_candidate(elapsed_s() - before_s);
    const bool is_stopped = elapsed_s() >= end_s || is_interrupted();
    if (!answer.problem.empty() && !is_stopped && report.first_failure.empty()) report.first_failure = plan_.tasks[i].describe(candidate) + ": " + answer.problem;
    if (!answer.problem.empty()) return {candidate, Outcome::failed, 0};
    return {candidate, answer.verdict == Verdict::faster ? Outcome::won : Outcome::lost, answer.ratio};
  }

  /// When the n-th search has had its share of what is left.
  double end_of(std::size_t n) const {
    double all = 0;
    for (std::size_t k = n; k < order_.size(); ++k) all += plan_.tasks[order_[k]].weight();
    return budget_.end_of(plan_.tasks[order_[n]].weight(), all);
  }

  /// A candidate that would not be done in time is not begun.
  bool is_over(double end_s, const TunedTask& report) const {
    const bool has_tried_all = settings_.most_tries > 0 && report.tried >= static_cast<std::size_t>(settings_.most_tries);
    return elapsed_s() + budget_.candidate_s() > end_s || has_tried_all || is_interrupted() || !save_problem_.empty();
  }

  void search(std::size_t n, TunedTask& report) {
    const std::size_t i = order_[n];
    const TuneTask& task = plan_.tasks[i];
    report.small_up_to = task.small_up_to;
    Search search(task.space, task.start, settings_.seed + state_.tries[i].size(), task.hints);
    double speedup = 1;
    const auto count = [&](const Try& tried) {
      report.tried += 1;
      report.failed += tried.outcome == Outcome::failed ? 1 : 0;
      if (tried.outcome == Outcome::won) speedup /= tried.ratio;
    };
    for (const Try& tried : state_.tries[i]) search.tell(tried), count(tried);
    const auto show = [&] { show_({elapsed_s(), task.title(), n, plan_.tasks.size(), report.tried, report.failed, speedup}); };
    show();
    budget_.saw_candidate(0);
    const double end_s = end_of(n);
    run_search(
        search, [&](const Point& candidate, const Point& incumbent) { return compare(i, candidate, incumbent, end_s, report); },
        [&] { return is_over(end_s, report); },
        [&] {
          count(search.tries().back());
          state_.tries[i] = search.tries();
          save_problem_ = save();
          show();
        });
    best_[i] = search.incumbent();
  }

  /// The problem in words, or nothing.
  std::string save() const {
    TuneState state = state_;
    state.elapsed_s = elapsed_s();
    return write_state(settings_.state_path, state);
  }

  /// The best so far against the default once more, in pairs that did not choose it: luck does not repeat itself. `races` are left with this one.
  void verify(TunedTask& report, int races) {
    const std::size_t i = static_cast<std::size_t>(report.task - plan_.tasks.data());
    const std::vector<std::size_t> subjects = plan_.subjects_of(*report.task);
    Choice with = best_, without = best_;
    without[i] = defaults_[i];
    Opponents all;
    bool is_changed = best_[i] != defaults_[i];
    if (is_changed) all = opponents(i, subjects, with, without, std::max(budget_.left_s(), 2 * budget_.costs().compile_s));
    is_changed &= all.problem.empty();
    RaceRules rules = rules_of_long_race(i, std::min(std::max(15., Budget::share_of_end * settings_.budget_s), budget_.end_race_s(races)));
    rules.hopeless = 1e9;
    rules.doubt_of_losing = rules.doubt_of_winning;
    if (!is_changed) {  // only to say how long a call takes
      rules.most_pairs = 1;
      all.kernels.clear();
      for (const std::size_t subject : subjects) all.kernels.push_back(duel_kernel(subject, trusted_[subject], trusted_[subject], report.task->calls));
    }
    const double limit_s = std::min(duel_limit_s(i, rules), std::max(budget_.left_s(), 2 * budget_.last_race_s()));
    const DuelAnswer answer = run_duel({all.kernels, settings_.threads, rules, settings_.device}, limit_s);
    report.is_better = is_changed && answer.problem.empty() && answer.verdict == Verdict::faster;
    if (!report.is_better) best_[i] = defaults_[i];
    report.races = answer.races;
    if (!report.is_better)
      for (RaceTimes& times : report.races) times.candidate_ms = times.incumbent_ms;
    const RaceTimes mean = mean_of(report.races);
    report.default_ms = mean.incumbent_ms;
    report.tuned_ms = mean.candidate_ms;
    report.parameters = report.task->space.values(best_[i]);
  }

  /// Up to which extent of their rows calls of the size are better off with its schedules than with those for longer ones, all as they are best:
  /// measured at extents 2, 4, 8 ... of all the dims that tell them apart, in calls of the first subject.
  /// A limit for which there is no time stays that of the defaults.
  void learn_limit(const std::vector<std::size_t>& together, std::vector<TunedTask>& reports) {
    if (!budget_.has_limit_time()) return;
    const TuneTask& first = plan_.tasks[together.front()];
    const SizeClass size = first.size;
    const std::size_t subject = plan_.calls[first.calls.front()].subject;
    constexpr std::int64_t most = 256;
    const auto compiled = [&](const char* kind, std::int64_t up_to) {
      return builder_.compile(subject, best_, kind + first.schedule + std::string(name_of(size)), limited(compile_limit_s_, settings_.budget_s), {size, up_to});
    };
    const Built always = compiled("always_", most), never = compiled("never_", 1);
    if (!always.problem.empty() || !never.problem.empty()) return;
    RaceRules rules;  // no winner is looked for: the median of all pairs is wanted
    rules.doubt_of_winning = rules.doubt_of_losing = 0;
    rules.hopeless = 1e9;
    rules.most_pairs = 16;
    const std::int64_t limit = learned_limit(
        [&](std::int64_t extent) {
          DuelKernel kernel = duel_kernel(subject, never.path, always.path, {});
          for (const std::size_t call : first.calls)
            if (plan_.calls[call].subject == subject) kernel.races.push_back(plan_.subjects[subject].with_rows(plan_.calls[call].call, size, extent));
          const DuelAnswer answer = run_duel({{kernel}, settings_.threads, rules, settings_.device}, limited(duel_limit_s(together.front(), rules), settings_.budget_s));
          return answer.problem.empty() ? answer.ratio : rules.hopeless;
        },
        most);
    if (is_interrupted() || budget_.left_s() <= 0) return;  // a duel that was ended has no winner
    for (const std::size_t task : together) reports[task].small_up_to = limit;
  }

  const TunePlan& plan_;
  const TuneSettings& settings_;
  const std::function<void(const TuneProgress&)>& show_;
  Builder builder_;
  TuneState state_;
  Budget budget_{settings_.budget_s, [this] { return state_.elapsed_s + std::chrono::duration<double>(std::chrono::steady_clock::now() - settings_.started).count(); }};
  std::vector<std::size_t> order_;  // of the searches: the last one has what those before it leave of the budget, so the weightiest comes last
  Choice defaults_, best_;
  std::vector<std::string> trusted_;  // of each subject
  std::string save_problem_;
  double compile_limit_s_ = least_compile_limit_s;
  std::vector<double> call_s_;  // of each call, by the default schedules
};

}  // namespace

TuneResult run_tuner(const TunePlan& plan, const TuneSettings& settings, const std::function<void(const TuneProgress&)>& show) {
  return Tuner(plan, settings, show).run();
}

}  // namespace attune
