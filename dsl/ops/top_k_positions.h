/// The positions of the greatest elements along a dim.
#pragma once

#include "dsl/ops/compare.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/convert.h"
#include "dsl/ops/cumulative_sum.h"
#include "dsl/ops/index.h"
#include "dsl/ops/logic.h"
#include "dsl/ops/top_k.h"

namespace attune {

/// The second result of ONNX's TopK with sorted = 0. Its first is gather(x, positions, over).
struct TopKPositions {
  Name over, into;
  std::int64_t count = 1;

  static constexpr std::string_view name = "top_k_positions",
                                    meaning = "y[.., n] = the n-th position along `over` that top_k of `count` chooses, in ascending order, n along `into`; -1 where it "
                                              "chooses no more. Beside top_k it takes the time of a sum over all pairs of `over` and `into`";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"over", &TopKPositions::over}, Field{"into", &TopKPositions::into}, Field{"count", &TopKPositions::count}};

  /// Refuses what top_k refuses, and an `into` that x has.
  constexpr Text check(std::span<const Type> in) const {
    if (Text problem = TopK{over, count}.infer(in).problem; !problem.empty()) return problem;
    if (in[0].dims.has(into)) return sentence("puts positions along ", into, ", which x has already: x is ", in[0].dims);
    return {};
  }
  /// 1 + the only position that is chosen behind n others is the only term of a sum that is not 0.
  constexpr Value expand(std::span<const Value> in, Here at) const {
    Graph* graph = in[0].graph;
    const auto number = [&](double x) { return literal(graph, x, Kind::i64, at); };
    const Value is_chosen = call(TopK{over, count}, {in[0]}, at);
    const Value before = call(CumulativeSum{over, true}, {call(ToI64{}, {is_chosen}, at)}, at);
    const Value is_place = call(And{}, {is_chosen, call(Equal{}, {before, call_in(graph, Index{into}, {}, at)}, at)}, at);
    const Value place = call(Add{}, {call_in(graph, Index{over}, {}, at), number(1)}, at);
    const Value found = call(ReduceSum{{over}}, {call(Select{}, {is_place, place, number(0)}, at)}, at);
    return call(Subtract{}, {found, number(1)}, at);
  }
};

/// Dim choices = g.dim("choices", 16);   Value chosen = top_k_positions(scores, keys, 16, choices)   [.., choices]
constexpr Value top_k_positions(Value x, Dim over, std::int64_t count, Dim into, Here at = Here::current()) {
  return call(TopKPositions{over.name, into.name, count}, {x}, at);
}

}  // namespace attune
