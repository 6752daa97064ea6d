#include "codegen/halide/lower/stage_body.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "codegen/plan/score_masks.h"

namespace attune {
namespace {

std::vector<std::string> strings(const Names& names) { return {names.begin(), names.end()}; }

int result_of(const LoweredGraph& values) { return values.graph().outputs()[0].node; }

/// What `result` makes of the value that stands for each of `inner`, or nothing if they are the same.
std::function<Halide::Expr(Halide::Expr, const Coordinates&)> change(const LoweredGraph& values, const std::vector<int>& inner, int result) {
  if (inner == std::vector{result}) return {};
  return [&values, inner, result](const Halide::Expr& value, const Coordinates& at) {
    Given given;
    for (const int node : inner) given.emplace(node, Lowered{value});
    return values.at(result, at, given).expr;
  };
}

std::vector<int> products_of(const AttentionRoles& roles) {
  std::vector<int> products;
  for (const KeyPart& part : roles.parts)
    if (part.product >= 0) products.push_back(part.product);
  return products;
}

/// The operands of the parts' products along all keys; where a part has no product, some element of another's.
Piece key_of_parts(const LoweredGraph& values, const AttentionRoles& roles) {
  Names dims;
  for (const KeyPart& part : roles.parts)
    if (part.product >= 0) dims.unite(values.graph().node(part.key).type.dims.renamed(part.along, roles.keys));
  const auto at = [&values, roles](const Coordinates& coordinates) {
    const Halide::Expr position = coordinates.at(std::string(roles.keys));
    Halide::Expr key, first = 0;
    for (const KeyPart& part : roles.parts) {
      const std::string along(part.along);
      const Halide::Expr extent = values.extents().at(along);
      if (part.product >= 0) {
        Coordinates own = coordinates;
        own[along] = Halide::clamp(position - first, 0, Halide::max(extent - 1, 0));
        const Halide::Expr element = values.at(part.key, own).expr;
        key = key.defined() ? Halide::select(position < first, key, element) : element;
      }
      first = first + extent;
    }
    return Lowered{key};
  };
  return {strings(dims), at};
}

void add_visibility(const LoweredGraph& values, const std::vector<MaskPredicate>& predicates, OnlineSoftmax& stage) {
  if (predicates.empty()) return;
  stage.visible = [&values, predicates](const Coordinates& at) {
    Halide::Expr visible;
    for (const MaskPredicate& p : predicates) {
      const Halide::Expr holds = values.at(p.node, at).expr, shows = p.is_hiding ? !holds : holds;
      visible = visible.defined() ? visible && shows : shows;
    }
    return visible;
  };
  stage.visibility = [&values, predicates](const Block& block) {
    Visibility all{Halide::Internal::const_true(), Halide::Internal::const_true()};
    for (const MaskPredicate& p : predicates) {
      const Interval<Lowered> holds = values.over(p.node, block);
      all.certainly = all.certainly && block_condition(p.is_hiding ? !holds.high : holds.low);
      all.possibly = all.possibly && block_condition(p.is_hiding ? !holds.low : holds.high);
    }
    return all;
  };
}

const Names& summed_dims(const Node& node) {
  if (const auto* matmul = std::get_if<Matmul>(&node.op)) return matmul->over;
  return std::get<ReduceSum>(node.op).over;
}

/// A term of the sum over pairs, from the values of its query and its key.
std::function<Halide::Expr(Halide::Expr, Halide::Expr, const Coordinates&)> combination(const LoweredGraph& values, const AttentionRoles& roles) {
  return [&values, roles](const Halide::Expr& query, const Halide::Expr& key, const Coordinates& at) {
    const Given given{{roles.query, {query}}, {roles.key, {key}}};
    Halide::Expr term;
    for (const int operand : values.graph().node(roles.sum).operands()) {
      const Halide::Expr factor = values.at(operand, at, given).expr;
      term = term.defined() ? term * factor : factor;
    }
    return term;
  };
}

/// The operand, or nothing if it is 0.
Piece piece_unless_zero(const LoweredGraph& values, int node) {
  const auto* constant = std::get_if<Constant>(&values.graph().node(node).op);
  return constant != nullptr && constant->value == 0 ? Piece{} : values.piece(node);
}

/// Sorts the dims of a recurrence's state. Those that its decay alone has beside the value are columns if it has no others: without any, what goes
/// through the tokens together would be one element.
void add_state_dims(const LoweredGraph& values, const Names& state, std::span<const int> operands, RecurrenceBody& stage) {
  Names shared, of_decay;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t place = i + recurrent::operand_count - operands.size();
    if (place == recurrent::value || place == recurrent::initial) continue;
    (place == recurrent::log_decay ? of_decay : shared).unite(values.graph().node(operands[i]).type.dims.without({stage.along, stage.over}));
  }
  const Names of_value = state.without({stage.over}).without(shared);
  stage.has_column_decay = !of_value.empty() && of_value.without(of_decay).empty();
  if (!stage.has_column_decay) shared.unite(of_decay);
  for (const std::string& dim : strings(state.without({stage.over}))) (shared.has(dim) ? stage.batch : stage.columns).push_back(dim);
}

/// What becomes of the value that weights and terms of the total share. They are 0 where it is hidden.
void add_total_of_others(const LoweredGraph& values, const AttentionRoles& roles, int weight, OnlineSoftmax& stage) {
  stage.hidden = static_cast<float>(roles.hidden);
  stage.weight = change(values, {roles.shared}, weight);
  const int term = peel_masks(values.graph(), values.graph().node(roles.row_sum).inputs[0], 0).score;
  if (const auto made = change(values, {roles.shared}, term)) stage.term = [made](const Halide::Expr& score) { return made(score, {}); };
}

constexpr double nothing = -std::numeric_limits<double>::infinity();  ///< the score of what a softmax or a maximum does not see

/// The stage's dims, and what it makes of scores; `hidden` is what masks put in their place.
void add_kind(const Graph& graph, const AttentionRoles& roles, OnlineSoftmax& stage) {
  stage.queries = roles.queries;
  stage.keys = roles.keys;
  stage.value_depth = roles.value_depth;
  for (const std::string& dim : strings(graph.node(roles.result()).type.dims))
    if (dim != stage.queries && dim != stage.value_depth) stage.batch.push_back(dim);
  stage.has_softmax = roles.softmax >= 0;
  stage.is_of_rows = roles.matmul < 0;
  if (!stage.is_of_rows || !std::holds_alternative<ReduceMax>(graph.node(roles.reduction).op)) return;
  stage.fold = OnlineSoftmax::Fold::maximum;
  stage.hidden = static_cast<float>(nothing);
}

}  // namespace

OnlineSoftmax body_of(const AttentionRoles& roles, const LoweredGraph& values, const ResultDims& results) {
  const Graph& graph = values.graph();
  OnlineSoftmax stage;
  stage.out = results[0];
  if (roles.log_sum_exp >= 0) stage.log_sum_exp = RowResult{results[1], {}};
  if (roles.row_maximum >= 0) stage.row_maximum = RowResult{results.back(), {}};
  if (roles.row_total >= 0) stage.row_total = RowResult{results.back(), {}};
  add_kind(graph, roles, stage);
  const auto [score, predicates] = peel_masks(graph, roles.score(graph), stage.has_softmax ? nothing : stage.hidden);
  const int inner = roles.product >= 0 ? roles.product : roles.sum;
  if (inner >= 0) {
    stage.over = strings(summed_dims(graph.node(inner)));
    stage.query = values.piece(roles.query);
    stage.key = roles.parts.empty() ? values.piece(roles.key) : key_of_parts(values, roles);
    stage.change = change(values, roles.parts.empty() ? std::vector{inner} : products_of(roles), roles.shared >= 0 ? roles.shared : score);
    if (roles.product < 0) stage.combine = combination(values, roles);
  } else {
    stage.score = values.piece(score);
  }
  add_visibility(values, predicates, stage);
  if (stage.has_softmax && !stage.is_of_rows) stage.weight = change(values, {roles.softmax}, roles.weights);
  if (roles.shared >= 0) add_total_of_others(values, roles, score, stage);
  if (!stage.is_of_rows) stage.value = values.piece(roles.value);
  if (roles.last_of_row_sum >= 0)
    stage.of_total = [&values, matmul = roles.matmul, row_sum = roles.row_sum](const Halide::Expr& sum, const Halide::Expr& total,
                                                                               const Coordinates& at) {
      return values.at(result_of(values), at, {{matmul, {sum}}, {row_sum, {total}}}).expr;
    };
  else
    stage.finish = change(values, {roles.result()}, result_of(values));
  return stage;
}

Gemm body_of(const GemmRoles& roles, const LoweredGraph& values, const ResultDims& results) {
  const Graph& graph = values.graph();
  const std::vector<std::string>& out = results[0];
  const Node& node = graph.node(roles.matmul);
  const Names over = std::get<Matmul>(node.op).over;
  const Names &a = graph.node(node.inputs[0]).type.dims, &b = graph.node(node.inputs[1]).type.dims;
  Gemm stage;
  stage.out = out;
  stage.over = strings(over);
  stage.a = values.piece(node.inputs[0]);
  stage.b = values.piece(node.inputs[1]);
  stage.rows = strings(a.without(b).without(over));
  stage.columns = strings(b.without(a).without(over));
  for (const std::string& dim : out)
    if (a.has(dim) && b.has(dim)) stage.batch.push_back(dim);
  // columns are the dims that run fastest in memory: there the vectors lie
  if (!out.empty() && std::ranges::find(stage.rows, out.back()) != stage.rows.end()) {
    std::swap(stage.a, stage.b);
    std::swap(stage.rows, stage.columns);
  }
  stage.finish = change(values, {roles.matmul}, result_of(values));
  return stage;
}

RowSoftmax body_of(const RowSoftmaxRoles& roles, const LoweredGraph& values, const ResultDims& results) {
  const Node& node = values.graph().node(roles.softmax);
  RowSoftmax stage{values.piece(node.inputs[0]), std::string(std::get<Softmax>(node.op).over), results[0], {}};
  if (roles.log_sum_exp >= 0) stage.log_sum_exp = RowResult{results[1], {}};
  return stage;
}

RecurrenceBody body_of(const RecurrenceRoles& roles, const LoweredGraph& values, const ResultDims& results) {
  const Graph& graph = values.graph();
  const bool has_query = roles.recurrence >= 0;
  const Node& node = graph.node(has_query ? roles.recurrence : roles.state);
  RecurrenceBody stage;
  std::visit([&]<class Op>(const Op& op) {
    if constexpr (requires { op.along; op.over; }) stage.along = op.along, stage.over = op.over;
  }, node.op);
  const std::span<const int> operands = node.operands(), of_state = operands.last(recurrent::operand_count - 1);
  std::vector<Type> types;
  for (const int operand : of_state) types.push_back(graph.node(operand).type);
  const Names state = recurrent::dims_of_all(types, {stage.along});
  add_state_dims(values, state, operands, stage);
  if (has_query) {
    stage.query = values.piece(operands[0]);
    stage.group = strings(graph.node(operands[0]).type.dims.without(state).without({stage.along, stage.over}));
    stage.finish = change(values, {roles.recurrence}, result_of(values));
    if (roles.state >= 0) stage.state = RowResult{results[1], {}};
  }
  const auto operand = [&](recurrent::Place place) { return of_state[static_cast<std::size_t>(place - recurrent::key)]; };
  stage.key = values.piece(operand(recurrent::key));
  stage.value = values.piece(operand(recurrent::value));
  stage.log_decay = piece_unless_zero(values, operand(recurrent::log_decay));
  stage.has_channel_decay = graph.node(operand(recurrent::log_decay)).type.dims.has(stage.over);
  stage.beta = piece_unless_zero(values, operand(recurrent::beta));
  stage.initial = values.piece(operand(recurrent::initial));
  const auto is_key = [&](recurrent::Place place) { return operand(place) == operand(recurrent::key); };
  if (stage.beta && !(is_key(recurrent::asked) && is_key(recurrent::erased)))
    stage.asked = values.piece(operand(recurrent::asked)), stage.erased = values.piece(operand(recurrent::erased));
  stage.out = results[0];
  return stage;
}

Pointwise body_of(const RowWalkRoles& roles, const LoweredGraph& values, const ResultDims& results) {
  const Node& node = values.graph().node(roles.walk);
  Pointwise stage{values.piece(node.inputs[0]), results[0]};
  std::visit(
      [&]<class Op>(const Op& op) {
        if constexpr (requires { Op::is_walk; }) {
          const Kind kind = values.graph().node(node.inputs[0]).type.kind;
          add_walk(op, kind, stage);
          stage.x.element = [of = stage.x.element, op, kind](const Coordinates& at) { return walked_element(op, kind, of(at)); };
        }
      },
      node.op);
  return stage;
}

Pointwise body_of(const ReduceRoles&, const LoweredGraph& values, const ResultDims& results) { return {values.piece(result_of(values)), results[0]}; }
Pointwise body_of(const WriteRowsRoles& roles, const LoweredGraph& values, const ResultDims& results) {
  const Node& node = values.graph().node(roles.write);
  const auto& op = std::get<WriteRows>(node.op);
  const auto row = [&values, start = node.inputs[2], rows = std::string(op.rows)](const Coordinates& at) {
    return Halide::cast<std::int64_t>(values.at(start, at).expr) + at.at(rows);
  };
  const auto capacity = [&values, along = std::string(op.along)] { return values.extents().at(along); };
  RowPlaces places{std::string(op.along), std::string(op.rows), {}, {}};
  if (op.wraps) {
    places.place = [row, capacity](const Coordinates& at) {
      return Halide::cast<std::int32_t>(row(at) % Halide::max(Halide::cast<std::int64_t>(capacity()), 1));
    };
    // of rows that go to one place the last is written, in whatever order tasks run
    places.is_written = [&values, rows = places.rows, capacity](const Coordinates& at) {
      return at.at(rows) >= values.extents().at(rows) - capacity();
    };
  } else {
    places.place = [row](const Coordinates& at) { return Halide::cast<std::int32_t>(row(at)); };
    places.is_written = [row, capacity](const Coordinates& at) { return row(at) >= 0 && row(at) < capacity(); };
  }
  Pointwise stage{values.piece(node.inputs[1]), results[0]};
  stage.places = std::move(places);
  return stage;
}

Pointwise body_of(const PointwiseRoles&, const LoweredGraph& values, const ResultDims& results) {
  return {values.piece(result_of(values)), results[0]};
}

}  // namespace attune
