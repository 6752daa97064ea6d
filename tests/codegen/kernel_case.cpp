#include "tests/codegen/kernel_case.h"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>

namespace attune {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::string_view sanitizer = "-asan";
#elif defined(__SANITIZE_THREAD__)
constexpr std::string_view sanitizer = "-tsan";
#else
constexpr std::string_view sanitizer = "";
#endif

/// The target with the sanitizer's checks in its code. The thread sanitizer knows accesses of up to 16 bytes, so vectors are that short then.
const TargetInfo* watched(const TargetInfo* target) {
  if (sanitizer.empty() || target->device != Device::cpu) return target;
  static std::map<const TargetInfo*, TargetInfo> targets;
  static std::deque<std::string> names;
  const auto [entry, is_new] = targets.try_emplace(target, *target);
  if (!is_new) return &entry->second;
  entry->second.halide = names.emplace_back(std::string(target->halide).append(sanitizer));
  if (sanitizer == "-tsan") entry->second.vector_bytes = 16;
  return &entry->second;
}

/// A target with the schedules of this one, and the instructions of another.
const TargetInfo* modelled(const TargetInfo* target) {
  static std::map<const TargetInfo*, TargetInfo> targets;
  TargetInfo& model = targets.try_emplace(target, *target).first->second;
  const TargetInfo* instructions = find_target("x86-64-v3");
  model.halide = instructions->halide;
  model.features = instructions->features;
  return &model;
}

Options typed(const KernelOptions& options, const std::string& variant) {
  Options typed;
  typed.graph = {variant, {}, options.settings};
  typed.targets = options.target;
  typed.types = options.types;
  typed.schedule = options.schedule;
  typed.is_schedule_for_any = true;
  typed.set = options.set;
  typed.tuned = options.tuned;
  return typed;
}

Prepared prepared_or_throw(Prepared prepared, bool is_modelled) {
  if (!prepared.problem.empty()) throw std::runtime_error(prepared.problem);
  for (const TargetInfo*& target : prepared.targets) target = watched(is_modelled ? modelled(target) : target);
  return prepared;
}

Kernel opened_or_throw(const Prepared& prepared, const std::vector<Shape>& calls) {
  OpenKernel open = open_kernel(prepared, {.calls = calls});
  if (!open.problem.empty()) throw std::runtime_error(open.problem);
  return *open.kernel;
}

Prepared of_graph(const Graph& graph, const std::string& name, const KernelOptions& options) {
  LoadedGraph loaded;
  loaded.name = name;
  loaded.graph = graph;
  return prepared_or_throw(prepare(typed(options, name), std::move(loaded)), options.is_modelled);
}

}  // namespace

std::vector<std::string> known_extents(const Graph& graph, const Arrays& inputs) {
  const Bound bound = bind_extents(graph, inputs);
  if (!bound.problem.empty()) throw std::runtime_error(bound.problem);
  std::vector<std::string> known;
  for (const auto& [dim, extent] : bound.extents)
    for (const DimInfo& info : graph.dim_infos())
      if (info.name() == dim && info.derivation.formula == Formula::free) known.push_back(std::string(dim) + "=" + std::to_string(extent));
  return known;
}

KernelCase::KernelCase(const std::string& variant, const KernelOptions& options)
    : prepared_(prepared_or_throw(prepare(typed(options, variant)), options.is_modelled)) {}

KernelCase::KernelCase(const Graph& graph, const std::string& name, const KernelOptions& options)
    : prepared_(of_graph(graph, name, options)) {}

const Kernel& KernelCase::kernel() const {
  if (!kernels_->whole) kernels_->whole = opened_or_throw(prepared_, {});
  return *kernels_->whole;
}

std::set<StageCode> KernelCase::codes_of(const Shape& extents) const {
  std::optional<KernelReport>& report = kernels_->report;
  if (!report) report = report_kernel(prepared_, *prepared_.targets.front());
  if (!report->problem.empty()) throw std::runtime_error(report->problem);
  return call_shape(*report, extents).codes;
}

const Kernel& KernelCase::compiled(std::set<StageCode> codes, const std::vector<Shape>& calls) const {
  if (kernels_->whole) return *kernels_->whole;
  for (const auto& [held, kernel] : kernels_->of_calls)
    if (std::ranges::includes(held, codes)) return kernel;
  return kernels_->of_calls.emplace(std::move(codes), opened_or_throw(prepared_, calls)).first->second;
}

void KernelCase::compile_for(std::span<const Shape> calls) const {
  std::set<StageCode> codes;
  for (const Shape& extents : calls) codes.merge(codes_of(extents));
  compiled(std::move(codes), {calls.begin(), calls.end()});
}

void KernelCase::keep_to(std::span<const Shape> calls) const { kernels_->whole = opened_or_throw(prepared_, {calls.begin(), calls.end()}); }

const Kernel& KernelCase::kernel_for(const Shape& extents) const {
  // Targets tell sizes apart differently.
  return prepared_.targets.size() == 1 ? compiled(codes_of(extents), {extents}) : kernel();
}

FilledShape KernelCase::filled(const std::string& shape) const {
  const ShapeAnswer parsed = parse_shape(shape, "shape");
  if (!parsed.problem.empty()) return {{}, parsed.problem};
  Shape given = parsed.extents;
  for (const auto& [dim, extent] : prepared_.staging.specialisation.extents) given.try_emplace(dim, extent);
  return fill_shape(graph(), given);
}

std::string KernelCase::difference(const std::string& shape, std::uint64_t seed) const {
  const FilledShape filled = this->filled(shape);
  if (!filled.problem.empty()) return filled.problem;
  const std::string answer = difference(filled.extents, random_inputs(graph(), filled.extents, seed));
  return answer.empty() ? answer : shape + ": " + answer + "; seed " + std::to_string(seed);
}

std::string KernelCase::difference(const Shape& extents, const Arrays& inputs) const {
  const Kernel& kernel = kernel_for(extents);
  Trial trial = trial_of(kernel, extents, inputs);
  trial.products = rounded_products(prepared_.staging.specialisation);
  if (const Result<void> called = trial.call(kernel); !called) return called.error().message;
  const TrialVerdict verdict = trial.compare_with_interpreter(graph());
  if (!verdict.problem.empty()) return verdict.problem;
  if (!verdict.agrees) return verdict.text;
  // Kernels for CUDA run on an interpreter, which tells of memory that nobody wrote by itself (tests/ptx).
  if (prepared_.targets.front()->device == Device::cuda) return {};
  // Once more over other memory: what is not written, or depends on what stood there, differs.
  Trial again = trial;
  again.fill_outputs(std::byte{0xa2});
  if (const Result<void> called = again.call(kernel); !called) return called.error().message;
  for (const std::size_t i : trial.results)
    if (again.arrays[i].bytes != trial.arrays[i].bytes)
      return trial.name(i) + ": depends on what its memory held before the call";
  return {};
}

std::map<std::string, std::vector<double>> KernelCase::outputs(const Shape& extents, const Arrays& inputs) const {
  const Kernel& kernel = kernel_for(extents);
  Trial trial = trial_of(kernel, extents, inputs);
  if (const Result<void> called = trial.call(kernel); !called) throw std::runtime_error(called.error().message);
  std::map<std::string, std::vector<double>> results;
  for (const std::size_t i : trial.results) results[trial.name(i)] = numbers(trial.arrays[i]);
  return results;
}

Shape KernelCase::extents_of(const Arrays& inputs) const {
  const Bound bound = bind_extents(graph(), inputs);
  if (!bound.problem.empty()) throw std::runtime_error(bound.problem);
  return {bound.extents.begin(), bound.extents.end()};
}

}  // namespace attune
