/// Softmax over several dims at once.
#pragma once

#include <limits>

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/compare.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/functions.h"
#include "dsl/ops/logic.h"
#include "dsl/ops/reduce.h"
#include "dsl/ops/softmax.h"

namespace attune {

struct JointSoftmax {
  Names over;

  static constexpr std::string_view name = "joint_softmax",
                                    meaning = "the softmax of x over all pairs (or more) of positions along `over`, as one row of their number; "
                                              "over one dim it is softmax. Where only products over all of these dims read it, it is fused with them";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"over", &JointSoftmax::over}};

  /// Refuses what softmax refuses.
  constexpr Text check(std::span<const Type> in) const {
    if (Text problem = refuse_missing(over, "runs over", "x", in[0]); !problem.empty()) return problem;
    if (in[0].kind != Kind::real) return sentence("x is ", in[0].kind, "; it must be real (to_real converts)");
    return {};
  }
  /// A row of -inf has no finite maximum: 0 is subtracted there, and its weights of 0 are not divided by their sum.
  constexpr Value expand(std::span<const Value> in, Here at) const {
    if (over.size() == 1) return call(Softmax{over[0]}, {in[0]}, at);
    const auto real = [&](double x) { return literal(in[0].graph, x, Kind::real, at); };
    const Value greatest = call(ReduceMax{over}, {in[0]}, at);
    const Value is_hidden = call(Equal{}, {greatest, real(-std::numeric_limits<double>::infinity())}, at);
    const Value shift = call(Select{}, {is_hidden, real(0), greatest}, at);
    const Value weight = call(Exp{}, {call(Subtract{}, {in[0], shift}, at)}, at);
    const Value total = call(ReduceSum{over}, {weight}, at);
    return call(Divide{}, {weight, call(Select{}, {is_hidden, real(1), total}, at)}, at);
  }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.y * (g.out - g.sum(g.y * g.out, over)); }); }
};

constexpr Value softmax(Value x, std::initializer_list<Dim> over, Here at = Here::current()) {
  return call(JointSoftmax{names_of(over)}, {x}, at);
}

}  // namespace attune
