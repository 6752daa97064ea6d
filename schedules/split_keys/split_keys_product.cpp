// Products of queries and keys, summed along the contracted dims.
#include <set>

#include "schedules/split_keys/split_keys_stage.h"

using Halide::Expr;
using Halide::RDom;

namespace attune {
namespace {

/// The places along the dim, multiples of `lanes`, at which another memory is read: where a concat's next operand begins.
class Boundaries : public Halide::Internal::IRVisitor {
 public:
  Boundaries(const std::string& dim, int lanes) : dim_(dim), lanes_(lanes) {}
  std::set<int> found;

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::LT* compared) override {
    const auto* index = compared->a.as<Halide::Internal::Variable>();
    const std::optional<int> place = fixed_value(compared->b);
    if (index != nullptr && index->name == dim_ && place && *place > 0 && *place % lanes_ == 0) found.insert(*place);
    IRVisitor::visit(compared);
  }

  const std::string& dim_;
  const int lanes_;
};

}  // namespace

/// A term of the sum over body.over, at a part's loops and lane_ of a vector along its last dim; 0 beyond the end of a last vector.
Expr SplitKeysStage::term(const ProductPart& part, const Expr& first_vector, bool is_whole) {
  const RDom& over = part.over;
  const int vectors = part.is_paired ? 1 : 0;  // the loop over them
  const Expr vector = part.is_paired ? Expr(over[1] * 2 + over[0]) : first_vector + over[0];
  Coordinates at = row_coordinates();
  Exprs indices = {vector};
  for (int n = vectors + 1; n < over.dimensions(); ++n) indices.emplace_back(over[n]);
  place_over(body_, indices, at);
  const std::string& last = body_.over.back();
  const Expr in_order = vector * tiles_.lanes + lane_, first_of_pair = over[vectors] * (2 * tiles_.lanes) + lane_ * 2;
  at[last] = part.is_paired ? first_of_pair + over[0] : is_whole ? in_order : min(in_order, extents_.at(last) - 1);
  at[body_.keys] = key_at(key_);
  Expr query, key;
  if (body_.query) query = query_panel_(joined(joined(joined({lane_}, indices), {row_, row_group_, row_tile_}), batch_));
  if (body_.key) key = part.is_paired ? bf16_element(body_.key, last, at, first_of_pair, over[0]) : body_.key.at(at);
  const Expr term = score_term(body_, query, key, at);
  return is_whole ? term : select(in_order < extents_.at(last), term, 0.f);
}

std::set<int> SplitKeysStage::boundaries_of_keys() const {
  const std::optional<int> extent = fixed_value(extents_.at(body_.over.back()));
  if (!body_.key || !extent || !is_const_zero(key_places_.paired)) return {};
  Boundaries boundaries(body_.over.back(), tiles_.lanes);
  Halide::Internal::simplify(body_.key.at(vars_at(body_.key.dims))).accept(&boundaries);
  boundaries.found.erase(boundaries.found.lower_bound(*extent / tiles_.lanes * tiles_.lanes), boundaries.found.end());
  return boundaries.found;
}

/// Sums along the last dim of body.over by lane: pairs of vectors, whole vectors, then a last one that is not; and over the lanes.
void SplitKeysStage::define_product() {
  using Halide::Internal::simplify;
  const Expr extent = extents_.at(body_.over.back()), whole = extent / tiles_.lanes, &paired = key_places_.paired;
  product_(per_row({lane_, key_})) = select(row_ == 0, after(prefetch_key(), 0.f), 0.f);
  const auto add = [&](const char* name, const Expr& first, const Expr& count, bool is_whole, bool is_paired) {
    if (is_const_zero(simplify(count))) return;
    Halide::Region ranges;
    if (is_paired) ranges.emplace_back(0, 2);
    ranges.emplace_back(0, simplify(is_paired ? count / 2 : count));
    for (auto dim = body_.over.rbegin() + 1; dim != body_.over.rend(); ++dim) ranges.emplace_back(0, extents_.at(*dim));
    const ProductPart& part = product_parts_.emplace_back(RDom(ranges, name), is_paired);
    product_(per_row({lane_, key_})) += term(part, first, is_whole);
  };
  add("over_pairs", 0, paired, true, true);
  // One loop for each memory that is read: with more than one in it, each vector would be picked from both.
  Expr from = paired;
  for (const int place : boundaries_of_keys()) {
    add("over_part", from, place / tiles_.lanes - from, true, false);
    from = place / tiles_.lanes;
  }
  add("over", from, whole - from, true, false);
  add("over_tail", whole, tiles_of(extent, tiles_.lanes) - whole, false, false);
  across_ = RDom(0, tiles_.lanes, "across");
  product_sum_(per_row({key_})) = 0.f;
  product_sum_(per_row({key_})) += product_(per_row({across_.x, key_}));
}

}  // namespace attune
