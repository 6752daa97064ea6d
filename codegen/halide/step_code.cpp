#include "codegen/halide/step_code.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "codegen/halide/bodies/late_rewrites.h"
#include "codegen/halide/halide_passes.h"
#include "codegen/halide/halide_target.h"
#include "codegen/halide/lower/stage_body.h"
#include "codegen/halide/numbers/elements.h"
#include "codegen/halide/rewrites/memory_checks.h"
#include "schedules/schedules.h"

namespace attune {
namespace {

/// Errors of Halide as exceptions. Its warnings (that products of bf16 are emulated, say before it finds the instruction for them) are about
/// schedules, which are Attune's own.
class QuietReporter final : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char*) override {}
  [[noreturn]] void error(const char* message) override { throw Halide::CompileError(message); }
};

/// A step for calls of one size on a target.
class StepPipelining {
 public:
  explicit StepPipelining(const CodeRequest& request)
      : plan_(request.plan), step_(request.step), machine_(machine_of(request.target)), size_(request.size), choice_(request.choice) {
    static QuietReporter reporter;
    Halide::set_custom_compile_time_error_reporter(&reporter);
  }

  StepScheduleAnswer schedule() {
    StepScheduleAnswer answer;
    bind_extents();
    bind_inputs();
    with_body([&](const auto& body) {
      const auto chosen = chosen_for(body);
      answer = {{}, chosen.problem, chosen.schedule != nullptr};
      if (answer.has_schedule) answer.schedule.name = chosen.schedule->name;
      if (!answer.problem.empty()) return;
      answer.schedule = {std::string(chosen.schedule->name), chosen.parameters, chosen.origin, chosen.file, {}, {}, chosen.is_for_size};
      answer.schedule.declined = chosen.declined;
      if (chosen.schedule->blocks != nullptr) answer.schedule.blocks = chosen.schedule->blocks(chosen.parameters);
      if (machine_.is_gpu() && chosen.schedule->made_for != size_) return;
      for (const auto& of : sizes_of_calls<std::remove_cvref_t<decltype(body)>>())
        if (of.size == size_) answer.schedule.limits = of.limits(body, chosen.small_up_to);
      if (answer.schedule.limits)
        for (ExtentLimit& limit : *answer.schedule.limits) limit.dim = plan_.before_renames(limit.dim);
    });
    return answer;
  }

  StepPipeline pipeline() {
    bind_extents();
    bind_inputs();
    with_body([&](const auto& body) {
      const auto chosen = chosen_for(body);
      stored_ = built(*chosen.schedule, finished(body), extents_, machine_, chosen.parameters);
    });
    make_output();
    return std::move(made_);
  }

 private:
  const StepTensor& output(std::size_t result) const { return plan_.tensors[step_.outputs[result]]; }

  template <class Body>
  ScheduleAnswer<Body> chosen_for(const Body& body) const {
    return choose_schedule<Body>(body, extents_, machine_, size_, step_.key, choice_);
  }

  /// Calls visit with what a template takes for the step's kind.
  template <class Visit>
  void with_body(const Visit& visit) const {
    const LoweredGraph values(step_.graph, sources_, extents_);
    ResultDims results;
    for (const std::size_t written : step_.outputs) results.push_back(plan_.tensors[written].dims);
    std::visit(
        [&](const auto& roles) {
          auto body = body_of(roles, values, results);
          if constexpr (requires { body.products; }) body.products = plan_.products;
          if constexpr (requires { body.adds_up; }) body.adds_up = std::ranges::find(step_.inputs, step_.outputs[0]) != step_.inputs.end();
          visit(std::as_const(body));
        },
        step_.roles);
  }

  /// Numbers where they are known, arguments of the code elsewhere.
  void bind_extents() {
    for (const std::string& dim : step_.dims) {
      Halide::Param<std::int32_t> extent("extent_of_" + dim + "-");  // no input may have this name
      extent.set_min_value(0);  // what lowering simplifies by; the check itself is taken out with all others
      extents_[dim] = extent;
      extent_arguments_.push_back(extent);
    }
    for (const auto& [dim, extent] : machine_.is_gpu() ? plan_.known_on_devices() : plan_.known) extents_[dim] = static_cast<int>(extent);
    for (const Derivation& derivation : step_.derivations) extents_[std::string(derivation.dim)] = Halide::Internal::simplify(derived(derivation));
  }

  /// A dim that follows from others, in their terms: so that places along it, as differences of queries and keys, are seen to lie inside.
  Halide::Expr derived(const Derivation& derivation) const {
    const int value = static_cast<int>(derivation.value);
    Halide::Expr extent = derivation.formula == Formula::sum ? 0 : value;
    for (const Name name : derivation.operands) {
      const Halide::Expr& operand = extents_.at(std::string(name));
      if (derivation.formula == Formula::quotient) return operand / value;
      if (derivation.formula == Formula::slice) {
        const Steps steps = Steps::of(derivation.value);
        return steps.count > 0 ? Halide::Expr(static_cast<int>(steps.count)) : (operand + static_cast<int>(steps.step - steps.start - 1)) / static_cast<int>(steps.step);
      }
      extent = derivation.formula == Formula::sum ? extent + operand : extent * operand;
    }
    return extent;
  }

  void bind_inputs() {
    for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
      const StepTensor& tensor = plan_.tensors[step_.inputs[i]];
      Halide::ImageParam param(type_in_memory(tensor.element, machine_.device), static_cast<int>(tensor.dims.size()), tensor.name);
      for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
        auto dim = param.dim(static_cast<int>(tensor.dims.size() - 1 - d));
        dim.set_min(0);
        if (const auto known = plan_.known.find(tensor.dims[d]); known != plan_.known.end()) dim.set_extent(static_cast<int>(known->second));
      }
      sources_["a" + std::to_string(i)] = source(tensor, param);
      made_.arguments.emplace_back(param);
    }
    made_.arguments.insert(made_.arguments.end(), extent_arguments_.begin(), extent_arguments_.end());
  }

  /// What stands in memory. By blocks, integers and truth values are known.
  Source source(const StepTensor& tensor, const Halide::ImageParam& param) const {
    Source source{[param, dims = tensor.dims, element = tensor.element](const Coordinates& at) {
                    std::vector<Halide::Expr> innermost_first;
                    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) innermost_first.push_back(at.at(*dim));
                    return loaded(param, innermost_first, element);
                  },
                  {}};
    if (kind_of(tensor.element) != Kind::real) source.over = block_ranges(tensor.name, source.at, tensor.dims, extents_, machine_);
    return source;
  }

  /// The body with a last step that gives each element as it is stored, so that no copy is needed for it.
  template <class Body>
  Body finished(Body body) const {
    if constexpr (requires { body.log_sum_exp; })
      if (body.log_sum_exp) finish(body.log_sum_exp->finish, output(1).element);
    if constexpr (requires { body.state; })
      if (body.state) finish(body.state->finish, output(1).element);
    if constexpr (requires { body.row_maximum; })
      if (body.row_maximum) finish(body.row_maximum->finish, output(step_.outputs.size() - 1).element);
    if constexpr (requires { body.row_total; })
      if (body.row_total) finish(body.row_total->finish, output(step_.outputs.size() - 1).element);
    const Element element = output(0).element;
    if constexpr (requires { body.walk; }) {
      if (body.walk) finish(body.walk->finish, element);
      if (body.choice) finish(body.choice->finish, element);
      if (body.walk || body.choice) return body;
    }
    if constexpr (requires { body.finish; })
      finish(body.finish, element);
    else if (element != Element::f32)
      body.x.element = [computed = body.x, element, device = machine_.device](const Coordinates& at) { return Lowered{as_stored(computed.at(at), element, device)}; };
    return body;
  }

  void finish(std::function<Halide::Expr(Halide::Expr, const Coordinates&)>& change, Element element) const {
    if (element == Element::f32) return;
    change = [before = change, element, device = machine_.device](const Halide::Expr& value, const Coordinates& at) {
      return as_stored(before ? before(value, at) : value, element, device);
    };
  }

  void make_output() {
    std::vector<Halide::Func> results;
    const auto add = [&](Halide::Func func, const std::vector<std::string>& dims) {
      for (std::size_t i = 0; i < dims.size(); ++i) func.output_buffer().dim(static_cast<int>(dims.size() - 1 - i)).set_bounds(0, extents_.at(dims[i]));
      results.push_back(std::move(func));
    };
    add(stored_.func, stored_.dims);
    for (const StoredBeside& result : stored_.beside) add(result.func, result.dims);
    made_.pipeline = Halide::Pipeline(results);
    add_late_rewrites(made_.pipeline, stored_, machine_.device);
  }

  const KernelSteps& plan_;
  const Step& step_;
  const Machine machine_;
  const SizeClass size_;
  const ScheduleChoice& choice_;
  Extents extents_;
  std::vector<Halide::Argument> extent_arguments_;
  std::map<std::string, Source, std::less<>> sources_;
  Stored stored_;
  StepPipeline made_;
};

}  // namespace

StepScheduleAnswer schedule_of(const CodeRequest& request) { return StepPipelining(request).schedule(); }

StepPipeline pipeline_of(const CodeRequest& request) { return StepPipelining(request).pipeline(); }

Halide::Module module_of(const StepPipeline& made, const TargetInfo& target, const std::string& symbol) {
  const Halide::Target halide = halide_target(target);
  const Halide::Module compiled = module_through_passes(made.pipeline, made.arguments, symbol, halide);
  if (target.device != Device::cpu) return compiled;
  Halide::Module module(symbol, with_checked_sizes(halide));
  module.set_any_strict_float(compiled.any_strict_float());
  for (const auto& buffer : compiled.buffers()) module.append(buffer);
  for (const auto& function : compiled.functions()) module.append(function);
  return module;
}

}  // namespace attune
