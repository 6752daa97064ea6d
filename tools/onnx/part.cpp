#include "tools/onnx/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/dialect/identifier.h"
#include "tools/onnx/part_finder.h"
#include "tools/onnx/translator.h"

namespace attune {
namespace {

class PartBuilder {
 public:
  PartBuilder(const OnnxSubgraph& graph, const ImportRequest& request, const PartFinder& part, const OnnxOperation& last, std::int64_t opset)
      : graph_(graph),
        part_(part),
        last_(last),
        opset_(opset),
        tensors_(graph, request.extents),
        terms_(result_.node.graph, *names_, result_.node.constants) {}

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
      for (const std::string& input : operation.inputs) operands.push_back(operand(operation, input, operands.empty()));
      std::vector<Term> made = terms_.results(operation, operands, opset_);
      if (&operation == &last_ && !made.empty()) name_result(made.front());
      for (std::size_t i = 0; i < std::min(made.size(), operation.outputs.size()); ++i)
        known_.insert_or_assign(operation.outputs[i], std::move(made[i]));
    }
    if (terms_.emits() && terms_.problem().empty()) write(known_.at(last_.outputs[0]));
  }

  const Term* operand(const OnnxOperation& operation, const std::string& input, bool is_first) {
    if (input.empty()) return nullptr;
    return operation.op == "CastLike" && !is_first ? &like(input) : &term(input, operation.op == "Shape");
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
    made.width = width_of(*tensor.element);
    for (const std::int64_t extent : tensor.extents)
      made.axes.push_back({terms_.fresh(extent, {}, is_input ? AxisTable::Bound::input : AxisTable::Bound::no)});
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

Imported import_part(const OnnxSubgraph& graph, const ImportRequest& request, const OnnxOperation& last, std::int64_t opset) {
  Imported none;
  if (!Translator::knows(last) || last.outputs.empty()) {
    none.problem = fmt::format("node '{}': operator '{}' is not supported; one of attention, or the product with the values behind a softmax, is right", request.node, full_name(last));
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
