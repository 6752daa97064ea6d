// Kernels of single stages and the peaks of the machine, one thread, through Google Benchmark.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/threads.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"
#include "tools/measure/peak.h"

namespace attune {
namespace {

/// A kernel that is compiled when its benchmark first runs, and what its matmuls compute in a call.
struct StageBenchmark {
  const char *name, *variant, *schedule, *shape;
  double flops;
};

constexpr StageBenchmark stage_benchmarks[] = {
    {"online_softmax/512x512x64", "scaled_dot_product", "", "batch=1,heads=4,queries=512,keys=512,depth=64", 4. * 4 * 512 * 512 * 64},
    {"online_softmax/64x64x64", "scaled_dot_product", "", "batch=1,heads=4,queries=64,keys=64,depth=64", 4. * 4 * 64 * 64 * 64},
    {"online_softmax/1x4096x128", "scaled_dot_product", "", "batch=1,heads=8,queries=1,keys=4096,depth=128", 4. * 8 * 4096 * 128},
    {"online_softmax/causal", "causal", "", "batch=1,heads=4,queries=512,keys=512,depth=64", 2. * 4 * 512 * 513 * 64},
    {"gemm+row_softmax+gemm/512x512x64", "scaled_dot_product", "unfused", "batch=1,heads=4,queries=512,keys=512,depth=64", 4. * 4 * 512 * 512 * 64},
    {"pairwise_sum/128x128x128", "additive", "", "batch=1,queries=128,keys=128,depth=64,key_depth=64,value_depth=64,hidden=128", 0},
};

struct OpenStage {
  std::unique_ptr<Prepared> prepared;
  OpenKernel open;
  Trial trial;
  std::string problem;
};

OpenStage open_stage(const StageBenchmark& stage) {
  Options options;
  options.graph.graph = stage.variant;
  options.schedule = stage.schedule;
  OpenStage result{std::make_unique<Prepared>(prepare(options)), {}, {}, {}};
  if (!(result.problem = result.prepared->problem).empty()) return result;
  const ShapeAnswer parsed = parse_shape(stage.shape, "shape");
  if (!(result.problem = parsed.problem).empty()) return result;
  const FilledShape filled = fill_shape(result.prepared->graph.graph, parsed.extents);
  if (!(result.problem = filled.problem).empty()) return result;
  result.open = open_kernel(*result.prepared, {.calls = {filled.extents}});
  if (!(result.problem = result.open.problem).empty()) return result;
  result.trial = trial_of(*result.open.kernel, filled.extents, random_inputs(result.prepared->graph.graph, filled.extents, 1));
  return result;
}

/// Google Benchmark calls it with growing numbers of iterations: the kernel is compiled in the first call and kept in `kept`.
void run_stage(benchmark::State& state, const StageBenchmark& stage, std::optional<OpenStage>& kept) {
  if (!kept) kept = open_stage(stage);
  OpenStage& open = *kept;
  if (open.problem.empty())
    if (const Result<void> called = open.trial.call(*open.open.kernel); !called) open.problem = called.error().message;
  if (!open.problem.empty()) return state.SkipWithError(open.problem.c_str());
  for (auto _ : state) benchmark::DoNotOptimize(open.trial.call(*open.open.kernel));
  if (stage.flops > 0) state.counters["flops"] = benchmark::Counter(stage.flops, benchmark::Counter::kIsIterationInvariantRate);
}

/// A rate in units of 1e9 that takes no arguments, as a counter.
void run_peak(benchmark::State& state, double (*measure)()) {
  double best = 0;
  for (auto _ : state) best = std::max(best, measure());
  if (best == 0) return state.SkipWithError("this CPU has no such instructions");
  state.counters["rate"] = best * 1e9;
}

void register_all() {
  for (const StageBenchmark& stage : stage_benchmarks) {
    const auto kept = std::make_shared<std::optional<OpenStage>>();
    benchmark::RegisterBenchmark(stage.name, [&stage, kept](benchmark::State& state) { run_stage(state, stage, *kept); });
  }
  struct Peak {
    const char* name;
    double (*measure)();
    int times;
  };
  constexpr double seconds = 0.02;
  for (const Peak& peak : {Peak{"peak/fma_512", [] { return fma_peak_gflops("avx512f", 1, seconds); }, 5},
                           Peak{"peak/fma_256", [] { return fma_peak_gflops("fma", 1, seconds); }, 5},
                           Peak{"peak/bf16_dot", [] { return bf16_peak_gflops("avx512bf16", 1, seconds); }, 5},
                           Peak{"peak/fma_512/2_threads", [] { return fma_peak_gflops("avx512f", 2, seconds); }, 5},
                           Peak{"peak/read", [] { return read_bandwidth_gbytes(1); }, 1},
                           Peak{"peak/read/2_threads", [] { return read_bandwidth_gbytes(2); }, 1}})
    benchmark::RegisterBenchmark(peak.name, run_peak, peak.measure)->Iterations(peak.times)->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (const auto set = attune::set_num_threads(1); !set) return 1;
  attune::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
