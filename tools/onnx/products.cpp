#include <algorithm>

#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// c[.., m, n] = sum over k of a[.., m, k] * b[.., k, n]. A dim of b that stands in another place of a is renamed: the same tokens in two roles.
Term matmul_of(Translator& t, const OnnxOperation&, std::span<const Term* const> given, std::int64_t) {
  Term a = *given[0], b = *given[1], result;
  if (a.axes.size() < 2 || b.axes.size() < 2) return t.fail("an operand has fewer than 2 axes; Unsqueeze gives it more"), result;
  const Axis m = a.axes[a.axes.size() - 2], k = a.axes.back();
  Axis &b_k = b.axes[b.axes.size() - 2], &b_n = b.axes.back();
  const auto holds_any = [&](const Axis& all, const Axis& some) {
    return std::ranges::any_of(t.axes.dims(some), [&, dims = t.axes.dims(all)](int dim) { return std::ranges::find(dims, dim) != dims.end(); });
  };
  Axis rest_of_a = m;
  for (std::size_t i = 0; i + 2 < a.axes.size(); ++i) rest_of_a.insert(rest_of_a.end(), a.axes[i].begin(), a.axes[i].end());
  if (t.axes.extent(k) != t.axes.extent(b_k))
    return t.fail("sums " + std::to_string(t.axes.extent(k)) + " positions of one operand and " + std::to_string(t.axes.extent(b_k)) +
                  " of the other"),
           result;
  t.rename_if(holds_any(t.axes.dims(a.axes), b_n), b, b_n);
  t.rename_if(holds_any(rest_of_a, b_k), b, b_k);
  if (!t.emits()) t.summed.push_back(k);
  if (!t.axes.unify(k, b_k)) return t.fail("the axes that are summed are taken apart unevenly"), result;

  std::vector<Term> batches = {a, b};
  for (Term& batch : batches) batch.axes.resize(batch.axes.size() - 2);
  result.axes = t.broadcast(batches);
  result.axes.push_back(m);
  result.axes.push_back(b_n);
  if (!t.emits() || !t.problem().empty()) return result;
  b.value = batches[1].value ? batches[1].value : b.value;
  result.value = product_over(t, a, b, k);
  return result;
}

/// Scores are of queries and keys, wherever they come from: their dims get these names.
void name_scores(Translator& t, const Term& scores) {
  const std::size_t rank = scores.axes.size();
  t.axes.suggest(scores.axes[rank - 1], "keys");
  if (rank > 1) t.axes.suggest(scores.axes[rank - 2], "queries");
  if (rank > 2) t.axes.suggest(scores.axes[0], "batch");
  for (std::size_t i = 1; i + 2 < rank; ++i) t.axes.suggest(scores.axes[i], "heads");
}

Term softmax_of(Translator& t, const OnnxOperation& operation, std::span<const Term* const> given, std::int64_t opset) {
  Term result = *given[0];
  const auto rank = static_cast<std::int64_t>(result.axes.size());
  std::int64_t axis = integer_of(number_of(operation, "axis", opset < 13 ? 1 : -1));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return t.fail("axis " + std::to_string(axis) + " is none of the operand's " + std::to_string(rank)), result;
  if (opset < 13 && axis != rank - 1) return t.fail("before opset 13 it runs over all axes from `axis` on; the last axis alone is supported"), result;
  name_scores(t, result);
  result.numbers.reset();
  result.extents_of.clear();
  result.is_weights = true;
  if (!t.emits() || !t.problem().empty()) return result;
  const Axis& over = result.axes[static_cast<std::size_t>(axis)];
  if (t.names_of(over).empty() || !has_all(t, *given[0], over)) return t.fail("runs over an axis of extent 1, or one along which its operand was expanded"), result;
  const Names dims = t.names_of(over);
  const Value scores = t.value_of(*given[0]);
  result.value = dims.size() == 1 ? call(Softmax{dims[0]}, {scores}, Here::current()) : call(JointSoftmax{dims}, {scores}, Here::current());
  return result;
}

constexpr TermRule rules[] = {{"MatMul", 2, 2, matmul_of}, {"Softmax", 1, 1, softmax_of}};

}  // namespace

std::span<const TermRule> product_rules() { return rules; }

}  // namespace attune
