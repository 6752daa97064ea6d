#include "schedules/pointwise/reduced_rows.h"

#include <optional>

#include "codegen/halide/numbers/load.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace attune {
namespace {

using Halide::Internal::Call;
using Halide::Internal::Function;
using Halide::Internal::Let;
using Halide::Internal::ReductionVariable;

/// What is read has neighbours along the variable: it is in the innermost index of some, and in no other index.
bool lies_along(const std::vector<const Call*>& reads, const std::string& variable) {
  bool is_along = false, is_across = false;
  for (const Call* read : reads)
    for (std::size_t n = 0; n < read->args.size(); ++n)
      if (Halide::Internal::expr_uses_var(read->args[n], variable)) (n == 0 ? is_along : is_across) = true;
  return is_along && !is_across;
}

/// What is added to a sum of f32, or what the greatest of which is a maximum of i32, as that of reals is by their places in order
/// (codegen/halide/numbers/real_order.h).
struct Term {
  Expr value;
  bool is_of_maximum = false;
};

Expr folded(bool by_maximum, const Expr& a, const Expr& b) { return by_maximum ? Halide::max(a, b) : a + b; }

/// The function's update may name parts of it; nothing if it is neither.
std::optional<Term> term_of(const Function& function) {
  if (function.updates().size() != 1 || function.output_types().size() != 1) return {};
  const Halide::Type type = function.output_types()[0];
  std::vector<const Let*> names;
  Expr value = function.update(0).values()[0];
  for (const auto* name = value.as<Let>(); name != nullptr; name = value.as<Let>()) {
    names.push_back(name);
    value = name->body;
  }
  const auto* add = value.as<Halide::Internal::Add>();
  const auto* maximum = value.as<Halide::Internal::Max>();
  if (type == Halide::Float(32) ? add == nullptr : maximum == nullptr || type != Halide::Int(32)) return {};
  const auto* so_far = (add != nullptr ? add->a : maximum->a).as<Call>();
  if (so_far == nullptr || so_far->name != function.name() || !is_const_one(function.update(0).predicate())) return {};
  Expr term = add != nullptr ? add->b : maximum->b;
  for (auto name = names.rbegin(); name != names.rend(); ++name) term = Let::make((*name)->name, (*name)->value, term);
  return Term{term, maximum != nullptr};
}

}  // namespace

/// Puts the sums in the place of Halide's.
class ReducedRows::Rewriting : public Halide::Internal::IRGraphMutator {
 public:
  explicit Rewriting(ReducedRows& rows) : rows_(rows) {}
  bool all = true;  ///< were sums of rows

 private:
  using IRGraphMutator::visit;
  Expr visit(const Call* call) override {
    if (call->call_type != Call::Halide) return IRGraphMutator::visit(call);
    const Function function(call->func);
    if (!function.has_update_definition()) return call;  // memory
    const Expr sum = all ? rows_.row_sum(function, call->args, *this) : Expr();
    all = sum.defined();
    return all ? sum : Expr(call);
  }
  ReducedRows& rows_;
};

ReducedRows::ReducedRows(const Expr& element, const std::string& innermost, int lanes) : innermost_(innermost), lanes_(lanes) {
  Rewriting rewriting(*this);
  element_ = rewriting.mutate(element);
  if (!rewriting.all) sums_.clear();
}

Expr ReducedRows::row_sum(const Function& function, const Exprs& args, Rewriting& rewriting) {
  if (const auto known = sums_.find(function.name()); known != sums_.end()) return known->second.sum(args);
  const std::optional<Term> given = term_of(function);
  if (!given) return {};
  const std::vector<const Call*> reads = reads_of(given->value);
  const std::vector<ReductionVariable>& loops = function.update(0).schedule().rvars();
  std::size_t along = loops.size();
  Expr terms = 1;
  for (std::size_t n = 0; n < loops.size(); ++n) {
    terms *= loops[n].extent;
    if (fixed_value(loops[n].extent).value_or(lanes_) >= lanes_ && lies_along(reads, loops[n].var)) along = n;
  }
  if (along == loops.size() || lies_along(reads, innermost_)) return {};
  const Expr term = rewriting.mutate(given->value);
  if (!rewriting.all) return {};
  const Sum made = in_vectors(function, term, given->is_of_maximum, along);
  terms_ = Halide::max(terms_, terms);
  sums_.emplace(function.name(), made);
  return Func(made.sum)(args);
}

ReducedRows::Sum ReducedRows::in_vectors(const Function& function, const Expr& term, bool is_maximum, std::size_t along) const {
  const std::vector<ReductionVariable>& loops = function.update(0).schedule().rvars();
  Halide::Region whole;  // of all loops, of which one goes over vectors, or over what they leave
  for (const ReductionVariable& loop : loops) whole.emplace_back(loop.min, loop.extent);
  Halide::Region rest = whole;
  const Expr extent = Halide::Internal::simplify(loops[along].extent);
  whole[along].extent = extent / lanes_;
  rest[along].extent = extent % lanes_;
  const auto at = [&](const RDom& domain, const Expr& index) {
    std::map<std::string, Expr> places;
    for (std::size_t n = 0; n < loops.size(); ++n) places[loops[n].var] = n == along ? loops[n].min + index : Expr(domain[static_cast<int>(n)]);
    return Halide::Internal::substitute(places, term);
  };
  const Var lane("lane-");
  const RDom over(whole, "vectors_of"), left(rest, "left_of"), lanes(0, lanes_, "across");
  std::vector<Var> place, of_vectors{lane};
  Exprs of_lane{lanes};
  for (const std::string& arg : function.args()) {
    place.emplace_back(arg);
    of_vectors.emplace_back(arg);
    of_lane.emplace_back(Var(arg));
  }
  Func vectors("vectors_of_terms"), sum("sum_of_terms");
  const Expr of_nothing = is_maximum ? Halide::Int(32).min() : Expr(0.f);
  vectors(of_vectors) = of_nothing;
  vectors(of_vectors) = folded(is_maximum, vectors(of_vectors), at(over, over[static_cast<int>(along)] * lanes_ + lane));
  sum(place) = of_nothing;
  sum(place) = folded(is_maximum, sum(place), vectors(of_lane));
  sum(place) = folded(is_maximum, sum(place), at(left, extent / lanes_ * lanes_ + left[static_cast<int>(along)]));
  return {sum, vectors};
}

void ReducedRows::schedule(const Halide::LoopLevel& level) const {
  for (const auto& [name, of_row] : sums_) {
    Func sum = of_row.sum, vectors = of_row.vectors;
    const Halide::Var lane(vectors.args()[0]);
    std::vector<Halide::VarOrRVar> order{lane};
    for (const Halide::RVar& loop : vectors.rvars()) order.emplace_back(loop);
    vectors.compute_at(level).bound_extent(lane, lanes_).vectorize(lane).update().reorder(order).vectorize(lane);
    sum.compute_at(level).update(0).atomic().vectorize(sum.rvars(0)[0]);
    sum.update(1).unscheduled();
  }
}

}  // namespace attune
