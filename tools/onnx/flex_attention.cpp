#include <fmt/format.h>

#include "tools/onnx/attention.h"
#include "tools/onnx/operands.h"
#include "tools/onnx/operators.h"
#include "tools/onnx/translator.h"

namespace attune {
namespace {

/// Of the operators in subgraphs, which are of the domain without a name: the first that FlexAttention stands beside.
constexpr std::int64_t opset_of_subgraphs = 26;

class FlexBuilder {
 public:
  FlexBuilder(const OnnxNode& node, const AttentionShape& shape) : node_(node), shape_(shape), terms_(result_.graph, *names_, result_.constants) {}

  NodeGraph graph() {
    terms_.translate([&](Translator&) { build(); });
    result_.problem = terms_.problem();
    if (!result_.problem.empty()) return std::move(result_);
    g.finish();
    result_.owner = names_;
    return std::move(result_);
  }

 private:
  void build() {
    const std::vector<Axis> axes = {{terms_.fresh(shape_.batch, "batch", AxisTable::Bound::value)},
                                    head_axis(),
                                    {terms_.fresh(shape_.queries, "queries", AxisTable::Bound::value)},
                                    {terms_.fresh(shape_.fresh, "keys", AxisTable::Bound::value)}};
    if (terms_.emits()) declare();
    const Term scores = modified("score_mod", {Kind::real, axes, std::nullopt, {}, scores_});
    if (terms_.emits() && terms_.problem().empty()) weights_ = softmax(terms_.value_of(scores), keys);
    const Term weights = modified("prob_mod", {Kind::real, axes, std::nullopt, {}, weights_});
    if (terms_.emits() && terms_.problem().empty()) write(matmul(terms_.value_of(weights), *v_, keys));
  }
  Axis head_axis() {
    if (!shape_.is_grouped()) return {terms_.fresh(shape_.query_heads, "heads", AxisTable::Bound::value)};
    const int all = terms_.fresh(shape_.heads, "heads", AxisTable::Bound::value);
    return {all, terms_.fresh(shape_.group(), "group", AxisTable::Bound::value)};
  }

  void declare() {
    const Dim query_heads = g.dim("query_heads");
    const Value q = shape_.is_grouped() ? split(g.input("Q", {batch, query_heads, queries, depth}), query_heads, {heads, {group, shape_.group()}})
                                        : g.input("Q", {batch, heads, queries, depth});
    const Value k = g.input("K", {batch, heads, keys, depth});
    v_ = g.input("V", {batch, heads, keys, value_depth});
    const Value product = matmul(q, k, depth);
    scores_ = node_.is_set("scale") ? scale(product, node_.number("scale")) : scale(product, 1 / sqrt(extent(depth)));
  }

  /// What the subgraph makes of the scores or weights; it must leave their shape and kind.
  Term modified(std::string_view attribute, const Term& term) {
    const auto found = node_.attributes.find(attribute);
    if (found == node_.attributes.end()) return term;
    const Term result = terms_.run(*std::get<std::shared_ptr<const OnnxSubgraph>>(found->second), term, opset_of_subgraphs);
    const std::vector<std::int64_t> before = terms_.extents(term), after = terms_.extents(result);
    if (result.kind != Kind::real)
      terms_.fail(fmt::format("attribute '{}': makes {} of reals; it must give reals", attribute, result.kind == Kind::boolean ? "truth values" : "integers"));
    else if (before != after)
      terms_.fail(fmt::format("attribute '{}': makes {} of {}; it must give the shape that it takes", attribute, shape_text(after), shape_text(before)));
    return terms_.problem().empty() && terms_.emits() ? fitted(result, term) : result;
  }

  /// The result over the dims of what the subgraph took. Others, as of the heads that a matrix mixes others into, are read at the same positions.
  Term fitted(Term result, const Term& term) {
    for (const Axis& axis : term.axes)
      if (terms_.axes.dims(axis).size() != axis.size()) return terms_.fail("an axis of the scores is taken apart; the subgraph must leave axes as they are"), result;
    Value x = terms_.value_of(result);
    std::vector<std::pair<Name, std::size_t>> others;  // what stands for one, and the axis
    for (std::size_t i = 0; i < term.axes.size(); ++i) {
      const Axis own = terms_.axes.dims(result.axes[i]);
      if (own == terms_.axes.dims(term.axes[i])) continue;
      for (const int dim : own) {
        if (!dims_of(x).has(terms_.name_of(dim))) continue;
        if (own.size() > 1) return terms_.fail("makes an axis of several; the subgraph must leave axes as they are"), result;
        const Name other = terms_.label_of(fmt::format("{}_made", terms_.axes.name(dim)));
        x = rename(x, {&g, terms_.name_of(dim)}, g.dim(other));
        others.emplace_back(other, i);
      }
    }
    for (const auto& [other, axis] : others) x = gather(x, position_along(terms_, term.axes[axis]), {&g, other});
    for (const Axis& axis : term.axes)
      for (const Name dim : terms_.names_of(axis))
        if (!dims_of(x).has(dim)) x = along(x, {&g, dim});
    result.value = x;
    result.axes = term.axes;
    result.numbers.reset();
    return result;
  }

  void write(Value y) {
    if (!shape_.is_grouped()) return g.output("Y", y, {batch, heads, queries, value_depth});
    const Dim joined = g.dim("joined");
    g.output("Y", merge(y, {heads, group}, joined), {batch, joined, queries, value_depth});
  }

  const OnnxNode& node_;
  const AttentionShape& shape_;
  NodeGraph result_;
  std::shared_ptr<std::deque<std::string>> names_ = std::make_shared<std::deque<std::string>>();
  Translator terms_;
  Graph& g = result_.graph;
  Dim batch = g.dim("batch"), heads = g.dim("heads"), group = g.dim("group"), queries = g.dim("queries"), keys = g.dim("keys");
  Dim depth = g.dim("depth"), value_depth = g.dim("value_depth");
  std::optional<Value> scores_, weights_, v_;
};

NodeGraph flex_graph(const OnnxNode& node) {
  const AttentionShape shape = attention_shape(node);
  NodeGraph none;
  none.problem = !shape.problem.empty() ? shape.problem : shape.is_3d ? "input 'Q': has 3 axes; FlexAttention takes 4" : softmax_precision_problem(node);
  return none.problem.empty() ? FlexBuilder(node, shape).graph() : std::move(none);
}

constexpr OnnxInput flex_inputs[] = {{"Q", true}, {"K", true}, {"V", true}};
constexpr std::string_view flex_outputs[] = {"Y"};
constexpr OnnxAttributeRule flex_attributes[] = {
    {"prob_mod", OnnxAttributeKind::graph}, {"scale", OnnxAttributeKind::real}, {"score_mod", OnnxAttributeKind::graph}, {"softmax_precision"}};

}  // namespace

/// Of the preview domain: the subgraph score_mod changes the scaled scores, prob_mod the weights.
OnnxOperator flex_attention_operator() { return {"FlexAttention", "ai.onnx.preview", 1, flex_inputs, flex_outputs, flex_attributes, flex_graph}; }

}  // namespace attune
