#include "tools/attune/tune_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/attune/json_text.h"

namespace attune {
namespace {

std::string ratio_text(double by_default, double tuned) { return fmt::format("{:.3f} x", by_default / tuned); }

/// What a default became for each call of the set.
void print_races(const TunePlan& plan, const TunedTask& task) {
  for (std::size_t i = 0; i < task.races.size(); ++i) {
    if (task.races[i].candidate_ms <= 0) continue;  // the budget was over before it
    const PlannedCall& call = plan.calls[task.task->calls[i]];
    fmt::print("    {:>9.4g} ms  {}  {}: {}\n", task.races[i].candidate_ms, ratio_text(task.races[i].incumbent_ms, task.races[i].candidate_ms),
               plan.subjects[call.subject].subject.title, call.shape);
  }
}

}  // namespace

void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

ProgressLine::ProgressLine(double budget_s) : budget_s_(budget_s), is_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::operator()(const TuneProgress& p) {
  if (!is_terminal_ && p.task == last_task_) return;
  last_task_ = p.task;
  constexpr int width = 24;
  const int done = static_cast<int>(std::min(p.elapsed_s / budget_s_, 1.0) * width);
  say(fmt::format("{}[{:=<{}}{: <{}}] {:.0f} of {:.0f} s  stage {} of {}: {}: {} tried, {} failed, best {:.3f} x{}", is_terminal_ ? "\r\033[K" : "",
                  "", done, "", width - done, p.elapsed_s, budget_s_, p.task + 1, p.tasks, p.title, p.tried, p.failed, p.speedup,
                  is_terminal_ ? "" : "\n"));
}

void ProgressLine::end() const {
  if (is_terminal_) say("\r\033[K");
}

void print_result(const TunePlan& plan, const TuneResult& result, const std::string& out) {
  const bool is_for_defaults = plan.records_for == RecordsFor::defaults;
  std::size_t written = 0;
  for (const TunedTask& task : result.tasks) {
    const std::string title = is_for_defaults ? fmt::format("{}, {}", task.task->schedule, name_of(task.task->size)) : task.task->title();
    fmt::print("{} ({} tried{})\n", title, task.tried, task.failed == 0 ? "" : fmt::format(", {} failed", task.failed));
    if (!is_for_defaults) fmt::print("  calls    {}\n", plan.shapes_of(*task.task));
    fmt::print("  default  {}  {}\n", task.default_ms > 0 ? fmt::format("{:.4g} ms", task.default_ms) : "not timed, as the budget was over;",
               task.task->describe(task.task->by_default));
    if (task.is_better)
      fmt::print("  tuned    {:.4g} ms  {}  {}\n", task.tuned_ms, task.task->describe(task.task->space.point(task.parameters)),
                 ratio_text(task.default_ms, task.tuned_ms));
    else
      fmt::print("  tuned    {}\n",
                 task.tried == 0 ? "nothing was tried: there was no time, or nothing to choose" : "nothing was surely faster than the default");
    if (is_for_defaults) print_races(plan, task);
    if (!task.first_failure.empty()) fmt::print("  failed   {}\n", task.first_failure);
    if (task.task->small_up_to > 0)
      fmt::print("  calls are small up to {}{}\n", task.small_up_to,
                 task.small_up_to == task.task->small_up_to ? "" : fmt::format(", not {}", task.task->small_up_to));
    written += is_worth_a_record(task) ? 1 : 0;
  }
  if (is_for_defaults)
    fmt::print("The defaults, {} of them changed, are written to {}\n", written, out);
  else if (written > 0)
    fmt::print("{} record{} written to {}\n", written, written == 1 ? "" : "s", out);
  else if (std::error_code ignored; std::filesystem::exists(out, ignored))
    fmt::print("No record is written; {} stays as it was\n", out);
  else
    fmt::print("No file is written: kernels are best as they are by default, without --tuned\n");
}

void print_result_json(const TunePlan& plan, const TuneResult& result, const TuneSettings& settings, const std::string& out) {
  using Json = nlohmann::ordered_json;
  const bool is_for_defaults = plan.records_for == RecordsFor::defaults;
  Json tasks = Json::array();
  const auto measured = [](double ms) { return ms > 0 ? Json(ms) : Json(); };
  bool is_written = is_for_defaults;
  for (const TunedTask& task : result.tasks) {
    Json parameters = Json::object(), by_default = Json::object(), calls = Json::array();
    for (const Parameter& p : task.parameters) parameters[p.name] = p.value;
    for (const Parameter& p : task.task->space.values(task.task->by_default)) by_default[p.name] = p.value;
    for (std::size_t i = 0; i < task.races.size(); ++i) {
      const PlannedCall& call = plan.calls[task.task->calls[i]];
      calls.push_back({{"graph", plan.subjects[call.subject].subject.title},
                       {"shape", call.shape},
                       {"default_ms", measured(task.races[i].incumbent_ms)},
                       {"tuned_ms", measured(task.races[i].candidate_ms)}});
    }
    tasks.push_back({{"stage", is_for_defaults ? Json() : Json(task.task->keys.front().stage)},
                     {"schedule", task.task->schedule},
                     {"size", std::string(name_of(task.task->size))},
                     {"shape", plan.shapes_of(*task.task)},
                     {"tried", task.tried},
                     {"failed", task.failed},
                     {"default", by_default},
                     {"parameters", parameters},
                     {"is_better", task.is_better},
                     {"small_up_to", task.small_up_to > 0 ? Json(task.small_up_to) : Json()},
                     {"default_ms", measured(task.default_ms)},
                     {"tuned_ms", measured(task.tuned_ms)},
                     {"calls", calls}});
    is_written |= is_worth_a_record(task);
  }
  const Json root = {{"target", settings.target}, {"threads", settings.threads}, {"out", is_written ? Json(out) : Json()}, {"stages", tasks}};
  fmt::print("{}\n", text_of_json(root));
}

}  // namespace attune
