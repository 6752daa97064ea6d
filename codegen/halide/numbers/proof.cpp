#include "codegen/halide/numbers/proof.h"

#include <map>
#include <utility>

using Halide::Expr;

namespace attune {
namespace {

/// How many expressions a walk that knows of no sharing meets.
class Walked : public Halide::Internal::IRGraphVisitor {
 public:
  double count = 0;

  void include(const Expr& e) override {
    const auto [known, is_fresh] = counts_.try_emplace(e.get(), 0);
    if (is_fresh) {
      const double before = std::exchange(count, 1);
      e.accept(this);
      known->second = std::exchange(count, before);
    }
    count += known->second;
  }

 private:
  using IRGraphVisitor::include;
  std::map<const Halide::Internal::IRNode*, double> counts_;  // of expressions that live as long as the one that is walked
};

}  // namespace

Expr with_much_named(const Expr& e) {
  constexpr double much = 10000;  // some milliseconds
  Walked walked;
  walked.include(e);
  // not before: what one name would cancel of another is not seen any more
  return walked.count > much ? Halide::Internal::common_subexpression_elimination(e) : e;
}

bool is_proved(const Expr& condition) { return Halide::Internal::is_const_one(Halide::Internal::simplify(with_much_named(condition))); }

}  // namespace attune
