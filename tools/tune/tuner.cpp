#include "tools/tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "tools/tune/budget.h"
#include "tools/tune/child.h"
#include "tools/tune/task_duels.h"

namespace attune {
namespace {

class Tuner {
 public:
  Tuner(const TunePlan& plan, const TuneSettings& settings, const std::function<void(const TuneProgress&)>& show)
      : plan_(plan), settings_(settings), show_(show) {
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

  /// Reads the state, compiles the kernel of the defaults, which the others are checked against, and checks it.
  std::string prepare() {
    TuneStateAnswer answer = read_state(settings_.state_path, state_text());
    if (!answer.problem.empty()) return answer.problem;
    state_ = std::move(answer.state);
    if (std::string problem = tries_problem(); !problem.empty()) return problem;
    state_.tries.resize(plan_.tasks.size());
    if (std::string problem = duels_.prepare(); !problem.empty()) return problem;
    // What was tried before is worth its last race however little of the budget is left.
    const bool is_resumed = std::ranges::any_of(state_.tries, [](const auto& tries) { return !tries.empty(); });
    const double end_s = is_resumed ? elapsed_s() + TaskDuels::first_compile_limit_s : settings_.budget_s;
    std::string problem = duels_.measure_costs(defaults_, end_s);
    if (is_interrupted()) return {};
    if (problem.empty()) budget_.expect(duels_.costs_of_tasks(), end_of_run());
    if (!problem.empty() && elapsed_s() >= end_s)
      return fmt::format("--budget {}: is over before the kernel by the default schedules is compiled and called; give several times as much", settings_.budget);
    return problem.empty() && !is_resumed ? budget_.problem(settings_.budget) : problem;
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
      const auto is_same = [&](const std::vector<std::size_t>& one) {
        return plan_.records_for == RecordsFor::stages && plan_.tasks[one.front()].size == task.size;
      };
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
      graphs.push_back(fmt::format("{} {}", one.subject.graph.empty() ? one.subject.title : fmt::format("{}", fmt::join(one.subject.graph, " ")),
                                   fmt::join(one.subject.compile_arguments, " ")));
    for (const PlannedCall& call : plan_.calls) shapes.push_back(call.shape);
    return fmt::format("{}{} with {} for {} and {}{}", plan_.records_for == RecordsFor::defaults ? "defaults of " : "", fmt::join(graphs, " and "),
                       settings_.device.empty() ? fmt::format("{} threads", settings_.threads) : settings_.device, settings_.target,
                       fmt::join(shapes, " and "), settings_.inputs.empty() ? "" : " of " + settings_.inputs);
  }

  /// Compiles and races until `end_s`, which may lie behind the end of the stage's share. A candidate that this ends is a failure that counts as none.
  Try compare(std::size_t i, const Point& candidate, const Point& incumbent, double end_s, TunedTask& report) {
    const double before_s = elapsed_s();
    const DuelAnswer answer = duels_.compare(i, with(i, candidate), with(i, incumbent), end_s);
    budget_.saw_candidate(elapsed_s() - before_s);
    const bool is_stopped = elapsed_s() >= end_s || is_interrupted();
    if (!answer.problem.empty() && !is_stopped && report.first_failure.empty())
      report.first_failure = plan_.tasks[i].describe(candidate) + ": " + answer.problem;
    if (!answer.problem.empty()) return {candidate, Outcome::failed, 0};
    return {candidate, answer.verdict == Verdict::faster ? Outcome::won : Outcome::lost, answer.ratio};
  }

  /// The best of every task, but a task's.
  Choice with(std::size_t i, const Point& point) const {
    Choice choice = best_;
    choice[i] = point;
    return choice;
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
    budget_.begin_search(duels_.costs_of_tasks()[i]);
    const double end_s = end_of(n);
    run_search(
        search, [&](const Point& candidate, const Point& incumbent) { return compare(i, candidate, incumbent, budget_.end_of_candidate(end_s), report); },
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
    const TaskDuels::Verified verified = duels_.verify(i, best_, with(i, defaults_[i]), races);
    report.is_better = verified.is_better;
    if (!report.is_better) best_[i] = defaults_[i];
    report.races = verified.races;
    const RaceTimes mean = mean_of(report.races);
    report.default_ms = mean.incumbent_ms;
    report.tuned_ms = mean.candidate_ms;
    report.parameters = report.task->space.values(best_[i]);
  }

  /// A limit for which there is no time stays that of the defaults.
  void learn_limit(const std::vector<std::size_t>& together, std::vector<TunedTask>& reports) {
    if (!budget_.has_limit_time()) return;
    const std::int64_t limit = duels_.learned_limit_of(together.front(), best_);
    if (limit == 0 || is_interrupted() || budget_.left_s() <= 0) return;  // a duel that was ended has no winner
    for (const std::size_t task : together) reports[task].small_up_to = limit;
  }

  const TunePlan& plan_;
  const TuneSettings& settings_;
  const std::function<void(const TuneProgress&)>& show_;
  TuneState state_;
  Budget budget_{settings_.budget_s,
                 [this] { return state_.elapsed_s + std::chrono::duration<double>(std::chrono::steady_clock::now() - settings_.started).count(); }};
  TaskDuels duels_{plan_, settings_, budget_};
  std::vector<std::size_t> order_;  // of the searches: the last one has what those before it leave of the budget, so the weightiest comes last
  Choice defaults_, best_;
  std::string save_problem_;
};

}  // namespace

TuneResult run_tuner(const TunePlan& plan, const TuneSettings& settings, const std::function<void(const TuneProgress&)>& show) {
  return Tuner(plan, settings, show).run();
}

}  // namespace attune
