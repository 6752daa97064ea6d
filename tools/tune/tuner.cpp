#include "tools/tune/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>

#include "codegen/scratch_folder.h"
#include "codegen/whole_file.h"
#include "schedules/tuning/limit.h"
#include "tools/tune/child.h"

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

/// A kernel takes a second or two to compile, much longer on a machine that is busy. A schedule that takes several times as long as the default's
/// is one that nobody wants.
constexpr double first_compile_limit_s = 600, least_compile_limit_s = 60, compile_limit_ratio = 5;
/// Of the budget, for the last duels.
constexpr double share_of_last_duels = 0.15;

/// A point for each task.
using Choice = std::vector<Point>;

/// A compiled kernel, or why there is none.
struct Built {
  std::string path, problem;
};

/// For the records of one size of calls, in place of their own; 0 leaves them theirs.
struct SizeLimit {
  SizeClass size = SizeClass::large;
  std::int64_t small_up_to = 0;
};

class Tuner {
 public:
  Tuner(const Prepared& prepared, const TunePlan& plan, const TuneSettings& settings, const std::function<void(const TuneProgress&)>& show)
      : prepared_(prepared), plan_(plan), settings_(settings), show_(show) {
    for (const TuneTask& task : plan.tasks) {
      defaults_.push_back(task.by_default);
      best_.push_back(task.start);
    }
  }
  Tuner(const Tuner&) = delete;

  TuneResult run() {
    TuneResult result;
    result.problem = prepare();
    if (result.problem.empty()) result.problem = save();  // a place that cannot be written to is better known before than after
    for (std::size_t i = 0; i < plan_.tasks.size() && result.problem.empty() && !is_interrupted(); ++i) {
      result.tasks.push_back(search(i));
      result.problem = save_problem_;  // what was tried before can be gone on with once there is room again
    }
    if (!result.problem.empty()) return result;
    for (TunedTask& task : result.tasks)
      if (!is_interrupted()) verify(task);
    for (const auto& [size, dims] : plan_.row_dims)
      if (result.problem.empty() && !is_interrupted()) learn_limit(size, result.tasks);
    result.is_interrupted = is_interrupted();
    if (result.is_interrupted && result.problem.empty()) result.problem = save();
    return result;
  }

 private:
  double elapsed_s() const { return state_.elapsed_s + std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// Reads the state, compiles the kernel of the defaults, which the others are checked against, and checks it.
  std::string prepare() {
    if (!folder_.exists()) return no_scratch_folder(folder_);
    TuneStateAnswer answer = read_state(settings_.state_path, state_text());
    if (!answer.problem.empty()) return answer.problem;
    state_ = std::move(answer.state);
    if (std::string problem = tries_problem(); !problem.empty()) return problem;
    state_.tries.resize(plan_.tasks.size());
    if (!settings_.graph_text.empty()) {
      graph_ = {folder_.file("graph.mlir")};
      if (std::string problem = write_whole(graph_[0], {settings_.graph_text}); !problem.empty()) return problem;
    }
    const double before_s = elapsed_s();
    const Built trusted = compile(defaults_, folder_.file("trusted"));
    compile_limit_s_ = std::max(least_compile_limit_s, compile_limit_ratio * (elapsed_s() - before_s));
    if (!trusted.problem.empty()) return is_interrupted() ? std::string() : trusted.problem;
    trusted_ = trusted.path;
    std::vector<std::size_t> all(plan_.calls.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    RaceRules rules;
    rules.most_pairs = 1;
    constexpr double first_limit_s = 120;
    const DuelAnswer first = run_duel(duel(trusted_, trusted_, all, rules), first_limit_s);
    call_s_ = first.incumbent_ms * 1e-3 * static_cast<double>(all.size());
    return first.problem.empty() || is_interrupted() ? std::string() : "the kernel by the default schedules: " + first.problem;
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
    return fmt::format("{} {} with {} threads for {} and {}{}", fmt::join(settings_.graph, " "), fmt::join(settings_.compile_arguments, " "), settings_.threads, settings_.target,
                       fmt::join(plan_.shapes, " and "), settings_.inputs.empty() ? "" : " of " + settings_.inputs);
  }

  /// The kernel of the choice for calls of one size, compiled at most once. For large calls it takes three fifths of the time of one for all
  /// sizes, for tiny ones a seventh.
  Built built(SizeClass size, const Choice& choice) {
    const auto [place, is_fresh] = kernels_.try_emplace({size, choice});
    if (is_fresh) place->second = compile(choice, folder_.file(std::to_string(++built_)), {"--size", std::string(name_of(size))});
    return place->second;
  }

  Built compile(const Choice& choice, const std::string& folder, const std::vector<std::string>& more = {}, const SizeLimit& limit = {}) {
    std::error_code error;
    std::filesystem::create_directory(folder, error);
    if (error) return {{}, cannot_be_written(folder, error)};
    TunedFile file;
    file.target = settings_.target;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const TuneTask& task = plan_.tasks[i];
      const Measured nothing{"none", "none", "none", "none", 1, 1, 1};
      insert(file, {task.schedule, task.size, task.key.stage, task.key.types, task.key.extents, task.space.values(choice[i]),
                    limit.small_up_to > 0 && task.size == limit.size ? limit.small_up_to : task.small_up_to, nothing},
             task.key.body);
    }
    const std::string tuned = folder + "/tuned.json";
    if (std::string problem = write_whole(tuned, {tuned_text(file)}); !problem.empty()) return {{}, std::move(problem)};
    std::vector<std::string> arguments{"compile"};
    arguments.insert(arguments.end(), graph_.begin(), graph_.end());
    arguments.insert(arguments.end(), {"--tuned", tuned});  // before the user's: of records at the same distance the first is taken
    arguments.insert(arguments.end(), settings_.compile_arguments.begin(), settings_.compile_arguments.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const char* word : {"--shared", "--name", settings_.kernel.c_str(), "-o", folder.c_str()}) arguments.emplace_back(word);
    const ChildAnswer child = run_self(arguments, compile_limit_s_);
    if (child.problem.empty()) return {folder + "/" + settings_.kernel + ".so", {}};
    const std::string sentence = child.text.substr(0, child.text.find('\n'));
    return {{}, sentence.starts_with("attune: ") ? sentence.substr(8) : "the compiler " + child.problem};
  }

  Duel duel(const std::string& incumbent, const std::string& candidate, const std::vector<std::size_t>& calls, const RaceRules& rules) const {
    Duel duel{trusted_, incumbent, candidate, settings_.kernel, {}, {}, settings_.threads, rules};
    if (!plan_.check.expected.empty()) duel.checks.push_back(plan_.check);
    for (const std::size_t call : calls) duel.races.push_back(plan_.calls[call]);
    return duel;
  }

  /// Long enough for a race of a candidate ten times as slow, and for checks by plain loops.
  double duel_limit_s(const RaceRules& rules) const { return 20 + 11 * call_s_ * (4 + rules.most_pairs); }

  /// Races take pairs until they are sure, but not more than some seconds.
  RaceRules rules_of(int most_pairs, double seconds) const {
    RaceRules rules;
    rules.most_pairs = std::clamp(static_cast<int>(seconds / std::max(2 * call_s_, 1e-3)), 8, most_pairs);
    return rules;
  }

  RaceRules rules_of_long_race(double seconds) const {
    RaceRules rules = rules_of(512, seconds);
    rules.least_gain = 0.005;
    return rules;
  }

  Try compare(std::size_t i, const Point& candidate, const Point& incumbent, TunedTask& report) {
    Choice with = best_, without = best_;
    with[i] = candidate;
    without[i] = incumbent;
    const SizeClass size = plan_.tasks[i].size;
    const Built one = built(size, with), other = built(size, without);
    DuelAnswer answer;
    answer.problem = one.problem.empty() ? other.problem : one.problem;
    const auto race = [&](const RaceRules& rules) { answer = run_duel(duel(other.path, one.path, plan_.tasks[i].calls, rules), duel_limit_s(rules)); };
    const RaceRules rules = rules_of(64, 8);
    if (answer.problem.empty()) race(rules);
    // What is faster by a percent on a machine with noise shows it in a longer race only.
    if (answer.problem.empty() && answer.verdict != Verdict::faster && answer.ratio < 1 - rules.least_gain)
      race(rules_of_long_race(std::min(30., settings_.budget_s / 5)));
    std::error_code ignored;
    if (answer.verdict != Verdict::faster && !one.path.empty()) std::filesystem::remove_all(std::filesystem::path(one.path).parent_path(), ignored);
    if (answer.verdict != Verdict::faster) kernels_.erase({size, with});
    if (!answer.problem.empty() && report.first_failure.empty()) report.first_failure = describe(i, candidate) + ": " + answer.problem;
    if (!answer.problem.empty()) return {candidate, Outcome::failed, 0};
    return {candidate, answer.verdict == Verdict::faster ? Outcome::won : Outcome::lost, answer.ratio};
  }

  std::string describe(std::size_t i, const Point& point) const {
    std::string text;
    for (const Parameter& p : plan_.tasks[i].space.values(point)) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", p.name, p.value);
    return text;
  }

  /// Attention is worth more time than products, and these more than the rest.
  static double weight(const TuneTask& task) { return task.kind == "online_softmax" ? 4 : task.kind == "gemm" ? 2 : 1; }

  /// When the task has had its share of what is left of the budget.
  double end_of(std::size_t i) const {
    double all = 0;
    for (std::size_t j = i; j < plan_.tasks.size(); ++j) all += weight(plan_.tasks[j]);
    const double left_s = settings_.budget_s * (1 - share_of_last_duels) - elapsed_s();
    return elapsed_s() + left_s * weight(plan_.tasks[i]) / all;
  }

  TunedTask search(std::size_t i) {
    const TuneTask& task = plan_.tasks[i];
    TunedTask report;
    report.task = &task;
    report.small_up_to = task.small_up_to;
    Search search(task.space, task.start, settings_.seed + state_.tries[i].size());
    double speedup = 1;
    const auto count = [&](const Try& tried) {
      report.tried += 1;
      report.failed += tried.outcome == Outcome::failed ? 1 : 0;
      if (tried.outcome == Outcome::won) speedup /= tried.ratio;
    };
    for (const Try& tried : state_.tries[i]) search.tell(tried), count(tried);
    const auto show = [&] { show_({elapsed_s(), task.title(), i, plan_.tasks.size(), report.tried, report.failed, speedup}); };
    show();
    const double end_s = end_of(i);
    run_search(
        search, [&](const Point& candidate, const Point& incumbent) { return compare(i, candidate, incumbent, report); },
        [&] { return elapsed_s() >= end_s || is_interrupted() || !save_problem_.empty(); },
        [&] {
          count(search.tries().back());
          state_.tries[i] = search.tries();
          save_problem_ = save();
          show();
        });
    best_[i] = search.incumbent();
    return report;
  }

  /// The problem in words, or nothing.
  std::string save() const {
    TuneState state = state_;
    state.elapsed_s = elapsed_s();
    return write_state(settings_.state_path, state);
  }

  /// The best so far against the default once more, in pairs that did not choose it: luck does not repeat itself.
  void verify(TunedTask& report) {
    const std::size_t i = static_cast<std::size_t>(report.task - plan_.tasks.data());
    Choice with = best_, without = best_;
    without[i] = defaults_[i];
    const Built one = built(report.task->size, with), other = built(report.task->size, without);
    RaceRules rules = rules_of_long_race(std::max(15., share_of_last_duels * settings_.budget_s));
    rules.hopeless = 1e9;
    rules.doubt_of_losing = rules.doubt_of_winning;
    const bool is_changed = best_[i] != defaults_[i] && one.problem.empty() && other.problem.empty();
    const DuelAnswer answer = run_duel(duel(other.path, is_changed ? one.path : other.path, report.task->calls, rules), duel_limit_s(rules));
    report.is_better = is_changed && answer.problem.empty() && answer.verdict == Verdict::faster;
    if (!report.is_better) best_[i] = defaults_[i];
    report.default_ms = answer.incumbent_ms;
    report.tuned_ms = report.is_better ? answer.candidate_ms : answer.incumbent_ms;
    report.parameters = report.task->space.values(best_[i]);
  }

  /// Up to which extent of their rows calls of the size are better off with its schedules than with those for longer ones, all as they are best:
  /// measured at extents 2, 4, 8 ... of all the dims that tell them apart.
  void learn_limit(SizeClass size, std::vector<TunedTask>& reports) {
    const auto is_limited = [&](const TunedTask& t) { return t.task->size == size && t.task->small_up_to > 0; };
    const auto first = std::ranges::find_if(reports, is_limited);
    if (first == reports.end()) return;
    constexpr std::int64_t most = 256;
    const std::string name(name_of(size));
    const Built always = compile(best_, folder_.file("always_" + name), {}, {size, most}), never = compile(best_, folder_.file("never_" + name), {}, {size, 1});
    if (!always.problem.empty() || !never.problem.empty()) return;
    RaceRules rules;  // no winner is looked for: the median of all pairs is wanted
    rules.doubt_of_winning = rules.doubt_of_losing = 0;
    rules.hopeless = 1e9;
    rules.most_pairs = 16;
    const std::int64_t limit = learned_limit(
        [&](std::int64_t extent) {
          Duel d = duel(never.path, always.path, {}, rules);
          for (const std::size_t call : first->task->calls) d.races.push_back(plan_.with_rows(prepared_, plan_.calls[call], size, extent));
          const DuelAnswer answer = run_duel(d, duel_limit_s(rules));
          return answer.problem.empty() ? answer.ratio : rules.hopeless;
        },
        most);
    for (TunedTask& report : reports)
      if (is_limited(report) && !is_interrupted()) report.small_up_to = limit;
  }

  const Prepared& prepared_;
  const TunePlan& plan_;
  const TuneSettings& settings_;
  const std::function<void(const TuneProgress&)>& show_;
  const ScratchFolder folder_;
  const Clock::time_point start_ = Clock::now();
  std::vector<std::string> graph_ = settings_.graph;  // what candidates are compiled from
  TuneState state_;
  Choice defaults_, best_;
  std::map<std::pair<SizeClass, Choice>, Built> kernels_;
  int built_ = 0;
  std::string trusted_, save_problem_;
  double compile_limit_s_ = first_compile_limit_s;
  double call_s_ = 0;  // of all shapes, by the default schedules
};

}  // namespace

TuneResult run_tuner(const Prepared& prepared, const TunePlan& plan, const TuneSettings& settings,
                     const std::function<void(const TuneProgress&)>& show) {
  return Tuner(prepared, plan, settings, show).run();
}

}  // namespace attune
