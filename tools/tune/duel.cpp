#include "tools/tune/duel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/library.h"
#include "runtime/threads.h"
#include "tools/measure/placed_call.h"
#include "tools/tune/child.h"

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

/// A problem in words, on its way to the one place that catches it.
struct Lost {
  std::string problem;
};

Kernel opened(const std::string& path, const std::string& name) {
  const Result<Library> library = Library::open(path);
  if (!library) throw Lost{library.error().message};
  Result<Kernel> kernel = library->kernel(name);
  if (!kernel) throw Lost{kernel.error().message};
  return std::move(kernel).value();
}

void call(Trial& trial, const Kernel& kernel) {
  if (const Result<void> called = trial.call(kernel); !called) throw Lost{called.error().message};
}

/// The outputs of a trial by name.
Arrays outputs_of(const Kernel& kernel, const Trial& trial) {
  Arrays outputs;
  for (std::size_t i = 0; i < kernel.outputs().size(); ++i) {
    const StoredArray& array = trial.arrays[trial.input_count + i];
    Array output;
    output.extents = array.extents;
    output.data = numbers(array);
    outputs.emplace(kernel.outputs()[i].name, std::move(output));
  }
  return outputs;
}

void check(const DuelCall& given, const Kernel& trusted, const Kernel& candidate) {
  Trial trial = trial_of(candidate, given.extents, given.inputs);
  Arrays expected = given.expected;
  if (expected.empty()) {
    call(trial, trusted);
    expected = outputs_of(trusted, trial);
    for (std::size_t i = trial.input_count; i < trial.arrays.size(); ++i) std::ranges::fill(trial.arrays[i].bytes, std::byte{0});
  }
  call(trial, candidate);
  for (const auto& [name, got] : outputs_of(candidate, trial)) {
    const Array& right = expected.find(name)->second;
    Allowance allowed = given.allowed.find(name)->second;
    if (given.expected.empty()) allowed.number *= root_mean_square(right.data);
    const Difference difference = compare(got.data, right, allowed);
    if (difference.differing > 0) throw Lost{fmt::format("{}: {}", name, describe(difference))};
  }
}

/// Seconds of `calls` calls, each.
double seconds(const PlacedCall& placed, const Kernel& kernel, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i)
    if (const Result<void> called = placed(kernel); !called) throw Lost{called.error().message};
  return std::chrono::duration<double>(Clock::now() - start).count() / calls;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// What is timed: a call, how often it is repeated so that the clock is fine enough, and the times of both kernels.
struct Course {
  PlacedCall at_lines, unaligned;
  int calls = 1;
  std::vector<double> incumbent, candidate;

  /// Of tensors at lines or as malloc gives them, whichever takes longer: callers have both.
  double seconds(const Kernel& kernel) const { return std::max(attune::seconds(at_lines, kernel, calls), attune::seconds(unaligned, kernel, calls)); }
};

std::vector<Course> courses_of(const Duel& duel, const Kernel& incumbent, const Kernel& candidate) {
  constexpr double shortest_s = 1e-3;
  std::vector<Course> courses;
  for (const DuelCall& race : duel.races) {
    const std::vector<StoredArray> arrays = trial_of(incumbent, race.extents, race.inputs).arrays;
    Course course{{arrays, aligned}, {arrays, as_from_malloc}, 1, {}, {}};
    const double once = (course.seconds(incumbent), course.seconds(incumbent));
    course.seconds(candidate);
    course.calls = static_cast<int>(std::clamp(std::ceil(shortest_s / std::max(once, 1e-7)), 1.0, 10000.0));
    courses.push_back(std::move(course));
  }
  return courses;
}

/// A pair: both kernels on each course, the one that begins changing from pair to pair. Gives the geometric mean of the ratios.
double pair(std::vector<Course>& courses, const Kernel& incumbent, const Kernel& candidate, bool is_candidate_first) {
  double logarithm = 0;
  for (Course& course : courses) {
    for (const bool is_candidate : {is_candidate_first, !is_candidate_first})
      (is_candidate ? course.candidate : course.incumbent).push_back(course.seconds(is_candidate ? candidate : incumbent));
    logarithm += std::log(course.candidate.back() / course.incumbent.back());
  }
  return std::exp(logarithm / static_cast<double>(courses.size()));
}

DuelAnswer fought(const Duel& duel) {
  if (const Result<void> set = set_num_threads(duel.threads); !set) throw Lost{set.error().message};
  const Kernel trusted = opened(duel.trusted, duel.kernel), incumbent = opened(duel.incumbent, duel.kernel), candidate = opened(duel.candidate, duel.kernel);
  for (const DuelCall& given : duel.checks) check(given, trusted, candidate);
  for (const DuelCall& given : duel.races) check(given, trusted, candidate);
  std::vector<Course> courses = courses_of(duel, incumbent, candidate);
  Race race(duel.rules);
  for (bool is_candidate_first = false; race.verdict() == Verdict::undecided; is_candidate_first = !is_candidate_first)
    race.add(pair(courses, incumbent, candidate, is_candidate_first));
  DuelAnswer answer{race.verdict(), race.median(), 1, 1, race.pairs(), {}};
  for (const Course& course : courses) {
    const double share = 1.0 / static_cast<double>(courses.size());
    answer.incumbent_ms *= std::pow(median(course.incumbent) * 1e3, share);
    answer.candidate_ms *= std::pow(median(course.candidate) * 1e3, share);
  }
  return answer;
}

std::string text_of(const DuelAnswer& answer) {
  return nlohmann::json{{"verdict", static_cast<int>(answer.verdict)}, {"ratio", answer.ratio},   {"incumbent_ms", answer.incumbent_ms},
                        {"candidate_ms", answer.candidate_ms},         {"pairs", answer.pairs}, {"problem", answer.problem}}
      .dump();
}

}  // namespace

DuelAnswer run_duel(const Duel& duel, double limit_s) {
  const ChildAnswer child = in_child(
      [&] {
        try {
          return text_of(fought(duel));
        } catch (const Lost& lost) {
          return text_of({Verdict::not_faster, 0, 0, 0, 0, lost.problem});
        }
      },
      limit_s);
  if (!child.problem.empty()) return {Verdict::not_faster, 0, 0, 0, 0, child.problem};
  const auto json = nlohmann::json::parse(child.text, nullptr, false);
  if (json.is_discarded()) return {Verdict::not_faster, 0, 0, 0, 0, "gave no answer"};
  return {static_cast<Verdict>(json["verdict"].get<int>()), json["ratio"], json["incumbent_ms"], json["candidate_ms"], json["pairs"], json["problem"]};
}

}  // namespace attune
