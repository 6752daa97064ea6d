#include "tools/attune/device_peak.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "dsl/graph_build.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"
#include "tools/measure/placed_call.h"

namespace attune {
namespace {

/// A chain takes longer than to load what it begins with, and its code fits into the caches of instructions.
constexpr int chain = 96;

Graph elementwise(const char* name, Value (*compute)(const Value& x)) {
  Graph g;
  const Dim elements = g.dim("elements");
  const Value x = g.input("x", {elements});
  g.output(name, compute(x), {elements});
  g.finish();
  return g;
}

/// Of numbers below 1 it goes to a number.
Value chained(const Value& x) {
  Value y = x;
  for (int n = 0; n < chain; ++n) y = y * x + x;
  return y;
}

/// Seconds of the fastest call and how many elements it has; or the problem.
struct Fastest {
  double seconds = 0, elements = 0;
  std::string problem;
};

Fastest fastest_call(const Kernel& kernel, std::int64_t elements) {
  constexpr int calls = 5;
  const Shape extents{{"elements", elements}};
  Array x;
  x.extents = {elements};
  x.data.assign(static_cast<std::size_t>(elements), 0.5);
  Arrays inputs;
  inputs.emplace("x", std::move(x));
  const Result<PlacedCall> placed = PlacedCall::on(*kernel.device(), trial_of(kernel, extents, inputs).arrays);
  if (!placed) return {0, 0, placed.error().message};
  std::optional<double> best;
  for (int n = 0; n < calls; ++n) {
    const auto start = std::chrono::steady_clock::now();
    if (const Result<void> called = (*placed)(kernel); !called) return {0, 0, called.error().message};
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best.value_or(seconds), seconds);
  }
  return {*best, static_cast<double>(elements), {}};
}

/// Elements a second, of calls that are long enough for what it takes to begin one.
Fastest throughput(const TargetInfo& target, const std::string& device, const char* name, Value (*compute)(const Value& x)) {
  constexpr double long_enough_s = 5e-3;
  constexpr std::int64_t fewest = 1 << 14, most = 1 << 27;
  Options options;
  options.targets = target.name;
  LoadedGraph graph;
  graph.name = name;
  graph.graph = elementwise(name, compute);
  const Prepared prepared = prepare(options, graph);
  if (!prepared.problem.empty()) return {0, 0, prepared.problem};
  const OpenKernel open = open_kernel(prepared, device);
  if (!open.problem.empty()) return {0, 0, open.problem};
  Fastest fastest;
  for (std::int64_t elements = fewest; elements <= most && fastest.seconds < long_enough_s && fastest.problem.empty(); elements *= 4) fastest = fastest_call(*open.kernel, elements);
  return fastest;
}

}  // namespace

DevicePeak device_peak(const TargetInfo& target, const std::string& device) {
  const Fastest fma = throughput(target, device, "fma", chained);
  if (!fma.problem.empty()) return {0, 0, fma.problem};
  const Fastest copy = throughput(target, device, "copy", [](const Value& x) { return -x; });
  if (!copy.problem.empty()) return {0, 0, copy.problem};
  constexpr double operations = 2.0 * chain, bytes = 2 * sizeof(float);
  return {fma.elements * operations / fma.seconds * 1e-9, copy.elements * bytes / copy.seconds * 1e-9, {}};
}

}  // namespace attune
