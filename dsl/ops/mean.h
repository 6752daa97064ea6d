/// The mean over one or several dims.
#pragma once

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/convert.h"
#include "dsl/ops/index.h"
#include "dsl/ops/reduce.h"

namespace attune {

struct Mean {
  Names over;

  static constexpr std::string_view name = "mean", meaning = "y = sum of x over `over` / the number of its terms; NaN over nothing";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"over", &Mean::over}};

  /// Refuses a dim that x does not have, and kinds other than real.
  constexpr Text check(std::span<const Type> in) const {
    if (Text problem = refuse_missing(over, "averages over", "x", in[0]); !problem.empty()) return problem;
    if (in[0].kind != Kind::real) return sentence("x is ", in[0].kind, "; it must be real (to_real converts)");
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    Value count = call_in(in[0].graph, Extent{over[0]}, {}, at);
    for (int i = 1; i < over.size(); ++i) count = call(Multiply{}, {count, call_in(in[0].graph, Extent{over[i]}, {}, at)}, at);
    return call(Divide{}, {call(ReduceSum{over}, {in[0]}, at), call(ToReal{}, {count}, at)}, at);
  }
};

constexpr Value mean(Value x, Dim over, Here at = Here::current()) { return call(Mean{{over.name}}, {x}, at); }
constexpr Value mean(Value x, std::initializer_list<Dim> over, Here at = Here::current()) { return call(Mean{names_of(over)}, {x}, at); }

}  // namespace attune
