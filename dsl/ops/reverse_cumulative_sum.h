/// Running sums along a dim from its end.
#pragma once

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/cumulative_sum.h"
#include "dsl/ops/gather.h"
#include "dsl/ops/index.h"

namespace attune {

/// ONNX CumSum with reverse = 1.
struct ReverseCumulativeSum {
  Name over;
  bool exclusive = false;

  static constexpr std::string_view name = "reverse_cumulative_sum", meaning = "y[.., j] = sum of x[.., i] with i >= j, or with `exclusive` i > j; i, j along `over`";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"over", &ReverseCumulativeSum::over}, Field{"exclusive", &ReverseCumulativeSum::exclusive}};

  /// Refuses what cumulative_sum refuses.
  constexpr Text check(std::span<const Type> in) const { return CumulativeSum{over, exclusive}.infer(in).problem; }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    Graph* graph = in[0].graph;
    const Value last = call(Subtract{}, {call_in(graph, Extent{over}, {}, at), literal(graph, 1, Kind::i64, at)}, at);
    const Value opposite = call(Subtract{}, {last, call_in(graph, Index{over}, {}, at)}, at);
    const auto turned = [&](Value x) { return call(Gather{over}, {x, opposite}, at); };
    return turned(call(CumulativeSum{over, exclusive}, {turned(in[0])}, at));
  }
  constexpr void pull(auto& g) const { g.add(0, [&] { return cumulative_sum(g.out, g.dim(over), exclusive); }); }
};

/// reverse_cumulative_sum(x, tokens, true): what follows a token
constexpr Value reverse_cumulative_sum(Value x, Dim over, bool exclusive = false, Here at = Here::current()) {
  return call(ReverseCumulativeSum{over.name, exclusive}, {x}, at);
}

}  // namespace attune
