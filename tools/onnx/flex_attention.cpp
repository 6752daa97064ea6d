#include <fmt/format.h>

#include "tools/onnx/attention.h"
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
    const bool is_same = before == after && result.kind == Kind::real && (!terms_.emits() || long_dims(term) == long_dims(result));
    if (!is_same) terms_.fail(fmt::format("attribute '{}': makes {} of {}; it must give reals of the shape that it takes", attribute, shape_text(after), shape_text(before)));
    return result;
  }

  /// The dims of more positions than one: what has one broadcasts.
  Axis long_dims(const Term& term) const {
    Axis dims = terms_.axes.dims(term.axes);
    std::erase_if(dims, [&](int dim) { return terms_.axes.extent(dim) == 1; });
    return dims;
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
