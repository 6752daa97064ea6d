#include "codegen/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "codegen/ask_for_results.h"
#include "codegen/bf16.h"
#include "codegen/empty_on_devices.h"
#include "codegen/extents.h"
#include "codegen/import.h"
#include "codegen/last_first.h"
#include "codegen/lift_guards.h"
#include "codegen/memory_checks.h"
#include "codegen/opaque_numbers.h"
#include "codegen/opaque_real.h"
#include "codegen/output_loads.h"
#include "codegen/rare_lanes.h"
#include "codegen/shared_panels.h"
#include "codegen/stack_budget.h"
#include "codegen/stage_key.h"
#include "codegen/stage_layout.h"
#include "codegen/stage_lowering.h"
#include "schedules/schedules.h"

namespace attune {
namespace {

Halide::Type storage_of(Element element) {
  switch (element) {
    case Element::bf16: return Halide::UInt(16);  // codegen/bf16.h
    case Element::f16: return Halide::Float(16);
    case Element::i32: return Halide::Int(32);
    case Element::i64: return Halide::Int(64);
    case Element::i8: return Halide::Int(8);
    case Element::u8:
    case Element::boolean: return Halide::UInt(8);
    default: return Halide::Float(32);
  }
}

/// A loaded element as a number of the language.
Lowered loaded(const Halide::Expr& e, Element element) {
  if (element == Element::bf16) return {bf16_value(e)};
  return element == Element::boolean && !e.type().is_bool() ? Lowered{e != 0} : Lowered::of(e);
}

/// A number as it is stored.
Halide::Expr as_stored(const Halide::Expr& e, Element element) {
  return element == Element::bf16 ? bf16_bits(e) : Halide::cast(storage_of(element), e);
}

std::vector<Halide::Expr> innermost_first(const std::vector<std::string>& dims, const Coordinates& at) {
  std::vector<Halide::Expr> arguments;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) arguments.push_back(at.at(*dim));
  return arguments;
}

/// Errors of Halide as exceptions. Its warnings (that products of bf16 are emulated, say before it finds the instruction for them) are about
/// schedules, which are Attune's own.
class QuietReporter final : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char*) override {}
  [[noreturn]] void error(const char* message) override { throw Halide::CompileError(message); }
};

/// A result of the function: its name, the order of its dims in memory, its storage.
struct Result {
  std::string name;
  std::vector<std::string> dims;
  Element element;
};

/// Lowers a function stage by stage.
class Lowering {
 public:
  Lowering(mlir::func::FuncOp function, const TargetInfo& target, SizeClass size, const ScheduleChoice& choice)
      : function_(function), machine_(machine_of(target)), size_(size), choice_(choice) {}

  PipelineAnswer run() {
    bind_arguments();
    bind_extents();
    bind_results();
    for (mlir::Operation& op : function_.getBody().front())
      if (auto stage = llvm::dyn_cast<StageOp>(op); stage && problem_.empty()) lower(stage);
    if (!problem_.empty()) return {{}, problem_};
    make_outputs();
    return {std::move(lowered_), {}};
  }

 private:
  void bind_arguments() {
    for (const mlir::BlockArgument argument : function_.getArguments()) {
      const auto type = llvm::cast<TensorType>(argument.getType());
      const std::string name = function_.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "attn.name").getValue().str();
      Halide::ImageParam param(storage_of(type.element()), static_cast<int>(type.dims().size()), name);
      const auto dims = dims_of(type);
      for (std::size_t i = 0; i < dims.size(); ++i) {
        auto dim = param.dim(static_cast<int>(dims.size() - 1 - i));
        dim.set_min(0);
        if (type.dims()[i].extent > 0) dim.set_extent(static_cast<int>(type.dims()[i].extent));
        bound_.try_emplace(dims[i], dim.extent());
      }
      sources_[argument.getAsOpaquePointer()] = source(name, dims, type.element(), [param](const std::vector<Halide::Expr>& at) { return param(at); });
      lowered_.arguments.push_back(param);
    }
  }

  void bind_extents() {
    const KnownExtents known = known_extents(function_);
    graph_ = to_graph(function_);
    for (const DimInfo& info : graph_.dim_infos()) {
      const std::string name(info.name());
      const Derivation& d = info.derivation;
      if (const auto extent = known.find(name); extent != known.end())
        extents_[name] = static_cast<int>(extent->second);
      else if (d.formula == Formula::free)
        extents_[name] = bound_.contains(name) ? bound_.at(name) : Halide::Expr(0);
      else
        extents_[name] = formula(d);
    }
  }

  Halide::Expr formula(const Derivation& d) const {
    if (d.formula == Formula::fixed) return static_cast<int>(d.value);
    if (d.formula == Formula::quotient) return extents_.at(std::string(d.operands[0])) / static_cast<int>(d.value);
    if (d.formula == Formula::slice) {
      const Steps steps = Steps::of(d.value);
      if (steps.count > 0) return static_cast<int>(steps.count);
      return (extents_.at(std::string(d.operands[0])) + static_cast<int>(steps.step - 1 - steps.start)) / static_cast<int>(steps.step);
    }
    Halide::Expr e = d.formula == Formula::sum ? 0 : static_cast<int>(d.value);
    for (Name operand : d.operands) {
      const Halide::Expr& extent = extents_.at(std::string(operand));
      e = d.formula == Formula::sum ? e + extent : e * extent;
    }
    return Halide::Internal::simplify(e);
  }

  void bind_results() {
    auto end = llvm::cast<ReturnOp>(function_.getBody().front().getTerminator());
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      Result result{std::string(end.result_name(i)), {}, llvm::cast<TensorType>(function_.getResultTypes()[i]).element()};
      for (Name dim : end.result_dims(i)) result.dims.emplace_back(dim);
      results_.emplace_back(end->getOperand(i).getAsOpaquePointer(), std::move(result));
    }
  }

  void lower(StageOp stage) {
    const Graph graph = to_graph(stage);
    std::map<std::string, Source, std::less<>> sources;
    for (unsigned i = 0; i < stage->getNumOperands(); ++i)
      sources.emplace("a" + std::to_string(i), sources_.at(stage->getOperand(i).getAsOpaquePointer()));
    const Body body(graph, std::move(sources), extents_);
    const void* value = stage->getResult(0).getAsOpaquePointer();
    std::vector<std::string> out = dims_between_stages(stage);
    for (const auto& [operand, result] : results_)
      if (operand == value) {
        out = result.dims;  // written in the order of the first result that it is
        break;
      }
    const std::string kind = stage.kind().str();
    LoweredStage report{kind, {}, {}, {}, {}, {}, {}};
    if (const auto decisions = stage.decisions())
      if (const auto reason = decisions.getAs<mlir::StringAttr>("reason")) report.reason = reason.getValue().str();
    Stored stored;
    const Element storage = storage_of_only_result(stage);
    report.key = key_of(stage, graph, out, storage, constant_extents());
    if (kind == "online_softmax") {
      const OnlineSoftmax softmax = online_softmax_body(body, out);
      stored = build(finished(softmax, storage), report);
      score_dims_.push_back(softmax.batch);
      score_dims_.back().insert(score_dims_.back().end(), {softmax.queries, softmax.keys});
    } else if (kind == "gemm") stored = build(finished(gemm_body(body, out), storage), report);
    else if (kind == "row_softmax") stored = build(row_softmax_body(body, out), report);
    else stored = build(finished(pointwise_body(body, out), storage), report);
    if (!problem_.empty()) return;
    lowered_.stages.push_back(std::move(report));
    for (const Panel& panel : stored.panels) panels_.add(panel);
    stored_.emplace(value, stored);
    const auto type = llvm::cast<TensorType>(stage->getResult(0).getType());
    sources_[value] = source(stored.func.name(), stored.dims, type.element(), [func = stored.func](const std::vector<Halide::Expr>& at) { return func(at); });
  }

  /// What stands in memory, `load` with the arguments innermost first. By blocks, integers and truth values are known.
  Source source(const std::string& name, const std::vector<std::string>& dims, Element element,
                const std::function<Halide::Expr(const std::vector<Halide::Expr>&)>& load) const {
    Source source{[=](const Coordinates& at) { return loaded(load(innermost_first(dims, at)), element); }, {}};
    if (kind_of(element) != Kind::real) source.over = block_ranges(name, source.at, dims, extents_, machine_);
    return source;
  }

  KnownExtents constant_extents() const {
    KnownExtents known;
    for (const auto& [dim, extent] : extents_)
      if (const auto value = Halide::Internal::as_const_int(Halide::Internal::simplify(extent))) known.emplace(dim, *value);
    return known;
  }

  /// The storage of the result that the stage's value is and nothing else; f32, as between stages, otherwise.
  Element storage_of_only_result(StageOp stage) const {
    if (stage->getResult(0).hasOneUse())
      for (const auto& [operand, result] : results_)
        if (operand == stage->getResult(0).getAsOpaquePointer()) return result.element;
    return Element::f32;
  }

  /// The body with a last step that rounds to the storage, so that no copy is needed for it.
  template <class BodyOfStage>
  static BodyOfStage finished(BodyOfStage body, Element storage) {
    if (storage != Element::bf16) return body;
    if constexpr (requires { body.finish; })
      body.finish = [finish = body.finish, storage](const Halide::Expr& value, const Coordinates& at) {
        return as_stored(finish ? finish(value, at) : value, storage);
      };
    else
      body.x.at = [at_f32 = body.x.at, storage](const Coordinates& at) { return as_stored(at_f32(at), storage); };
    return body;
  }

  /// The stage's Funcs by the schedule that is chosen for its kind.
  template <class BodyOfStage>
  Stored build(const BodyOfStage& body, LoweredStage& report) {
    const ScheduleAnswer<BodyOfStage> answer = choose_schedule<BodyOfStage>(machine_, size_, report.key, choice_);
    if (!answer.problem.empty()) {
      problem_ = answer.problem;
      return {};
    }
    report.schedule = answer.schedule->name;
    report.parameters = answer.parameters;
    report.origin = answer.origin;
    report.file = answer.file;
    lowered_.is_made_for_size = lowered_.is_made_for_size || answer.schedule->made_for == size_;
    if (answer.schedule->limits != nullptr)
      for (ExtentLimit& limit : answer.schedule->limits(body, answer.small_up_to)) {
        limit.dim = before_renames(limit.dim);
        lowered_.limits.push_back(std::move(limit));
      }
    return answer.schedule->build(body, extents_, machine_, answer.parameters);
  }

  /// The dim whose other name this one is: keys are tokens where queries and keys are of one sequence. Limits of one extent meet then.
  std::string before_renames(std::string dim) const {
    for (;;) {
      const auto info = std::ranges::find_if(graph_.dim_infos(), [&](const DimInfo& i) { return i.name() == dim; });
      const Derivation& d = info->derivation;
      if (d.formula != Formula::product || d.value != 1 || d.operands.size() != 1) return dim;
      dim = std::string(d.operands[0]);
    }
  }

  /// The result Funcs: a stage's own where its storage is the result's, a copy otherwise.
  void make_outputs() {
    std::vector<Halide::Func> outputs;
    std::set<const void*> taken;
    for (const auto& [value, result] : results_) {
      const Stored& stored = stored_.at(value);
      const bool is_direct = stored.dims == result.dims && stored.func.types()[0] == storage_of(result.element) && taken.insert(value).second;
      Halide::Func func = is_direct ? stored.func : copy(value, result);
      for (std::size_t i = 0; i < result.dims.size(); ++i)
        func.output_buffer().dim(static_cast<int>(result.dims.size() - 1 - i)).set_bounds(0, extents_.at(result.dims[i]));
      outputs.push_back(func);
    }
    for (auto& [value, stored] : stored_)
      if (!taken.contains(value)) store_whole(stored);
    lowered_.pipeline = Halide::Pipeline(outputs);
    if (!machine_.is_gpu) keep_memory_checks_alone(lowered_.pipeline);
    for (const auto& [value, stored] : stored_) {
      define_numbers(lowered_.pipeline, stored.numbers);
      turn_last_first(lowered_.pipeline, stored.func, stored.last_first);
      if (stored.sums.defined()) ask_for_results(lowered_.pipeline, stored.func, stored.sums);
    }
    load_outputs_from_anywhere(lowered_.pipeline);
    if (machine_.is_gpu) {
      limit_elements();
      allow_empty_on_devices(lowered_.pipeline);
      take_rare_way(lowered_.pipeline);
      find_opaque_reals_on_host(lowered_.pipeline);
    } else {
      branch_on_rare_lanes(lowered_.pipeline);
      lift_guards(lowered_.pipeline);
      limit_stored_elements(lowered_.pipeline);
      keep_stack_budget(lowered_.pipeline);
    }
  }

  /// A result that only other stages read is stored like an argument, each extent its dim's: they read no others, and Halide finds out no bounds.
  void store_whole(Stored& stored) const {
    stored.func.compute_root();
    for (std::size_t i = 0; i < stored.dims.size(); ++i)
      stored.func.bound(stored.func.args()[stored.dims.size() - 1 - i], 0, extents_.at(stored.dims[i]));
  }

  /// On devices, which store stages' results and scores whole: no more elements than Halide's 32-bit indices tell apart.
  void limit_elements() {
    for (const auto& [value, stored] : stored_) limit_elements(stored.dims);
    for (const std::vector<std::string>& dims : score_dims_) limit_elements(dims);
  }
  void limit_elements(const std::vector<std::string>& dims) {
    Halide::Expr count = Halide::cast<std::int64_t>(1);
    std::string names;
    for (const std::string& dim : dims) {
      count = count * Halide::cast<std::int64_t>(extents_.at(dim));
      names += (names.empty() ? "" : " x ") + dim;
    }
    lowered_.pipeline.add_requirement(count <= Halide::Expr(std::int64_t{0x7fffffff}), "what a stage stores as [" + names + "] has", count,
                                      "elements; on devices it must be 2147483647 at most");
  }

  Halide::Func copy(const void* value, const Result& result) {
    const Source source = sources_.at(value);
    const Piece piece{result.dims, [source, element = result.element](const Coordinates& at) { return as_stored(source.at(at).expr, element); }};
    LoweredStage report{"pointwise", "stored as " + std::string(name_of(result.element)), {}, {}, {}, {}, {}};
    const Stored stored = build(Pointwise{piece, result.dims}, report);
    lowered_.stages.push_back(std::move(report));
    return stored.func;
  }

  mlir::func::FuncOp function_;
  Machine machine_;
  SizeClass size_;
  const ScheduleChoice& choice_;
  Graph graph_;
  std::map<std::string, Halide::Expr> bound_;  // extents of dims that arguments have
  Extents extents_;
  std::map<const void*, Source> sources_;      // by MLIR value
  std::map<const void*, Stored> stored_;
  SharedPanels panels_;
  std::vector<std::pair<const void*, Result>> results_;
  std::vector<std::vector<std::string>> score_dims_;  // of each online softmax
  LoweredPipeline lowered_;
  std::string problem_;
};

}  // namespace

PipelineAnswer lower_pipeline(mlir::func::FuncOp function, const TargetInfo& target, SizeClass size, const ScheduleChoice& choice) {
  static QuietReporter reporter;
  Halide::set_custom_compile_time_error_reporter(&reporter);
  return Lowering(function, target, size, choice).run();
}

Pipelines lower_pipelines(mlir::func::FuncOp function, const TargetInfo& target, const ScheduleChoice& choice) {
  Pipelines pipelines;
  for (const SizeClass size : size_classes) {
    PipelineAnswer answer = lower_pipeline(function, target, size, choice);
    if (!answer.problem.empty()) return {{}, std::move(answer.problem)};
    pipelines.of.emplace(size, std::move(answer.lowered));
  }
  return pipelines;
}

}  // namespace attune
