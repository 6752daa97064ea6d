/// A state that is carried along a dim: linear attention, with decay and with the delta rule.
#pragma once

#include <optional>

#include "dsl/ops/constant.h"
#include "dsl/ops/recurrent.h"

namespace attune {

/// What a recurrence may have beside queries, keys and values: numbers or values that lack some dims, which they are broadcast along.
struct RecurrentParts {
  Operand log_decay = 0;  ///< natural logarithm of what the state is multiplied with before a token, by key channel where it has `over`, by value channel where it has dims of the value; 0 keeps all
  Operand beta = 0;       ///< how much of what the state holds for `asked` is taken away; 0 takes nothing
  Operand initial = 0;    ///< the state before the first token
  std::optional<Value> asked = {};   ///< what the state is asked for, behind the decay; the key without it
  std::optional<Value> erased = {};  ///< the key whose value what it answers is taken from; the key without it

  /// The operands behind query, key and value.
  constexpr std::array<Value, 5> operands(Value k, Here at) const {
    if ((asked || erased) && !beta.is_value() && beta.number == 0)
      fail_in(k.graph, at, sentence("recurrence: has ", asked ? "asked" : "erased", ", but beta is 0, which takes nothing away; 1 takes all that the state holds"));
    return {log_decay.beside(k), beta.beside(k), initial.beside(k), asked.value_or(k), erased.value_or(k)};
  }
};

/// What is read of the state after each token.
struct Recurrence {
  Name along, over;

  static constexpr std::string_view name = "recurrence",
                                    meaning = "y[t] = S_t^T query[t], with S_t = S' + key[t] value[t]^T - erased[t] (beta[t] S'^T asked[t])^T, S' = e^log_decay[t] S_(t-1), "
                                              "S_0 = initial; the delta rule has the key as asked and erased; t along `along`, products over `over`; operands that are infinite give NaN or infinities. "
                                              "A log_decay of dims that the value alone has goes token by token";
  static constexpr int arity = recurrent::operand_count;
  static constexpr bool has_loop = true;
  static constexpr auto fields = std::tuple{Field{"along", &Recurrence::along}, Field{"over", &Recurrence::over}};

  /// The dims of all operands without `over`. Refuses what refuse_operands does.
  constexpr Checked infer(std::span<const Type> in) const {
    return {{Kind::real, recurrent::dims_of_all(in, {over})}, recurrent::refuse_operands(along, over, in)};
  }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    rounded_reference(extents, in, out, recurrent::unrounded);
  }
  void rounded_reference(const DimExtents& extents, std::span<const Array> in, Array& out, auto rounded) const {
    recurrent::run(along, over, extents, {&in[0], &in[1], &in[2], &in[3], &in[4], &in[5], &in[6], &in[7]}, false, out, rounded);
  }
};

/// The state after the last token.
struct RecurrenceState {
  Name along, over;

  static constexpr std::string_view name = "recurrence_state",
                                    meaning = "S_T of a recurrence of the same operands, T its last token; `initial` where there is none";
  static constexpr int arity = recurrent::operand_count - 1;
  static constexpr bool has_loop = true;
  static constexpr auto fields = std::tuple{Field{"along", &RecurrenceState::along}, Field{"over", &RecurrenceState::over}};

  /// The dims of all operands without `along`. Refuses what refuse_operands does.
  constexpr Checked infer(std::span<const Type> in) const {
    return {{Kind::real, recurrent::dims_of_all(in, {along})}, recurrent::refuse_operands(along, over, in)};
  }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    rounded_reference(extents, in, out, recurrent::unrounded);
  }
  void rounded_reference(const DimExtents& extents, std::span<const Array> in, Array& out, auto rounded) const {
    recurrent::run(along, over, extents, {&in[0], &in[0], &in[1], &in[2], &in[3], &in[4], &in[5], &in[6]}, true, out, rounded);
  }
};

/// Both, of one pass over the tokens.
struct RecurrenceWithState {
  Value result, state;
};
/// auto [result, state] = recurrence_with_state(q, k, v, {.log_decay = gate}, tokens, depth)
constexpr RecurrenceWithState recurrence_with_state(Value q, Value k, Value v, const RecurrentParts& parts, Dim along, Dim over,
                                                    Here at = Here::current()) {
  const auto [decay, beta, initial, asked, erased] = parts.operands(k, at);
  return {call(Recurrence{along.name, over.name}, {q, k, v, decay, beta, initial, asked, erased}, at),
          call(RecurrenceState{along.name, over.name}, {k, v, decay, beta, initial, asked, erased}, at)};
}
constexpr Value recurrence(Value q, Value k, Value v, const RecurrentParts& parts, Dim along, Dim over, Here at = Here::current()) {
  const auto [decay, beta, initial, asked, erased] = parts.operands(k, at);
  return call(Recurrence{along.name, over.name}, {q, k, v, decay, beta, initial, asked, erased}, at);
}
constexpr Value recurrence_state(Value k, Value v, const RecurrentParts& parts, Dim along, Dim over, Here at = Here::current()) {
  const auto [decay, beta, initial, asked, erased] = parts.operands(k, at);
  return call(RecurrenceState{along.name, over.name}, {k, v, decay, beta, initial, asked, erased}, at);
}

}  // namespace attune
