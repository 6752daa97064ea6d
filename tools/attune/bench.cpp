#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/threads.h"
#include "tools/attune/commands.h"
#include "tools/attune/device_peak.h"
#include "tools/attune/file_inputs.h"
#include "tools/attune/json_text.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"
#include "tools/attune/work.h"
#include "tools/measure/peak.h"
#include "tools/measure/placed_call.h"
#include "tools/measure/score_mask.h"

namespace attune {
namespace {

struct BenchOptions : Options {
  std::string shape, device;
  std::vector<std::string> inputs;
  int threads = 0;
  bool is_json = false;
};

/// Milliseconds of single calls.
struct Times {
  std::vector<double> milliseconds;

  double minimum() const { return *std::ranges::min_element(milliseconds); }
  double median() const {
    std::vector<double> sorted = milliseconds;
    std::ranges::sort(sorted);
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
};

/// Of tensors at lines and of tensors as malloc gives them, and the peak measured between them. On a device of tensors that are there.
struct Measurement {
  Times at_lines, unaligned;
  double peak_gflops = 0;
  double copy_gbytes = 0;  ///< of a device
  std::string problem;
};

constexpr double enough_seconds = 0.5, stretch_seconds = 0.1;
constexpr std::size_t enough_calls = 10;

/// Of the arithmetic that the target has for the type: bf16 dot products for bf16, f32 FMAs otherwise.
double peak_gflops(const Prepared& prepared, const TargetInfo& target, int threads, double seconds) {
  const bool is_bf16 = prepared.staging.specialisation.reals == Element::bf16 && target.has_bf16_dot;
  return is_bf16 ? bf16_peak_gflops(target.features, threads, seconds) : fma_peak_gflops(target.features, threads, seconds);
}

/// Calls the kernel on either tensors for at least half a second and 10 times, in turn. The peak is measured in the same stretch of time, several
/// times between calls and in runs as long as a call, so that both see the same clock and the same neighbours.
Measurement measure(std::vector<StoredArray> arrays, const Kernel& kernel, const std::function<double(double seconds)>& peak) {
  constexpr int peaks_a_stretch = 5;
  using Clock = std::chrono::steady_clock;
  Measurement result;
  const PlacedCall at_lines(arrays, aligned), unaligned(arrays, as_from_malloc);
  arrays.clear();
  const auto call = [&](const PlacedCall& placed) {
    const auto start = Clock::now();
    const Result<void> called = placed(kernel);
    if (!called) result.problem = called.error().message;
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double shortest = stretch_seconds / peaks_a_stretch;
  for (double warm = 0; warm < stretch_seconds && result.problem.empty();) {
    const double seconds = call(at_lines);
    shortest = std::min(shortest, seconds);
    warm += seconds;
  }
  for (double total = 0; (total < enough_seconds || result.at_lines.milliseconds.size() < enough_calls) && result.problem.empty();) {
    for (int n = 0; n < peaks_a_stretch; ++n) result.peak_gflops = std::max(result.peak_gflops, peak(shortest));
    for (const auto& [placed, times] : {std::pair{&at_lines, &result.at_lines}, std::pair{&unaligned, &result.unaligned}})
      for (double stretch = 0; stretch < stretch_seconds && result.problem.empty();) {
        const double seconds = call(*placed);
        times->milliseconds.push_back(seconds * 1e3);
        stretch += seconds;
        total += seconds / 2;
      }
  }
  return result;
}

/// The same on the kernel's device, whose peak is measured before.
Measurement measure_on_device(const std::vector<StoredArray>& arrays, const Kernel& kernel, const TargetInfo& target) {
  using Clock = std::chrono::steady_clock;
  Measurement result;
  const DevicePeak peak = device_peak(target, kernel.device()->text());
  if (!peak.problem.empty()) return {{}, {}, 0, 0, peak.problem};
  result.peak_gflops = peak.fma_gflops;
  result.copy_gbytes = peak.copy_gbytes;
  const Result<PlacedCall> placed = PlacedCall::on(*kernel.device(), arrays);
  if (!placed) return {{}, {}, 0, 0, placed.error().message};
  for (double total = 0; total < enough_seconds || result.at_lines.milliseconds.size() < enough_calls;) {
    const auto start = Clock::now();
    if (const Result<void> called = (*placed)(kernel); !called) return {{}, {}, 0, 0, called.error().message};
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    // The first call loads code.
    if (total > 0) result.at_lines.milliseconds.push_back(seconds * 1e3);
    total += seconds;
  }
  return result;
}

struct Figures {
  std::string variant, parameters, target, type;
  std::string device;  ///< "cuda:0 (NVIDIA H100)"; empty on the CPU
  Shape shape;  ///< free dims
  int threads = 1;
  std::size_t calls = 0;
  double minimum_ms = 0, median_ms = 0, unaligned_ms = 0, gflops = 0, peak_gflops = 0, copy_gbytes = 0;
  double bytes = 0;  ///< of inputs and outputs
  Portion blocks;
  double peak_share() const { return gflops / peak_gflops; }
  double gbytes() const { return bytes / minimum_ms * 1e-6; }
};

/// What was measured of so much work, on a device unless it is null; the call itself is not described.
Figures figures_of(const Measurement& measured, const Work& work, const DriverDevice* device) {
  Figures figures;
  if (device != nullptr) figures.device = fmt::format("{} ({})", device->text(), device->name());
  figures.threads = num_threads();
  figures.calls = measured.at_lines.milliseconds.size();
  figures.minimum_ms = measured.at_lines.minimum();
  figures.median_ms = measured.at_lines.median();
  if (device == nullptr) figures.unaligned_ms = measured.unaligned.minimum();
  figures.gflops = work.flops / figures.minimum_ms * 1e-6;
  figures.peak_gflops = measured.peak_gflops;
  figures.copy_gbytes = measured.copy_gbytes;
  figures.blocks = work.all_blocks();
  return figures;
}

void print_json(const Figures& f) {
  nlohmann::ordered_json shape = nlohmann::ordered_json::object();
  for (const auto& [dim, extent] : f.shape) shape[dim] = extent;
  nlohmann::ordered_json root = {{"variant", f.variant}, {"parameters", f.parameters}, {"target", f.target}, {"type", f.type}, {"shape", shape}};
  if (f.device.empty()) root["threads"] = f.threads;
  else root["device"] = f.device;
  root["milliseconds_min"] = f.minimum_ms;
  root["milliseconds_median"] = f.median_ms;
  if (f.device.empty()) root["milliseconds_min_unaligned"] = f.unaligned_ms;
  root["gflops"] = f.gflops;
  root["peak_gflops"] = f.peak_gflops;
  root["peak_share"] = f.peak_share();
  if (!f.device.empty()) root.update({{"gbytes", f.gbytes()}, {"copy_gbytes", f.copy_gbytes}});
  root["visited_blocks"] = f.blocks.part;
  root["all_blocks"] = f.blocks.whole;
  fmt::print("{}\n", text_of_json(root));
}

void print_text(const Figures& f, const std::string& shape) {
  const std::string variant = f.parameters.empty() ? f.variant : fmt::format("{} ({})", f.variant, f.parameters);
  const std::string where = f.device.empty() ? fmt::format("{} thread{}", f.threads, f.threads == 1 ? "" : "s") : f.device;
  fmt::print("{} for {}, {}, {}\n{}\n", variant, f.target, f.type, where, shape);
  fmt::print("  time    {:.4g} ms at least, {:.4g} ms in the median of {} calls", f.minimum_ms, f.median_ms, f.calls);
  if (f.device.empty()) fmt::print("; of tensors {} bytes beyond a line {:.4g} ms at least", as_from_malloc, f.unaligned_ms);
  fmt::print("\n");
  if (f.gflops == 0) fmt::print("  speed   {:.4g} GB/s of inputs and outputs, each once; there is no product\n", f.gbytes());
  else if (f.device.empty()) fmt::print("  speed   {:.4g} GFLOP/s of visible pairs, {:.1f} % of the measured peak of {:.4g} GFLOP/s\n", f.gflops, 100 * f.peak_share(), f.peak_gflops);
  // Tensor cores have another peak.
  else fmt::print("  speed   {:.4g} GFLOP/s of visible pairs, {:.4g} times the {:.4g} GFLOP/s that FMAs of f32 reach there\n", f.gflops, f.peak_share(), f.peak_gflops);
  if (!f.device.empty()) fmt::print("  memory  {:.4g} GB/s of inputs and outputs, each once, {:.1f} % of a copy's {:.4g} GB/s\n", f.gbytes(), 100 * f.gbytes() / f.copy_gbytes, f.copy_gbytes);
  if (f.blocks.whole > 0) fmt::print("  blocks  {} of {} visited ({:.1f} %)\n", f.blocks.part, f.blocks.whole, 100 * f.blocks.share());
}

/// Of the targets the one whose code a kernel runs: on the device that it was given, or this CPU's best.
const TargetInfo& measured_target(const Prepared& prepared, const Kernel& kernel) {
  const auto is_of_device = [&](const TargetInfo* target) { return static_cast<attune_device>(target->device) == kernel.device()->kind(); };
  return kernel.device() == nullptr ? *best_here(prepared.targets) : **std::ranges::find_if(prepared.targets, is_of_device);
}

int bench(const BenchOptions& options) {
  if (options.threads != 0)
    if (const Result<void> set = set_num_threads(options.threads); !set) return refuse("--threads: " + set.error().message);
  const FileInputs given = read_inputs(options.inputs);
  if (!given.problem.empty()) return refuse(given.problem);
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  const FilledShape filled = fill_shape(prepared, options.shape);
  if (!filled.problem.empty()) return refuse(filled.problem);
  if (const std::string problem = memory_problem(prepared.graph.graph, filled.extents, 0); !problem.empty()) return refuse(problem);
  Arrays inputs = random_inputs(prepared.graph.graph, filled.extents, 1);
  if (const std::string problem = put_inputs(prepared.graph.graph, given, inputs); !problem.empty()) return refuse(problem);
  const OpenKernel open = open_kernel(prepared, {.device = options.device, .calls = {filled.extents}});
  if (!open.problem.empty()) return refuse(open.problem);
  const DriverDevice* device = open.kernel->device();
  const TargetInfo& target = measured_target(prepared, *open.kernel);
  const KernelReport report = report_kernel(prepared, target);
  if (!report.problem.empty()) return refuse(report.problem);

  const Work work = work_of(report, filled.extents, inputs);
  std::vector<StoredArray> arrays = trial_of(*open.kernel, filled.extents, inputs).arrays;
  double bytes = 0;
  for (const StoredArray& array : arrays) bytes += static_cast<double>(array.bytes.size());
  const Measurement measured = device != nullptr ? measure_on_device(arrays, *open.kernel, target)
                                                 : measure(std::move(arrays), *open.kernel,
                                                           [&](double seconds) { return peak_gflops(prepared, target, num_threads(), seconds); });
  if (!measured.problem.empty()) return refuse(measured.problem);

  Figures figures = figures_of(measured, work, device);
  figures.variant = prepared.graph.name;
  figures.parameters = prepared.graph.parameters;
  figures.target = target.name;
  figures.type = options.types;
  figures.bytes = bytes;
  for (const DimInfo& info : prepared.graph.graph.dim_infos())
    if (info.derivation.formula == Formula::free) figures.shape.emplace(info.name(), filled.extents.find(info.name())->second);
  if (options.is_json) print_json(figures);
  else print_text(figures, shape_text(prepared.graph.graph, filled.extents));
  return 0;
}

}  // namespace

void add_bench(Program& program) {
  auto options = std::make_shared<BenchOptions>();
  const Command command = program.command("bench", "Measure a kernel on this machine, beside the machine's peak");
  add_graph_options(command, *options);
  command.text("--shape", options->shape, "DIM=EXTENT,...: what is not given has an odd default; value_depth is depth", Need::required);
  command.texts("--in", options->inputs, "NAME=FILE.npy: an input, as the ids that a mask depends on; others are random");
  command.number("--threads", options->threads, 1, 256, "1 to 256; as many as the machine has CPUs without it");
  add_device_option(command, options->device);
  command.flag("--json", options->is_json, "Print one JSON object");
  command.footer(
      "Arithmetic is that of the matmuls over visible pairs; the speed is that of the fastest call, of tensors that begin with a\n"
      "line of 64 bytes, as frameworks allocate them; those of malloc begin 16 bytes beyond. On a device\n"
      "(--target cuda) tensors are there already. A block is query_tile x edge_tile of the schedule's tiles.\n"
      "Examples:\n"
      "  attune bench causal --shape batch=1,heads=8,queries=4096,keys=4096,depth=64 --threads 1\n"
      "  attune bench sliding_window --param window=512 --shape batch=1,heads=8,queries=4096,keys=4096,depth=64 --json\n"
      "  attune bench causal --schedule online_softmax,query_tile=96 --shape batch=1,heads=8,queries=4096,keys=4096,depth=64");
  command.action([options] { return bench(*options); });
}

}  // namespace attune
