#include "tools/attune/device_peak.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "tools/attune/kernel_file.h"
#include "tools/attune/peak_graphs.h"
#include "tools/attune/trial.h"
#include "tools/measure/placed_call.h"

namespace attune {
namespace {

/// Seconds of the fastest call and how many elements it has; or the problem.
struct Fastest {
  double seconds = 0, elements = 0;
  std::string problem;
};

Fastest fastest_call(const Kernel& kernel, std::int64_t elements) {
  constexpr int calls = 5;
  const Shape extents = peak_shape(elements);
  Arrays inputs;
  for (const attune_tensor_v1& tensor : kernel.inputs()) {
    Array& input = inputs[tensor.name];
    input.extents = extents_of(kernel, tensor, extents);
    input.data.assign(input.element_count(), 0.5);
  }
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
Fastest throughput(const TargetInfo& target, const std::string& device, const PeakGraph& peak) {
  constexpr double long_enough_s = 5e-3;
  constexpr std::int64_t fewest = 1 << 14, most = 1 << 27;
  const Prepared prepared = prepare(peak_options(target.name), peak.graph());
  if (!prepared.problem.empty()) return {0, 0, prepared.problem};
  const OpenKernel open = open_kernel(prepared, {.device = device});
  if (!open.problem.empty()) return {0, 0, open.problem};
  Fastest fastest;
  for (std::int64_t elements = fewest; elements <= most && fastest.seconds < long_enough_s && fastest.problem.empty(); elements *= 4)
    fastest = fastest_call(*open.kernel, elements);
  return fastest;
}

}  // namespace

DevicePeak device_peak(const TargetInfo& target, const std::string& device) {
  const auto [fma, copy] = peak_graphs();
  const Fastest chained = throughput(target, device, fma);
  if (!chained.problem.empty()) return {0, 0, chained.problem};
  const Fastest copied = throughput(target, device, copy);
  if (!copied.problem.empty()) return {0, 0, copied.problem};
  return {chained.elements * fma.flops / chained.seconds * 1e-9, copied.elements * copy.bytes / copied.seconds * 1e-9, {}};
}

}  // namespace attune
