#include "codegen/steps/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "codegen/dialect/extents.h"
#include "codegen/dialect/import.h"
#include "codegen/plan/attention_match.h"
#include "codegen/plan/node_users.h"
#include "codegen/steps/merged_dims.h"
#include "codegen/steps/stage_key.h"
#include "codegen/steps/stage_layout.h"
#include "runtime/abi.h"

namespace attune {
namespace {

/// What a stage's value is stored as where no result of the function says it.
Element between_steps(Element element) { return element == Element::real ? Element::f32 : element; }

Element element_of(mlir::Value value) { return between_steps(llvm::cast<TensorType>(value.getType()).element()); }

/// A result of the function: the value, and the number of the tensor that it is.
struct Result {
  mlir::Value value;
  std::size_t tensor;
};

class Planner {
 public:
  explicit Planner(mlir::func::FuncOp function) : function_(function) {
    const Graph graph = to_graph(function);
    plan_.dims.assign(graph.dim_infos().begin(), graph.dim_infos().end());
    plan_.known = known_extents(function);
    if (const auto products = function->getAttrOfType<mlir::StringAttr>(products_attribute)) plan_.products = storage_of_reals(products.getValue());
    for (const DimInfo& info : plan_.dims)
      if (const auto extent = evaluate(info.derivation, plan_.known)) plan_.known.try_emplace(std::string(info.name()), *extent);
  }

  KernelSteps plan() {
    add_arguments();
    add_results();
    const SweptStages stages = swept_stages(function_);
    for (StageOp stage : function_.getBody().front().getOps<StageOp>()) add_view(stage, stages);
    for (StageOp stage : stages.order) {
      if (views_.contains(stage.getOperation())) continue;
      sweep_ = sweep_of(stages, stage);
      add(stage);
    }
    sweep_ = nullptr;
    for (const Result& result : results_)
      if (tensors_.at(result.value.getAsOpaquePointer()) != result.tensor) add_copy(result);
    for (const Sweep& sweep : plan_.sweeps) add_dims(sweep);
    return std::move(plan_);
  }

 private:
  void add_arguments() {
    for (const mlir::BlockArgument argument : function_.getArguments()) {
      const auto type = llvm::cast<TensorType>(argument.getType());
      const auto name = function_.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), name_attribute);
      tensors_[argument.getAsOpaquePointer()] = plan_.tensors.size();
      plan_.tensors.push_back({name.getValue().str(), dims_of(type), between_steps(type.element()), StepTensor::Role::input});
    }
  }

  void add_results() {
    auto end = llvm::cast<ReturnOp>(function_.getBody().front().getTerminator());
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      const std::string name(end.result_name(i));
      if (const auto input = std::ranges::find(plan_.tensors, name, &StepTensor::name);
          input != plan_.tensors.end() && input->role == StepTensor::Role::input) {
        input->is_updated = true;
        results_.push_back({end->getOperand(i), static_cast<std::size_t>(input - plan_.tensors.begin())});
        continue;
      }
      StepTensor tensor{name, {}, between_steps(llvm::cast<TensorType>(function_.getResultTypes()[i]).element()), StepTensor::Role::output};
      for (const Name dim : end.result_dims(i)) tensor.dims.emplace_back(dim);
      results_.push_back({end->getOperand(i), plan_.tensors.size()});
      plan_.tensors.push_back(std::move(tensor));
    }
  }

  /// A stage that only merges, into a result of the function: what is merged is written there at once.
  void add_view(StageOp stage, const SweptStages& stages) {
    const std::vector<Merge> merges = merges_of(stage);
    if (merges.empty()) return;
    const auto merged = llvm::cast<mlir::OpResult>(stage->getResult(0)), parts = llvm::dyn_cast<mlir::OpResult>(stage->getOperand(0));
    const std::optional<std::size_t> output = direct_result(merged);
    if (!output || plan_.tensors[*output].is_updated || !parts || tensors_.contains(parts.getAsOpaquePointer()) || direct_result(parts)) return;
    if (llvm::cast<StageOp>(parts.getOwner()).kind() == llvm::StringRef(WriteRowsRoles::name)) return;  // in the memory of an input
    const StepTensor& whole = plan_.tensors[*output];
    const std::optional<PartsOfDims> apart = taken_apart(whole.dims, merges, plan_.dims);
    const bool is_as_stored = element_of(parts) == whole.element;
    if (!is_as_stored && adds_up(llvm::cast<StageOp>(parts.getOwner()), sweep_of(stages, llvm::cast<StageOp>(parts.getOwner())))) return;
    if (!apart || views_.size() + most_views_of_sweeps == ATTUNE_MAX_VIEWS || (!parts.hasOneUse() && !is_as_stored)) return;
    tensors_[parts.getAsOpaquePointer()] = plan_.tensors.size();
    tensors_[merged.getAsOpaquePointer()] = *output;
    plan_.tensors.push_back({whole.name, apart->dims, whole.element, StepTensor::Role::output, false, TensorView{*output, apart->counts}});
    views_.insert(stage.getOperation());
  }

  static const StageSweep* sweep_of(const SweptStages& stages, StageOp stage) {
    const auto sweep = std::ranges::find_if(stages.sweeps, [&](const StageSweep& sweep) { return sweep.has(stage); });
    return sweep == stages.sweeps.end() ? nullptr : &*sweep;
  }

  /// The sweep's blocks add up to the result of the stage.
  static bool adds_up(StageOp stage, const StageSweep* sweep) { return sweep != nullptr && adds_up_along(to_graph(stage), sweep->dims.back().whole); }

  void add(StageOp stage) {
    Step step{{}, to_graph(stage), {}, {}, {}, {}, {}, {}, {}};
    const Graph whole = step.graph;
    adds_up_ = adds_up(stage, sweep_);
    if (sweep_ != nullptr) {
      step.graph = in_blocks(step.graph, sweep_->dims, function_.getContext());
      if (stage == sweep_->stages.front()) plan_.sweeps.push_back({plan_.steps.size(), sweep_->stages.size(), sweep_->dims});
    }
    step.place = static_cast<std::size_t>(std::distance(function_.getBody().front().begin(), stage->getIterator()));
    step.roles = *find_roles(stage.kind(), step.graph).roles;  // the verifier has seen that they are there
    if (const auto decisions = stage.decisions())
      if (const auto reason = decisions.getAs<mlir::StringAttr>("reason")) step.reason = reason.getValue().str();
    for (const mlir::Value operand : stage->getOperands()) {
      const std::size_t tensor = tensors_.at(operand.getAsOpaquePointer());
      step.inputs.push_back(sweep_ == nullptr ? tensor : in_step(tensor, dims_read_in_blocks(whole, step.inputs.size(), sweep_->dims)));
    }
    for (const mlir::OpResult result : stage->getResults()) {
      const auto* in_place = std::get_if<WriteRowsRoles>(&step.roles);
      const std::size_t tensor = in_place != nullptr ? step.inputs[static_cast<std::size_t>(in_place->memory)] : tensor_for(result);
      tensors_[result.getAsOpaquePointer()] = tensor;
      step.outputs.push_back(sweep_ == nullptr ? tensor : in_step(tensor, sweep_->dims));
    }
    if (adds_up_) step.inputs.push_back(step.outputs[0]);
    finish(std::move(step), true);
  }

  /// The first result of the function that the value is, if what other stages read of it, or what blocks add to it, is stored in the same way.
  std::optional<std::size_t> direct_result(mlir::OpResult value) const {
    for (const Result& result : results_)
      if (result.value == value && ((value.hasOneUse() && !adds_up_) || plan_.tensors[result.tensor].element == element_of(value))) return result.tensor;
    return std::nullopt;
  }

  /// Where a result of the stage is written: to a result of the function that it is or that it is merged into; to a tensor between the steps otherwise.
  std::size_t tensor_for(mlir::OpResult value) {
    if (const auto view = tensors_.find(value.getAsOpaquePointer()); view != tensors_.end()) return view->second;
    if (const std::optional<std::size_t> direct = direct_result(value)) return *direct;
    std::vector<std::string> dims = dims_between_stages(value);
    for (const Result& result : results_)
      if (result.value == value) {
        dims = plan_.tensors[result.tensor].dims;  // as the first result that is a copy of it
        break;
      }
    std::string name = fmt::format("step{}", plan_.steps.size());
    if (value.getResultNumber() > 0) name += fmt::format("_{}", value.getResultNumber());
    const bool is_rounded = !adds_up_ && plan_.products != Element::f32 && element_of(value) == Element::f32 && is_multiplied_alone(value);
    const Element element = is_rounded ? plan_.products : element_of(value);
    if (sweep_ != nullptr && is_swept_alone(value)) dims = in_blocks(std::move(dims), sweep_->dims);
    plan_.tensors.push_back({std::move(name), std::move(dims), element, StepTensor::Role::stored});
    return plan_.tensors.size() - 1;
  }

  /// Only steps of the sweep read the value.
  bool is_swept_alone(mlir::OpResult value) const {
    return llvm::all_of(value.getUsers(), [&](mlir::Operation* user) { return sweep_->has(user); });
  }

  /// The tensor as a step of a sweep takes it: of one that has swept dims the part that the sweep is at.
  std::size_t in_step(std::size_t tensor, const std::vector<SweptDim>& swept) {
    const StepTensor whole = plan_.tensors[tensor];
    std::vector<std::string> dims = in_blocks(whole.dims, swept);
    if (dims == whole.dims) return tensor;
    const auto [place, is_new] = parts_.try_emplace({tensor, dims}, plan_.tensors.size());
    if (is_new) {
      TensorView view = whole.view ? *whole.view : TensorView{tensor, std::vector<int>(whole.dims.size(), 1)};
      plan_.tensors.push_back({whole.name, std::move(dims), whole.element, whole.role, false, std::move(view)});
    }
    return place->second;
  }

  /// A block is another name of its whole where extents are told from one another, and begins at 0 where nothing is known.
  void add_dims(const Sweep& sweep) {
    const auto kept = [&](const std::string& name) -> Name { return mlir::StringAttr::get(function_.getContext(), name).getValue(); };
    const auto add = [&](const SweptDim& dim) {
      plan_.dims.push_back({{kept(dim.block), Formula::product, {kept(dim.whole)}, 1}});
      plan_.dims.push_back({{kept(dim.start), Formula::fixed, {}, 0}});
    };
    for (const SweptDim& dim : sweep.dims)
      if (!dim.band) add(dim);
    for (const SweptDim& dim : sweep.dims)
      if (dim.band) add(dim);  // a band follows from the block of rows
  }

  /// Stages read the value as an operand of products alone: stored as these round it, it is what they would round.
  static bool is_multiplied_alone(mlir::OpResult value) {
    return llvm::all_of(value.getUses(), [](mlir::OpOperand& use) {
      const auto stage = llvm::dyn_cast<StageOp>(use.getOwner());
      return stage && multiplies_alone(to_graph(stage), fmt::format("a{}", use.getOperandNumber()));
    });
  }

  void add_copy(const Result& result) {
    const std::size_t source = tensors_.at(result.value.getAsOpaquePointer());
    const StepTensor& from = plan_.tensors[source];
    Step step{
        fmt::format("stored as {}", name_of(plan_.tensors[result.tensor].element)), {}, PointwiseRoles{}, {source}, {result.tensor}, {}, {}, {}, {}};
    Names dims;
    for (const std::string& dim : from.dims) {
      const Name name = mlir::StringAttr::get(function_.getContext(), dim).getValue();
      step.graph.dim(name);
      dims.add(name);
    }
    step.graph.output("r0", step.graph.input("a0", dims, kind_of(from.element)), dims);
    finish(std::move(step), false);
  }

  /// The queries of attention where they are not the innermost dim that may be: then they go by positions, or by a name, which no key has.
  static std::string_view told_queries(const Step& step) {
    const AttentionRoles* roles = attention_in(step.roles);
    if (roles == nullptr || roles->matmul < 0) return {};
    const Names dims = query_dims(step.graph, *roles);
    return roles->queries == dims[dims.size() - 1] ? std::string_view() : std::string_view(roles->queries);
  }

  void finish(Step step, bool has_records) {
    std::vector<Element> read;
    for (const std::size_t input : step.inputs) read.push_back(plan_.tensors[input].element);
    std::vector<WrittenAs> written;
    for (const std::size_t output : step.outputs) written.push_back({plan_.tensors[output].dims, plan_.tensors[output].element});
    StageText text = text_of(step.kind(), step.graph, read, written, plan_.known, told_queries(step));
    step.identity = std::move(text.identity);
    if (plan_.products != Element::f32 && std::ranges::any_of(step.graph.nodes(), [](const Node& node) { return std::holds_alternative<Matmul>(node.op); })) {
      const std::string products = fmt::format(", products of {}", name_of(plan_.products));
      step.identity += products;
      text.key.types += products;
    }
    for (const std::string& dim : text.dims)
      if (!plan_.known.contains(dim)) step.dims.push_back(dim);
    if (has_records) step.key = std::move(text.key);
    const auto number_of = [&](std::string_view dim) { return std::ranges::find(text.dims, dim) - text.dims.begin(); };
    // The order of dims in memory is not the type's everywhere: it belongs to what code is made for.
    for (const std::size_t input : step.inputs) {
      step.identity += "\n";
      for (const std::string& dim : plan_.tensors[input].dims) step.identity += fmt::format(" d{}", number_of(dim));
    }
    for (const DimInfo& info : plan_.dims) add_derivation(info.derivation, number_of, step);
    plan_.steps.push_back(std::move(step));
  }

  /// If the dim is one of the step's, and all that it follows from are there or known.
  void add_derivation(const Derivation& derivation, const auto& number_of, Step& step) {
    const auto is_there = [&](Name dim) { return std::ranges::find(step.dims, dim) != step.dims.end(); };
    if (derivation.formula == Formula::free || derivation.formula == Formula::fixed || !is_there(derivation.dim)) return;
    std::string operands;
    for (const Name operand : derivation.operands) {
      const auto known = plan_.known.find(std::string(operand));
      if (known == plan_.known.end() && !is_there(operand)) return;
      operands += known == plan_.known.end() ? fmt::format(" d{}", number_of(operand)) : fmt::format(" {}", known->second);
    }
    step.identity += fmt::format("\nd{} = {} of{}, {}", number_of(derivation.dim), static_cast<int>(derivation.formula), operands, derivation.value);
    step.derivations.push_back(derivation);
  }

  mlir::func::FuncOp function_;
  KernelSteps plan_;
  std::vector<Result> results_;
  std::map<const void*, std::size_t> tensors_;  // that values stand in
  std::set<mlir::Operation*> views_;            // the stages that are no step: what they give is a view
  const StageSweep* sweep_ = nullptr;           // of the stage that is added
  bool adds_up_ = false;                        // the sweep's blocks add up to the result of the stage that is added
  std::map<std::pair<std::size_t, std::vector<std::string>>, std::size_t> parts_;  // the views of tensors that sweeps take, by whole and dims
};

}  // namespace

std::string KernelSteps::before_renames(std::string dim) const {
  for (;;) {
    const auto info = std::ranges::find_if(dims, [&](const DimInfo& i) { return i.name() == dim; });
    const Derivation& d = info->derivation;
    if (d.formula != Formula::product || d.value != 1 || d.operands.size() != 1) return dim;
    dim = std::string(d.operands[0]);
  }
}

KnownExtents KernelSteps::known_on_devices() const {
  KnownExtents extents = known;
  for (const Sweep& sweep : sweeps)
    for (const SweptDim& dim : sweep.dims) extents[dim.start] = 0;
  return extents;
}

KernelSteps kernel_steps(mlir::func::FuncOp function) { return Planner(function).plan(); }

}  // namespace attune
