/// The positions of the greatest elements along a dim.
#pragma once

#include "dsl/ops/compare.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/convert.h"
#include "dsl/ops/cumulative_sum.h"
#include "dsl/ops/gather.h"
#include "dsl/ops/index.h"
#include "dsl/ops/logic.h"
#include "dsl/ops/top_k.h"

namespace attune {

/// The second result of ONNX's TopK, whose attribute `sorted` is the field. Its first is gather(x, positions, over).
struct TopKPositions {
  Name over, into;
  std::int64_t count = 1;
  bool sorted = false;

  static constexpr std::string_view name = "top_k_positions",
                                    meaning = "y[.., n] = the n-th position along `over` that top_k of `count` chooses, in ascending order, n along `into`; -1 where it "
                                              "chooses no more. With `sorted` the same ones in another order: that of the greatest element first, of equals the lower first. "
                                              "Beside top_k it takes the time of a sum over all pairs of `over` and `into`, three with `sorted`";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"over", &TopKPositions::over}, Field{"into", &TopKPositions::into},
                                            Field{"count", &TopKPositions::count}, Field{"sorted", &TopKPositions::sorted}};

  /// Refuses what top_k refuses, and an `into` that x has.
  constexpr Text check(std::span<const Type> in) const {
    if (Text problem = TopK{over, count}.infer(in).problem; !problem.empty()) return problem;
    if (in[0].dims.has(into)) return sentence("puts positions along ", into, ", which x has already: x is ", in[0].dims);
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const Value is_chosen = call(TopK{over, count}, {in[0]}, at);
    const Value before = call(CumulativeSum{over, true}, {call(ToI64{}, {is_chosen}, at)}, at);
    const Value positions = listed(is_chosen, before, at);
    if (!sorted) return positions;
    // an `into` of fewer than `count` positions has not all that are chosen
    const Value is_listed = call(And{}, {is_chosen, call(Less{}, {before, call_in(in[0].graph, Extent{into}, {}, at)}, at)}, at);
    return listed(is_listed, greater_ones(in[0], positions, at), at);
  }

 private:
  static constexpr Value number(Graph* graph, double x, Here at) { return literal(graph, x, Kind::i64, at); }
  /// The positions that are chosen, that behind n others at n: 1 + such a position is the only term of a sum that is not 0.
  constexpr Value listed(Value is_chosen, Value others, Here at) const {
    Graph* graph = is_chosen.graph;
    const Value is_place = call(And{}, {is_chosen, call(Equal{}, {others, call_in(graph, Index{into}, {}, at)}, at)}, at);
    const Value place = call(Add{}, {call_in(graph, Index{over}, {}, at), number(graph, 1, at)}, at);
    const Value found = call(ReduceSum{{over}}, {call(Select{}, {is_place, place, number(graph, 0, at)}, at)}, at);
    return call(Subtract{}, {found, number(graph, 1, at)}, at);
  }
  /// Of the elements at `positions`, how many stand before one of x in the order of top_k.
  constexpr Value greater_ones(Value x, Value positions, Here at) const {
    Graph* graph = x.graph;
    const Value chosen = call(Gather{over}, {x, positions}, at), position = call_in(graph, Index{over}, {}, at);
    const auto both = [&](Value a, Value b) { return call(And{}, {a, b}, at); };
    const auto precedes = [&](Value a, Value b) {
      const Value is_greater = call(Or{}, {call(NotEqual{}, {a, a}, at), call(Greater{}, {a, b}, at)}, at);
      return both(call(Equal{}, {b, b}, at), is_greater);
    };
    const Value is_first_of_equals = both(call(Not{}, {precedes(x, chosen)}, at), call(Less{}, {positions, position}, at));
    const Value is_before = call(Or{}, {precedes(chosen, x), is_first_of_equals}, at);
    const Value is_there = call(GreaterEqual{}, {positions, number(graph, 0, at)}, at);
    return call(ReduceSum{{into}}, {call(ToI64{}, {both(is_there, is_before)}, at)}, at);
  }
};

/// Dim choices = g.dim("choices", 16);   Value chosen = top_k_positions(scores, keys, 16, choices)   [.., choices]
constexpr Value top_k_positions(Value x, Dim over, std::int64_t count, Dim into, Here at = Here::current()) {
  return call(TopKPositions{over.name, into.name, count, false}, {x}, at);
}
/// The same, that of the greatest element first. Those of the least elements, the least first, are sorted_positions(-x, ..);
/// of integers -1 - x, which overflows for none.
constexpr Value sorted_positions(Value x, Dim over, std::int64_t count, Dim into, Here at = Here::current()) {
  return call(TopKPositions{over.name, into.name, count, true}, {x}, at);
}

}  // namespace attune
