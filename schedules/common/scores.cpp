#include "schedules/common/scores.h"

#include <algorithm>
#include <cmath>

#include "codegen/halide/numbers/strict.h"
#include "schedules/common/prefetch.h"

using Halide::Expr;

namespace attune {
namespace {

bool have(const OnlineSoftmax& body, const std::string& dim) {
  return std::ranges::find(body.key.dims, dim) != body.key.dims.end() || std::ranges::find(body.value.dims, dim) != body.value.dims.end();
}

}  // namespace

std::vector<std::string> dims_of_keys(const OnlineSoftmax& body) {
  std::vector<std::string> dims = body.batch;
  std::erase_if(dims, [&](const std::string& dim) { return !have(body, dim); });
  return dims;
}

std::vector<std::string> dims_of_rows(const OnlineSoftmax& body) {
  std::vector<std::string> dims = body.batch;
  std::erase_if(dims, [&](const std::string& dim) { return have(body, dim); });
  dims.push_back(body.queries);
  return dims;
}

bool is_plain_product(const OnlineSoftmax& body) { return !body.change && !body.score && !body.combine; }

bool is_base_2(const OnlineSoftmax& body) { return body.has_softmax && is_plain_product(body); }

bool keeps_total(const OnlineSoftmax& body) { return body.has_softmax || body.is_of_rows || body.of_total || body.row_total; }

Expr hidden_score(const OnlineSoftmax& body) { return body.has_softmax || std::isinf(body.hidden) ? hidden_score() : Expr(body.hidden); }

Expr term_of_total(const OnlineSoftmax& body, const Expr& weight) { return body.term ? body.term(weight) : weight; }

Expr total_of_nothing(const OnlineSoftmax& body) { return body.fold == OnlineSoftmax::Fold::sum ? Expr(0.f) : hidden_score(); }

Expr folded(const OnlineSoftmax& body, const Expr& a, const Expr& b) {
  if (body.fold == OnlineSoftmax::Fold::sum) return a + b;
  return Halide::select(strict_less(a, b) || !has_number_bits(b), b, a);  // of NaN and anything NaN
}

Expr folded_lanes(const OnlineSoftmax& body, int lanes, const std::function<Expr(int lane)>& total) {
  return across_lanes(lanes, total, [&](const Expr& a, const Expr& b) { return folded(body, a, b); });
}

Expr number_of_row(const OnlineSoftmax& body, const Expr& total, const Expr& reference) {
  return body.has_softmax ? log_sum_exp_of(reference * ln_2, total) : total;
}

Expr finished(const OnlineSoftmax& body, const Expr& sum, const Expr& total, const Coordinates& at) {
  Expr made = sum;
  if (body.of_total) made = body.of_total(sum, total, at);
  else if (body.row_total) made = after(total, sum);  // it is stored where it is computed
  return body.finish ? body.finish(made, at) : made;
}

void place_over(const OnlineSoftmax& body, const Exprs& indices, Coordinates& at) {
  for (std::size_t n = 0; n < indices.size(); ++n) at[body.over[body.over.size() - 1 - n]] = indices[n];
}

Expr query_of_product(const OnlineSoftmax& body, const Coordinates& at) {
  const Expr query = body.query.at(at);
  return is_base_2(body) ? query * log2_e : query;
}

Expr score_term(const OnlineSoftmax& body, const Expr& query, const Expr& key, const Coordinates& at) {
  return body.combine ? body.combine(query, key, at) : query * key;
}

Expr only_term(const OnlineSoftmax& body, const Coordinates& at) {
  const Expr query = body.query ? body.query.at(at) : Expr(), key = body.key ? body.key.at(at) : Expr();
  const Expr term = score_term(body, query, key, at);
  return is_base_2(body) ? term * log2_e : term;
}

Expr changed_score(const OnlineSoftmax& body, const Expr& raw, const Coordinates& at, bool is_base_2) {
  const Expr score = body.change ? body.change(raw, at) : raw;
  return is_base_2 || !body.has_softmax ? score : score * log2_e;
}

Expr is_seen(const OnlineSoftmax& body, const Coordinates& at, const Expr& exists) { return body.visible ? body.visible(at) && exists : exists; }

}  // namespace attune
