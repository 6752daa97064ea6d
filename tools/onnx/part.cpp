#include "tools/onnx/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/dialect/identifier.h"
#include "tools/onnx/translator.h"

namespace attune {
namespace {

/// Where in attention a tensor is, going back from the result: behind the last product, a factor of it, a score, an operand of either product; or what follows
/// from constants and shapes alone.
enum class Zone { result, factor, score, operand, known };

/// Which operations belong to the part, and which tensors it begins with.
class PartFinder {
 public:
  PartFinder(const OnnxSubgraph& graph, const ImportRequest& request) : graph_(graph), request_(request), tensors_(graph, request.extents) {
    for (const OnnxOperation& operation : graph.operations)
      for (const std::string& output : operation.outputs) producers_.emplace(output, &operation);
  }

  void find(const OnnxOperation& last) { take(last, Zone::result); }
  bool has(const OnnxOperation& operation) const { return taken_.contains(&operation); }
  bool begins_with(const std::string& tensor) const { return !is_constant(tensor) && beginnings_.contains(tensor); }
  const std::string& problem() const { return problem_; }

 private:
  /// Whether the tensor follows from constants and shapes alone.
  bool is_constant(const std::string& tensor) const {
    if (const auto found = constants_.find(tensor); found != constants_.end()) return found->second;
    const auto producer = producers_.find(tensor);
    bool is = graph_.constants.contains(tensor);
    if (producer != producers_.end() && Translator::knows(*producer->second)) {
      const std::vector<std::string>& inputs = producer->second->inputs;
      const std::size_t read = producer->second->op == "Shape" ? 0 : producer->second->op == "CastLike" ? 1 : inputs.size();
      is = std::ranges::all_of(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(read), [&](const std::string& input) { return input.empty() || is_constant(input); });
    }
    return constants_[tensor] = is;
  }
  static bool is_product(const OnnxOperation& operation) { return operation.op == "MatMul" || operation.op == "Einsum"; }
  /// Before the products only that belongs to the part which moves, joins, scales or shifts an operand; what made it does not.
  bool is_of_operand(const OnnxOperation& operation) const {
    static const std::set<std::string_view> moves = {"Transpose", "Reshape", "Unsqueeze", "Squeeze", "Expand", "Identity", "Cast", "CastLike", "Constant", "Concat", "Split"};
    static const std::set<std::string_view> changes = {"Mul", "Div", "Add", "Sub"};
    if (moves.contains(operation.op)) return true;
    if (operation.op == "Slice") return std::ranges::all_of(operation.inputs.begin() + 1, operation.inputs.end(), [&](const std::string& input) { return input.empty() || is_constant(input); });
    if (operation.op == "Gather") return operation.inputs.size() == 2 && is_constant(operation.inputs[1]) && !is_constant(operation.inputs[0]);
    return changes.contains(operation.op) && std::ranges::any_of(operation.inputs, [&](const std::string& input) { return is_constant(input); });
  }
  /// Whether the tensor comes from such an operation, with no product between.
  bool comes_from(const std::string& tensor, std::string_view op, std::set<std::string>& seen) const {
    const auto producer = producers_.find(tensor);
    if (producer == producers_.end() || !seen.insert(tensor).second) return false;
    if (producer->second->op == op) return true;
    if (is_product(*producer->second)) return false;
    return std::ranges::any_of(producer->second->inputs, [&](const std::string& input) { return comes_from(input, op, seen); });
  }

  void visit(const std::string& tensor, Zone zone) {
    if (tensor.empty() || !problem_.empty()) return;
    const auto producer = producers_.find(tensor);
    const bool is_cut = std::ranges::find(request_.inputs, tensor) != request_.inputs.end();
    if (is_cut || producer == producers_.end()) return void(beginnings_.insert(tensor));
    const OnnxOperation& operation = *producer->second;
    if (is_constant(tensor)) return take(operation, Zone::known);
    if (!Translator::knows(operation)) {
      std::set<std::string> seen;
      const bool is_on_the_way = zone == Zone::result || (zone == Zone::factor && comes_from(tensor, "Softmax", seen)) || (zone == Zone::score && comes_from(tensor, "MatMul", seen));
      if (!is_on_the_way) return void(beginnings_.insert(tensor));
      problem_ = fmt::format("node '{}': operator '{}' is not supported; --input {} makes what it gives an input", operation.name.empty() ? tensor : operation.name, operation.op, tensor);
      return;
    }
    const bool is_outside = is_product(operation) ? zone == Zone::factor || zone == Zone::operand : zone == Zone::operand && !is_of_operand(operation);
    if (is_outside) return void(beginnings_.insert(tensor));
    take(operation, zone);
  }

  void take(const OnnxOperation& operation, Zone zone) {
    if (!taken_.insert(&operation).second) return;
    if (is_product(operation)) return take_product(operation, zone);
    if (operation.op == "Softmax") zone = Zone::score;
    // of what Shape and CastLike ask for the extents and the type, whatever makes it
    const std::size_t read = operation.op == "Shape" ? 0 : operation.op == "CastLike" ? 1 : operation.inputs.size();
    if (operation.op == "Shape" && !tensors_.find(operation.inputs[0]).problem.empty()) visit(operation.inputs[0], Zone::operand);
    for (std::size_t i = 0; i < read; ++i) visit(operation.inputs[i], takes_numbers(operation, i) ? Zone::result : zone);
  }
  /// Of the last product one factor comes from the softmax, the other is an operand like those of the scores.
  void take_product(const OnnxOperation& operation, Zone zone) {
    for (const std::string& input : operation.inputs) {
      std::set<std::string> seen;
      visit(input, zone == Zone::result && comes_from(input, "Softmax", seen) ? Zone::factor : Zone::operand);
    }
  }
  /// Whether the input is a shape or a list of axes, which may come from anywhere.
  static bool takes_numbers(const OnnxOperation& operation, std::size_t input) {
    static const std::set<std::string_view> shaped = {"Reshape", "Unsqueeze", "Squeeze", "Expand"};
    return (input == 1 && shaped.contains(operation.op)) || operation.op == "Range" || operation.op == "ConstantOfShape";
  }

  const OnnxSubgraph& graph_;
  const ImportRequest& request_;
  ModelTensors tensors_;
  std::map<std::string, const OnnxOperation*> producers_;
  std::set<const OnnxOperation*> taken_;
  std::set<std::string> beginnings_;
  mutable std::map<std::string, bool> constants_;
  std::string problem_;
};

class PartBuilder {
 public:
  PartBuilder(const OnnxSubgraph& graph, const ImportRequest& request, const PartFinder& part, const OnnxOperation& last, std::int64_t opset)
      : graph_(graph), part_(part), last_(last), opset_(opset), tensors_(graph, request.extents), terms_(result_.node.graph, *names_, result_.node.constants) {}

  Imported imported() {
    terms_.translate([&](Translator&) { build(); });
    result_.problem = terms_.problem();
    if (!result_.problem.empty()) return std::move(result_);
    g.finish();
    if (!g.problem().empty()) result_.problem = g.problem().view();
    result_.node.owner = names_;
    return std::move(result_);
  }

 private:
  void build() {
    known_.clear();
    result_.inputs.clear();
    for (const OnnxOperation& operation : graph_.operations) {
      if (!part_.has(operation) || !terms_.problem().empty()) continue;
      std::vector<const Term*> operands;
      for (const std::string& input : operation.inputs) operands.push_back(input.empty() ? nullptr : operation.op == "CastLike" && !operands.empty() ? &like(input) : &term(input, operation.op == "Shape"));
      std::vector<Term> made = terms_.results(operation, operands, opset_);
      if (&operation == &last_ && !made.empty()) name_result(made.front());
      for (std::size_t i = 0; i < std::min(made.size(), operation.outputs.size()); ++i) known_.insert_or_assign(operation.outputs[i], std::move(made[i]));
    }
    if (terms_.emits() && terms_.problem().empty()) write(known_.at(last_.outputs[0]));
  }

  /// A term of the tensor's kind, which is all that is asked of it.
  const Term& like(const std::string& name) {
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    return kinds_[name] = Term{tensors_.kind(name), {}, std::nullopt};
  }

  /// The term of an operation's input: of another operation of the part, a constant, or a tensor that the part begins with.
  const Term& term(const std::string& name, bool is_only_its_shape) {
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    const OnnxTensor tensor = tensors_.find(name);
    if (!tensor.problem.empty()) terms_.fail(tensor.problem);
    if (graph_.constants.contains(name)) return known_.emplace(name, terms_.constant(name, tensor)).first->second;
    const bool is_input = part_.begins_with(name);
    if (!is_input && !is_only_its_shape) terms_.fail(fmt::format("tensor '{}': is used before a node gives it; nodes in the order in which they run are right", name));
    Term made{tensor.element->kind == Kind::real || tensor.element->kind == Kind::boolean ? tensor.element->kind : Kind::i64, {}, std::nullopt};
    for (const std::int64_t extent : tensor.extents) made.axes.push_back({terms_.fresh(extent, {}, is_input ? AxisTable::Bound::input : AxisTable::Bound::no)});
    if (terms_.emits() && is_input) made.value = declare(name, tensor, made);
    return known_.emplace(name, std::move(made)).first->second;
  }

  /// An input as the model has it, its axes taken apart. Where that would say a second time what an extent is, it is declared in parts.
  Value declare(const std::string& name, const OnnxTensor& tensor, const Term& made) {
    Names dims;
    std::vector<std::pair<Name, Split>> splits;
    ImportedTensor& input = result_.inputs.emplace_back(ImportedTensor{std::string(terms_.label_of(name)), name, tensor.extents, {}});
    for (std::size_t i = 0; i < made.axes.size(); ++i) {
      const Axis parts = terms_.axes.dims(made.axes[i]);
      const Name whole = parts.size() > 1 ? whole_of(parts) : Name{};
      if (!whole.empty()) {
        dims.add(whole);
        splits.emplace_back(whole, split_of(whole, parts));
        input.declared.push_back(tensor.extents[i]);
        continue;
      }
      for (const int part : parts) dims.add(terms_.name_of(part)), input.declared.push_back(terms_.axes.extent(part));
    }
    Value value = g.input(*names_->insert(names_->end(), input.name), dims, tensor.element->kind, Here::current());
    for (const auto& [whole, split] : splits) value = call(split, {value}, Here::current());
    if (kind_of(value) != Kind::i64 && kind_of(value) != made.kind) value = to_i64(value);
    return value;
  }
  /// The dim of an axis that consists of the parts: one for the same parts. Nothing where each part's extent is said already.
  Name whole_of(const Axis& parts) {
    if (const auto known = wholes_.find(parts); known != wholes_.end()) return known->second;
    const auto open = std::ranges::find_if(parts.rbegin(), parts.rend(), [&](int part) { return !said_.contains(part); });
    if (open == parts.rend() || parts.size() > 4) return {};
    open_[parts] = *open;
    for (const int part : parts) said_.insert(part);
    std::string name;
    for (const int part : parts) name += (name.empty() ? "" : "_") + terms_.axes.name(part);
    return wholes_[parts] = terms_.keep(name);
  }
  Split split_of(Name whole, const Axis& parts) {
    Split split{whole, {}, {}};
    for (const int part : parts) {
      split.extents[static_cast<std::size_t>(split.into.size())] = part == open_.at(parts) ? 0 : terms_.axes.extent(part);
      split.into.add(terms_.name_of(part));
    }
    return split;
  }

  /// Of the last product the columns are of the values.
  void name_result(const Term& made) {
    if (terms_.emits() || made.axes.empty()) return;
    terms_.axes.suggest(made.axes.back(), "value_depth");
  }

  void write(const Term& made) {
    Value value = terms_.value_of(made);
    Names dims;
    for (const Axis& axis : made.axes) {
      const Names parts = terms_.names_of(axis);
      if (!parts.without(dims_of(value)).empty()) return terms_.fail(fmt::format("tensor '{}': does not differ along an axis of it; a result that does is right", last_.outputs[0]));
      if (parts.size() > 1) {
        std::string name;
        for (const Name part : parts) name += (name.empty() ? "" : "_") + std::string(part);
        const Name whole = terms_.keep(name + "_joined");
        value = g.add(Merge{parts, whole}, std::array{value}, Here::current());
        dims.add(whole);
      } else if (parts.size() == 1) {
        dims.add(parts[0]);
      }
    }
    g.output(terms_.label_of(last_.outputs[0]), value, dims, Here::current());
  }

  const OnnxSubgraph& graph_;
  const PartFinder& part_;
  const OnnxOperation& last_;
  std::int64_t opset_;
  ModelTensors tensors_;
  Imported result_;
  std::shared_ptr<std::deque<std::string>> names_ = std::make_shared<std::deque<std::string>>();
  Translator terms_;
  Graph& g = result_.node.graph;
  std::map<std::string, Term, std::less<>> known_, kinds_;
  std::map<Axis, Name> wholes_;
  std::map<Axis, int> open_;
  std::set<int> said_;
};

}  // namespace

const OnnxDeclared* ModelTensors::declared(const std::string& name) const {
  for (const auto* list : {&graph_.inputs, &graph_.values, &graph_.outputs})
    for (const OnnxDeclared& declared : *list)
      if (declared.name == name) return &declared;
  return nullptr;
}

OnnxTensor ModelTensors::find(const std::string& name) const {
  const auto refused = [](std::string problem) { return OnnxTensor{find_element("float32"), {}, {}, std::move(problem)}; };
  if (const auto constant = graph_.constants.find(name); constant != graph_.constants.end()) return constant->second;
  const OnnxDeclared* found = declared(name);
  if (found == nullptr) return refused(fmt::format("tensor '{}': the model does not say its shape; onnx.shape_inference.infer_shapes adds it", name));
  if (!found->tensor.problem.empty()) return refused("tensor " + found->tensor.problem);
  OnnxTensor tensor = found->tensor;
  for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
    if (tensor.extents[i] >= 0) continue;
    const auto given = symbols_.find(found->symbols[i]);
    if (given == symbols_.end())
      return refused(fmt::format("tensor '{}': axis {} is symbolic ('{}'); {}", name, i, found->symbols[i],
                                 found->symbols[i] == "?" ? "a model with extents is right" : fmt::format("--shape {}=... gives its extent", found->symbols[i])));
    tensor.extents[i] = given->second;
  }
  return tensor;
}

Kind ModelTensors::kind(const std::string& name) const {
  const auto constant = graph_.constants.find(name);
  const OnnxDeclared* found = declared(name);
  const OnnxElement* element = constant != graph_.constants.end() ? constant->second.element : found != nullptr ? found->tensor.element : nullptr;
  return element == nullptr || element->kind == Kind::real || element->kind == Kind::boolean ? element == nullptr ? Kind::real : element->kind : Kind::i64;
}

Imported import_part(const OnnxSubgraph& graph, const ImportRequest& request, const OnnxOperation& last, std::int64_t opset) {
  Imported none;
  if (!Translator::knows(last) || last.outputs.empty()) {
    none.problem = fmt::format("node '{}': operator '{}' is not supported; one of attention, or the product with the values behind a softmax, is right", request.node, last.op);
    return none;
  }
  if (last.outputs.size() > 1) {
    none.problem = fmt::format("node '{}': operator '{}' gives {} tensors; a part ends in a node of one", request.node, last.op, last.outputs.size());
    return none;
  }
  PartFinder part(graph, request);
  part.find(last);
  none.problem = part.problem();
  return none.problem.empty() ? PartBuilder(graph, request, part, last, opset).imported() : std::move(none);
}

std::string graph_name_of(std::string_view name) {
  std::string kept;
  for (const char c : name) kept += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  while (!kept.empty() && kept[0] == '_') kept.erase(0, 1);
  if (kept.size() > 40) kept.erase(0, kept.size() - 40);
  return kept.empty() || !name_problem("", kept).empty() ? "node_" + kept.substr(0, 34) : kept;
}

}  // namespace attune
