#include "codegen/tensor_cores/attention_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/plan/node_users.h"
#include "codegen/tensor_cores/emitted_graph.h"
#include "codegen/tensor_cores/shared_tile.h"

namespace attune::tensor_cores {
namespace {

/// The most columns of an operand: the sums of a row, and what is multiplied with them, stay in registers.
constexpr std::int64_t most_columns = 128;

template <class Op>
const Op* as(const Node& node) {
  return std::get_if<Op>(&node.op);
}

/// Reads the stage off the graph of a step; `problem_` is the first thing that is in the way.
class Reading {
 public:
  Reading(const KernelSteps& plan, const Step& step) : plan_(plan), step_(step) {}

  AttentionAnswer run() {
    const auto* roles = std::get_if<OnlineSoftmaxRoles>(&step_.roles);
    if (roles == nullptr) return {std::nullopt, fmt::format("tensor cores compute attention, and the stage is {}", step_.kind())};
    if (roles->product < 0 || !roles->parts.empty())
      return {std::nullopt, "tensor cores multiply one matrix of queries with one of keys, and the scores are none such product"};
    if (roles->matmul < 0) return {std::nullopt, "tensor cores sum values, and the stage stores numbers of rows alone"};
    if (roles->row_maximum >= 0) return {std::nullopt, "tensor cores store no greatest score of a row"};
    take_dims(*roles);
    take_extents();
    stage_.query = operand(roles->query, "queries", stage_.over);
    stage_.key = operand(roles->key, "keys", stage_.over);
    stage_.value = operand(roles->value, "values", stage_.value_depth);
    take_elements();
    take_nodes(*roles);
    if (!problem_.empty()) return {std::nullopt, std::move(problem_)};
    return {std::move(stage_), {}};
  }

 private:
  const Node& node(int id) const { return step_.graph.node(id); }
  void refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void take_dims(const OnlineSoftmaxRoles& roles) {
    stage_.queries = roles.queries;
    stage_.keys = roles.keys;
    stage_.value_depth = roles.value_depth;
    for (const Name dim : node(roles.matmul).type.dims)
      if (dim != roles.queries && dim != roles.value_depth) stage_.batch.emplace_back(dim);
    const Names& over = as<Matmul>(node(roles.product))->over;
    if (over.size() != 1)
      refuse(fmt::format("tensor cores contract one dim of queries and keys, and the product has {}", over.size()));
    else
      stage_.over = over[0];
  }

  Operand operand(int id, std::string_view what, const std::string& innermost) {
    OperandAnswer found = read_operand(plan_, step_, id, what);
    if (!found.problem.empty())
      refuse(found.problem);
    else if (found.operand.dims.empty() || found.operand.dims.back() != innermost)
      refuse(fmt::format("tensor cores load rows of {} that lie side by side, and '{}' is not stored by rows of {}", what, tensor(found.operand).name,
                         innermost));
    return found.operand;
  }
  const StepTensor& tensor(const Operand& of) const { return plan_.tensors[step_.inputs[of.input]]; }

  void take_elements() {
    if (!problem_.empty()) return;
    stage_.element = tensor(stage_.query).element;
    refuse(storage_problem(plan_, step_, {&stage_.query, &stage_.key, &stage_.value}, {Element::bf16, Element::f16, Element::f32}));
    if (stage_.value.factor != 1) refuse("tensor cores load values as they are stored, and they are multiplied");
  }

  std::int64_t known_extent(const std::string& dim) {
    const auto known = plan_.known.find(dim);
    if (known == plan_.known.end())
      refuse(fmt::format("tensor cores need '{}' known when the kernel is compiled: --set {}=64", dim, dim));
    else if (known->second < 1 || known->second > most_columns)
      refuse(fmt::format("tensor cores take 1 to {} columns, and {} = {}", most_columns, dim, known->second));
    return known == plan_.known.end() ? 0 : known->second;
  }
  void take_extents() {
    if (!problem_.empty()) return;
    stage_.depth = known_extent(stage_.over);
    stage_.value_columns = known_extent(stage_.value_depth);
  }

  void take_nodes(const OnlineSoftmaxRoles& roles) {
    const Graph& graph = step_.graph;
    take_score(roles);
    stage_.softmax = roles.softmax;
    const Node& matmul = node(roles.matmul);
    stage_.weights = matmul.inputs[0] == roles.value ? matmul.inputs[1] : matmul.inputs[0];
    stage_.matmul = roles.matmul;
    stage_.result = graph.outputs()[0].node;
    stage_.has_result_rows = plan_.tensors[step_.outputs[0]].dims.back() == stage_.value_depth;
    stage_.has_log_sum_exp = roles.log_sum_exp >= 0;
    stage_.reads_for_pairs = reads_for_pairs(stage_.score, stage_.product) || reads_for_pairs(stage_.weights, stage_.softmax) ||
                             std::ranges::any_of(stage_.masks, [&](const MaskPredicate& mask) { return reads_for_pairs(mask.node, -1); });
    check_code(stage_.score, {stage_.product}, "of the scores");
    check_code(stage_.weights, {stage_.softmax}, "of the weights");
    check_code(stage_.result, {stage_.matmul}, "of the result");
    for (const MaskPredicate& mask : stage_.masks) check_code(mask.node, {}, "of a mask");
  }
  void take_score(const OnlineSoftmaxRoles& roles) {
    const Graph& graph = step_.graph;
    auto [score, masks] = peel_masks(graph, node(roles.softmax).inputs[0]);
    for (auto multiple = multiple_of(graph, score); multiple && multiple->factor > 0; multiple = multiple_of(graph, score)) {
      stage_.score_factor *= multiple->factor;
      score = multiple->node;
    }
    stage_.product = roles.product;
    stage_.score = score;
    stage_.masks = std::move(masks);
    std::vector<int> ways;
    look_below(graph, score, [&](int id) {
      const bool is_way = id == roles.product || (as<Tanh>(node(id)) != nullptr && reaches(graph, id, roles.product));
      if (is_way) ways.push_back(id);
      return !is_way;
    });
    if (ways.size() == 1 && ways[0] != roles.product) stage_.cap = ways[0];
  }
  /// Whether the node is made of a tensor that has other dims than those of `batch`, down to the nodes of `inner`.
  bool reads_for_pairs(int id, int inner) const {
    if (id == inner) return false;
    const Node& at = node(id);
    if (as<Input>(at) != nullptr)
      return std::ranges::any_of(at.type.dims, [&](Name dim) { return std::ranges::find(stage_.batch, dim) == stage_.batch.end(); });
    return std::ranges::any_of(at.operands(), [&](int operand) { return reads_for_pairs(operand, inner); });
  }
  void check_code(int id, const std::vector<int>& inner, std::string_view what) {
    if (const std::string_view name = operation_without_code(step_.graph, id, inner); !name.empty())
      refuse(fmt::format("tensor cores have no code for '{}' {}", name, what));
  }

  const KernelSteps& plan_;
  const Step& step_;
  AttentionStage stage_;
  std::string problem_;
};

}  // namespace

bool AttentionStage::may_be_aligned() const {
  const int elements = chunk_elements(element);
  return depth % elements == 0 && value_columns % elements == 0;
}

AttentionAnswer attention_stage(const KernelSteps& plan, const Step& step) { return Reading(plan, step).run(); }

}  // namespace attune::tensor_cores
