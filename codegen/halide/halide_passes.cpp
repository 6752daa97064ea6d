#include "codegen/halide/halide_passes.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "codegen/halide/rewrites/bf16_dots.h"
#include "codegen/halide/rewrites/hidden_bits.h"
#include "codegen/halide/rewrites/matrix_tiles.h"
#include "codegen/halide/rewrites/memory_checks.h"
#include "codegen/halide/rewrites/places_before.h"
#include "codegen/halide/rewrites/private_registers.h"
#include "codegen/halide/rewrites/signed_divisions.h"
#include "codegen/halide/rewrites/single_loops.h"
#include "codegen/halide/rewrites/store_beside.h"
#include "codegen/halide/rewrites/trimmed_loops.h"
#include "codegen/halide/rewrites/words_for_kernels.h"

namespace attune {
namespace {

using Halide::Expr;
using Halide::Internal::Function;
using Halide::Internal::IRGraphVisitor;
using Halide::Internal::IRMutator;
using Halide::Internal::LetStmt;
using Halide::Internal::LoweredFunc;
using Halide::Internal::Stmt;

/// Names of all variables in what it has visited.
class NamesRead final : public IRGraphVisitor {
 public:
  std::set<std::string> names;

 private:
  using IRGraphVisitor::visit;
  void visit(const Halide::Internal::Variable* variable) override { names.insert(variable->name); }
};

/// Whether Halide's passes make readers of the name later. For every loop they also define where it began before it slid, of which none reads anything
/// behind the sliding: where loops one behind the other begin with equal definitions, the simplifier moves these out and simplifies all of the loops once
/// more, and again for each such pair around them.
bool is_read_later(const std::string& name) {
  return name.find(".loop_") != std::string::npos && name.find(".loop_min.orig") == std::string::npos;
}

/// Names are taken for those of the whole statement, wherever they are defined: what is read anywhere stays everywhere.
class WithoutUnread final : public IRMutator {
 public:
  using IRMutator::mutate;
  Expr mutate(const Expr& e) override {
    if (e.defined()) e.accept(&read_);
    return e;
  }

 private:
  using IRMutator::visit;
  Stmt visit(const LetStmt* first) override {
    std::vector<const LetStmt*> lets;
    Stmt body;
    for (const LetStmt* let = first; let != nullptr; let = body.as<LetStmt>()) {
      lets.push_back(let);
      body = let->body;
    }
    body = mutate(body);
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
      if (!is_read_later((*let)->name) && !read_.names.contains((*let)->name)) continue;
      (*let)->value.accept(&read_);
      body = body.same_as((*let)->body) ? Stmt(*let) : LetStmt::make((*let)->name, (*let)->value, body);
    }
    return body;
  }

  NamesRead read_;
};

/// Whether an input of no dims is read.
class ReadsScalar final : public IRGraphVisitor {
 public:
  bool is_found = false;

 private:
  using IRGraphVisitor::visit;
  void visit(const Halide::Internal::Call* call) override {
    is_found |= call->call_type == Halide::Internal::Call::Image && call->args.empty();
    IRGraphVisitor::visit(call);
  }
};

/// Whether memory of the name is taken anywhere in a statement.
class TakesMemory final : public Halide::Internal::IRVisitor {
 public:
  explicit TakesMemory(std::string name) : name_(std::move(name)) {}
  bool is_found = false;

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Realize* realize) override {
    is_found |= realize->name == name_;
    if (!is_found) IRVisitor::visit(realize);
  }
  std::string name_;
};

/// Where no loop runs that would compute a function, known extents leave its hoisted memory without anybody who takes it: Halide asks for one.
class WithoutUntakenMemory final : public IRMutator {
  using IRMutator::visit;
  Stmt visit(const Halide::Internal::HoistedStorage* hoisted) override {
    TakesMemory search(hoisted->name);
    hoisted->body.accept(&search);
    return search.is_found ? IRMutator::visit(hoisted) : mutate(hoisted->body);
  }
};

/// Statements hold functions by pointers that do not own: here they come to, for the functions of the copied pipeline end with its lowering.
class OwnFunctions final : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Halide::Internal::Call* original) override {
    Expr e = IRMutator::visit(original);
    const auto* call = e.as<Halide::Internal::Call>();
    if (call == nullptr || !call->func.defined()) return e;
    Halide::Internal::FunctionPtr owned = call->func;
    owned.strengthen();
    return Halide::Internal::Call::make(call->type, call->name, call->args, call->call_type, owned, call->value_index, call->image, call->param);
  }
};

/// A copy of a pipeline's functions on their way to a module.
class Passes {
 public:
  Passes(Halide::Pipeline& pipeline, const Halide::Target& target) : pipeline_(pipeline), target_(target) {}

  void add_to(Halide::Module& module, const std::vector<Halide::Argument>& arguments, const std::string& symbol) {
    copy_functions();
    module.set_any_strict_float(Halide::Internal::strictify_float(functions_, target_));
    Stmt s = first_loops();
    s = in_bounds(s);
    s = in_memory(s);
    s = in_vectors(s);
    s = trimmed(s);
    for (const Halide::CustomLoweringPass& late : pipeline_.custom_lowering_passes()) s = late.pass->mutate(s);
    s = with_named_places_before(s);
    if (target_.has_gpu_feature()) s = Halide::Internal::inject_gpu_offload(s, target_);
    // The text of kernels for devices is a constant of the module.
    for (const auto& read : Halide::Internal::infer_arguments(s, outputs_))
      if (read.buffer.defined()) module.append(read.buffer);
    std::vector<LoweredFunc> loops;
    s = Halide::Internal::lower_parallel_tasks(s, loops, symbol, target_);
    for (const LoweredFunc& loop : loops) module.append(loop);
    std::vector<Halide::Argument> all = arguments;
    if (target_.has_feature(Halide::Target::UserContext))
      all.emplace(all.begin(), "__user_context", Halide::Argument::InputScalar, Halide::type_of<const void*>(), 0, Halide::ArgumentEstimates{});
    for (const Function& output : outputs_)
      for (const auto& buffer : output.output_buffers())
        all.emplace_back(buffer.name(), Halide::Argument::OutputBuffer, buffer.type(), buffer.dimensions(), buffer.get_argument_estimates());
    module.append(LoweredFunc(symbol, all, OwnFunctions().mutate(s), Halide::LinkageType::ExternalPlusArgv));
  }

 private:
  /// The passes schedule copies: a pipeline can be compiled again.
  void copy_functions() {
    std::vector<Function> outputs;
    for (const Halide::Func& output : pipeline_.outputs()) outputs.push_back(output.function());
    std::tie(outputs_, functions_) = Halide::Internal::deep_copy(outputs, Halide::Internal::build_environment(outputs));
    Halide::Internal::lower_target_query_ops(functions_, target_);
  }

  Stmt first_loops() {
    for (const Function& output : outputs_) Halide::Func(output).compute_root().store_root();
    for (auto& [name, function] : functions_) function.lock_loop_levels();
    functions_ = Halide::Internal::wrap_func_calls(functions_);
    std::tie(order_, fused_) = Halide::Internal::realization_order(outputs_, functions_);
    Halide::Internal::simplify_specializations(functions_);
    bool any_memoized = false;
    const Stmt s = Halide::Internal::schedule_functions(outputs_, fused_, functions_, target_, any_memoized);
    return Halide::Internal::add_parameter_checks(pipeline_.requirements(), s, target_);
  }

  /// What of each function is computed and stored.
  Stmt in_bounds(Stmt s) {
    using namespace Halide::Internal;
    FuncValueBounds values = compute_function_value_bounds(order_, functions_);
    s = clamp_unsafe_accesses(s, functions_, values);
    s = bounds_inference(s, outputs_, order_, fused_, functions_, values, target_);
    s = add_split_factor_checks(s, functions_);
    s = remove_extern_loops(s);
    s = sliding_window(s, functions_);
    // From here on a name is defined once.
    s = uniquify_variable_names(s);
    s = without_single_loops(s);
    s = without_unread(s);
    s = simplified_around_bits(s);
    s = without_unread(s);
    s = simplify_correlated_differences(s);
    s = allocation_bounds_inference(s, functions_, values);
    s = add_image_checks(s, outputs_, target_, order_, functions_, values, target_.has_gpu_feature());
    s = remove_undef(s);
    s = storage_folding(s, functions_);
    s = inject_prefetch(s, functions_);
    s = lower_safe_promises(s);
    return skip_stages(s, never_skipped(s), fused_, functions_);
  }

  /// Functions become arrays, on the device where there is one.
  Stmt in_memory(Stmt s) {
    using namespace Halide::Internal;
    s = fork_async_producers(s, functions_);
    s = split_tuples(s, functions_);
    if (target_.has_gpu_feature()) s = canonicalize_gpu_vars(s);
    s = simplify_correlated_differences(s);
    s = bound_small_allocations(s);
    s = WithoutUntakenMemory().mutate(s);
    s = storage_flattening(s, outputs_, functions_, target_);
    s = add_atomic_mutex(s, outputs_);
    s = unpack_buffers(s);
    if (target_.has_gpu_feature()) {
      s = select_gpu_api(s, target_);
      s = inject_host_dev_buffer_copies(s, target_);
      s = select_gpu_api(s, target_);
    }
    s = simplify(s);
    s = unify_duplicate_lets(s);
    s = reduce_prefetch_dimension(s, target_);
    return simplify_correlated_differences(s);
  }

  Stmt in_vectors(Stmt s) {
    using namespace Halide::Internal;
    s = bound_constant_extent_loops(s);
    s = unroll_loops(s);
    s = with_matrix_tiles(s, target_);
    s = simplify(with_bf16_dots(vectorize_loops(s, functions_), target_));
    s = target_.has_gpu_feature() ? with_trimmed_loops(with_private_registers(fuse_gpu_thread_loops(s))) : with_limited_loops(s);
    return simplify(rewrite_interleavings(s));
  }

  /// Loops without their borders, without what they repeat, and as code generation wants them.
  Stmt trimmed(Stmt s) {
    using namespace Halide::Internal;
    s = simplify(partition_loops(s));
    s = stage_strided_loads(s);
    s = trim_no_ops(s);
    s = rebase_loops_to_zero(s);
    s = hoist_loop_invariant_if_statements(s);
    s = inject_early_frees(s);
    s = simplify_correlated_differences(s);
    s = bound_small_allocations(s);
    if (target_.has_feature(Halide::Target::CUDA)) s = lower_warp_shuffles(s, target_);
    s = common_subexpression_elimination(s);
    s = lower_unsafe_promises(s, target_);
    s = flatten_nested_ramps(s);
    s = simplify(remove_dead_allocations(s));
    s = hoist_loop_invariant_values(s);
    s = hoist_loop_invariant_if_statements(s);
    if (target_.has_feature(Halide::Target::Vulkan)) s = without_signed_divisions(with_words_for_kernels(s));
    // Divisions become shifts, which the simplifier would turn back.
    s = find_intrinsics(s);
    s = hoist_prefetches(s);
    return has_checks() ? s : with_checked_promises(s);
  }

  /// Results, and functions that store an element of another where they are computed, whatever hides the values that are made of them. Memory that is
  /// hoisted out of loops is allocated under the condition that it is needed, in which Halide leaves inputs as they are:
  /// code generation does not know them. A condition on an element of an input alone would be asked before a kernel, by the CPU, of memory of the device.
  std::vector<Function> never_skipped(const Stmt& s) const {
    ReadsScalar scalars;
    if (target_.has_gpu_feature()) s.accept(&scalars);
    std::vector<Function> found = outputs_;
    for (const auto& [name, function] : functions_)
      if (scalars.is_found || stores_beside(function) || function.schedule().hoist_storage_level() != function.schedule().store_level()) found.push_back(function);
    return found;
  }

  /// A CPU's code is called by the runtime, which has checked what Halide would.
  bool has_checks() const { return target_.has_gpu_feature(); }

  Halide::Pipeline& pipeline_;
  const Halide::Target& target_;
  std::vector<Function> outputs_;
  std::map<std::string, Function> functions_;
  std::vector<std::string> order_;
  std::vector<std::vector<std::string>> fused_;
};

}  // namespace

Stmt without_unread(const Stmt& s) { return WithoutUnread().mutate(s); }

Halide::Module module_through_passes(Halide::Pipeline pipeline, const std::vector<Halide::Argument>& arguments, const std::string& symbol,
                                     const Halide::Target& target) {
  Halide::Module module(symbol, target);
  Halide::Internal::run_with_large_stack([&] { Passes(pipeline, target).add_to(module, arguments, symbol); });
  return module;
}

}  // namespace attune
