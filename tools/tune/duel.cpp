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

Kernel opened(const std::string& path, const std::string& name, const std::string& device) {
  const Result<Library> library = Library::open(path);
  if (!library) throw Lost{library.error().message};
  Result<Kernel> kernel = device.empty() ? library->kernel(name) : library->kernel(name, device);
  if (!kernel) throw Lost{kernel.error().message};
  return std::move(kernel).value();
}

void call(Trial& trial, const Kernel& kernel) {
  if (const Result<void> called = trial.call(kernel); !called) throw Lost{called.error().message};
}

/// The outputs of a trial by name.
Arrays outputs_of(const Trial& trial) {
  Arrays outputs;
  for (const std::size_t i : trial.results) {
    const StoredArray& array = trial.arrays[i];
    Array output;
    output.extents = array.extents;
    output.data = numbers(array);
    outputs.emplace(trial.name(i), std::move(output));
  }
  return outputs;
}

void check(const DuelCall& given, const Kernel& trusted, const Kernel& candidate) {
  Trial trial = trial_of(candidate, given.extents, given.inputs);
  Arrays expected = given.expected;
  if (expected.empty()) {
    call(trial, trusted);
    expected = outputs_of(trial);
    trial.fill_outputs(std::byte{0});
  }
  call(trial, candidate);
  for (const auto& [name, got] : outputs_of(trial)) {
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

/// The three kernels of a DuelKernel, open.
struct OpenKernels {
  Kernel trusted, incumbent, candidate;
};

/// What is timed: a call, how often it is repeated so that the clock is fine enough, and the times of both kernels.
struct Course {
  const OpenKernels* kernels;
  std::vector<PlacedCall> places;
  int calls = 1;
  std::vector<double> incumbent, candidate;

  /// Where it takes longest.
  double seconds(const Kernel& kernel) const {
    double longest = 0;
    for (const PlacedCall& placed : places) longest = std::max(longest, attune::seconds(placed, kernel, calls));
    return longest;
  }
};

/// On a device; on the CPU at lines and as malloc gives them: callers have both.
std::vector<PlacedCall> places_of(const std::vector<StoredArray>& arrays, const Kernel& kernel) {
  std::vector<PlacedCall> places;
  if (kernel.device() == nullptr) {
    for (const std::size_t offset : {aligned, as_from_malloc}) places.emplace_back(arrays, offset);
    return places;
  }
  Result<PlacedCall> placed = PlacedCall::on(*kernel.device(), arrays);
  if (!placed) throw Lost{placed.error().message};
  places.push_back(std::move(*placed));
  return places;
}

Course course_of(const DuelCall& race, const OpenKernels& kernels) {
  constexpr double shortest_s = 1e-3;
  const std::vector<StoredArray> arrays = trial_of(kernels.incumbent, race.extents, race.inputs).arrays;
  Course course{&kernels, places_of(arrays, kernels.incumbent), 1, {}, {}};
  const double once = (course.seconds(kernels.incumbent), course.seconds(kernels.incumbent));
  course.seconds(kernels.candidate);
  course.calls = static_cast<int>(std::clamp(std::ceil(shortest_s / std::max(once, 1e-7)), 1.0, 10000.0));
  return course;
}

/// A pair: both kernels on each course, the one that begins changing from pair to pair. Gives the geometric mean of the ratios.
double pair(std::vector<Course>& courses, bool is_candidate_first) {
  double logarithm = 0;
  for (Course& course : courses) {
    for (const bool is_candidate : {is_candidate_first, !is_candidate_first})
      (is_candidate ? course.candidate : course.incumbent)
          .push_back(course.seconds(is_candidate ? course.kernels->candidate : course.kernels->incumbent));
    logarithm += std::log(course.candidate.back() / course.incumbent.back());
  }
  return std::exp(logarithm / static_cast<double>(courses.size()));
}

DuelAnswer fought(const Duel& duel) {
  if (duel.device.empty())
    if (const Result<void> set = set_num_threads(duel.threads); !set) throw Lost{set.error().message};
  std::vector<OpenKernels> open;
  for (const DuelKernel& kernel : duel.kernels)
    open.push_back({opened(kernel.trusted, kernel.name, duel.device), opened(kernel.incumbent, kernel.name, duel.device),
                    opened(kernel.candidate, kernel.name, duel.device)});
  std::vector<Course> courses;
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const std::vector<DuelCall>* calls : {&duel.kernels[i].checks, &duel.kernels[i].races})
      for (const DuelCall& given : *calls) check(given, open[i].trusted, open[i].candidate);
    for (const DuelCall& race : duel.kernels[i].races) courses.push_back(course_of(race, open[i]));
  }
  Race race(duel.rules);
  for (bool is_candidate_first = false; race.verdict() == Verdict::undecided; is_candidate_first = !is_candidate_first)
    race.add(pair(courses, is_candidate_first));
  DuelAnswer answer{race.verdict(), race.median(), {}, race.pairs(), {}};
  constexpr double ms = 1e3;
  for (const Course& course : courses) answer.races.push_back({median(course.incumbent) * ms, median(course.candidate) * ms});
  return answer;
}

std::string text_of(const DuelAnswer& answer) {
  auto races = nlohmann::json::array();
  for (const RaceTimes& times : answer.races) races.push_back({times.incumbent_ms, times.candidate_ms});
  return nlohmann::json{
      {"verdict", static_cast<int>(answer.verdict)}, {"ratio", answer.ratio}, {"races", races}, {"pairs", answer.pairs}, {"problem", answer.problem}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

DuelAnswer lost(std::string problem) { return {Verdict::not_faster, 0, {}, 0, std::move(problem)}; }

}  // namespace

RaceTimes mean_of(const std::vector<RaceTimes>& races) {
  RaceTimes mean{1, 1};
  for (const RaceTimes& times : races) {
    const double share = 1.0 / static_cast<double>(races.size());
    mean.incumbent_ms *= std::pow(times.incumbent_ms, share);
    mean.candidate_ms *= std::pow(times.candidate_ms, share);
  }
  return races.empty() ? RaceTimes{} : mean;
}

DuelAnswer run_duel(const Duel& duel, double limit_s) {
  const ChildAnswer child = in_child(
      [&] {
        try {
          return text_of(fought(duel));
        } catch (const Lost& end) {
          return text_of(lost(end.problem));
        }
      },
      limit_s);
  if (!child.problem.empty()) return lost(child.problem);
  const auto json = nlohmann::json::parse(child.text, nullptr, false);
  if (json.is_discarded()) return lost("gave no answer");
  DuelAnswer answer{static_cast<Verdict>(json["verdict"].get<int>()), json["ratio"], {}, json["pairs"], json["problem"]};
  for (const auto& times : json["races"]) answer.races.push_back({times[0], times[1]});
  return answer;
}

}  // namespace attune
