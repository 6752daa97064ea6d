/// A state that is carried along a dim: linear attention, with decay and with the delta rule.
#pragma once

#include <cmath>

#include "dsl/ops/constant.h"
#include "dsl/ops/matmul.h"

namespace attune {

/// What a recurrence may have beside queries, keys and values: numbers or values that lack some dims, which they are broadcast along.
struct RecurrentParts {
  Operand log_decay = 0;  ///< natural logarithm of what the state is multiplied with before a token, by key channel where it has `over`; 0 keeps all
  Operand beta = 0;       ///< how much of what the state holds for the key is taken away; 0 takes nothing
  Operand initial = 0;    ///< the state before the first token
};

/// The two operations have the same state: S_0 = initial, and for each token t
///   S' = e^log_decay[t] S_(t-1)      S_t = S' + k[t] (v[t] - beta[t] S'^T k[t])^T
/// which is ONNX's LinearAttention (opset 27): `linear` without log_decay and beta, `gated` without beta, `delta` and `gated_delta` with v multiplied by beta.
namespace recurrent {

/// Places of the operands; a state has no query.
enum Place { query, key, value, log_decay, beta, initial, operand_count };
inline constexpr std::array<std::string_view, operand_count> operand_names = {"query", "key", "value", "log_decay", "beta", "initial"};

/// What both refuse: kinds other than real, operands that lack `along` or `over`, and those that may not have them.
constexpr Text refuse_operands(Name along, Name over, std::span<const Type> in) {
  const auto first = static_cast<std::size_t>(operand_count) - in.size();
  if (along == over) return sentence("runs along ", along, " and multiplies over it; keys have a dim of their own for their width");
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t place = first + i;
    const std::string_view name = operand_names[place];
    if (in[i].kind != Kind::real) return sentence(name, " is ", in[i].kind, "; it must be real (to_real converts)");
    const bool has_along = place <= value, has_over = place <= key;
    if (has_along)
      if (Text problem = refuse_missing({along}, "runs along", name, in[i]); !problem.empty()) return problem;
    if (has_over)
      if (Text problem = refuse_missing({over}, "multiplies over", name, in[i]); !problem.empty()) return problem;
    if ((place == value || place == beta) && in[i].dims.has(over))
      return sentence("multiplies over ", over, ", which ", name, " has too: ", name, " is ", in[i].dims, "; keys and queries alone have it");
    if (place == initial && in[i].dims.has(along)) return sentence("runs along ", along, ", which initial has too: initial is ", in[i].dims);
  }
  return {};
}

/// The dims of all operands from `first` on, but for `without`, in the order in which they come.
constexpr Names dims_of_all(std::span<const Type> in, const Names& without) {
  Names dims;
  for (const Type& type : in) dims.unite(type.dims.without(without));
  return dims;
}

/// Walks the tokens for each element of the state that is not along `over`. `in` has a query or, for the state, the key in its place.
/// rounded(x, size) is what x becomes where sums of the size are rounded: x itself where they are not.
template <class Rounded>
void run(Name along, Name over, const DimExtents& extents, const std::array<const Array*, operand_count>& in, bool is_state, Array& out,
         Rounded rounded) {
  const auto width = static_cast<std::size_t>(extents.at(over)), count = static_cast<std::size_t>(extents.at(along));
  std::array<std::size_t, operand_count> by_token{}, by_channel{};
  for (std::size_t i = 0; i < operand_count; ++i) {
    by_token[i] = static_cast<std::size_t>(in[i]->stride(along));
    by_channel[i] = static_cast<std::size_t>(in[i]->stride(over));
  }
  std::vector<const Array*> arrays(in.begin(), in.end());
  arrays.push_back(&out);
  const auto out_token = static_cast<std::size_t>(out.stride(along)), out_channel = static_cast<std::size_t>(out.stride(over));
  std::vector<double> state(width);
  Walk(out.type.dims.without({along, over}), extents, arrays).run([&](auto at) {
    const auto element = [&](Place p, std::size_t t, std::size_t d) { return in[p]->data[at[p] + t * by_token[p] + d * by_channel[p]]; };
    for (std::size_t d = 0; d < width; ++d) state[d] = element(initial, 0, d);
    for (std::size_t t = 0; t < count; ++t) {
      double held = 0, squares = 0;  // of the decayed state for the key
      for (std::size_t d = 0; d < width; ++d) {
        const double decayed = std::exp(element(log_decay, t, d)) * state[d];
        state[d] = rounded(decayed, 4 * decayed);
        const double term = element(key, t, d) * state[d];
        held += term;
        squares += term * term;
      }
      const double erased = element(beta, t, 0), v = element(value, t, 0);
      const double written = erased == 0 ? v : rounded(v - erased * held, std::sqrt(v * v + erased * erased * static_cast<double>(width) * squares));
      double sum = 0, products = 0;
      for (std::size_t d = 0; d < width; ++d) {
        const double term = element(key, t, d) * written, before = state[d];
        state[d] = rounded(before + term, std::hypot(before, term));
        const double product = is_state ? 0 : element(query, t, d) * state[d];
        sum += product;
        products += product * product;
      }
      if (!is_state) out.data[at[operand_count] + t * out_token] = rounded(sum, std::sqrt(static_cast<double>(width) * products));
    }
    if (is_state)
      for (std::size_t d = 0; d < width; ++d) out.data[at[operand_count] + d * out_channel] = state[d];
  });
}

constexpr auto unrounded = [](double x, double) { return x; };

}  // namespace recurrent

/// What is read of the state after each token.
struct Recurrence {
  Name along, over;

  static constexpr std::string_view name = "recurrence",
                                    meaning = "y[t] = S_t^T query[t], with S_t = S' + key[t] (value[t] - beta[t] S'^T key[t])^T, S' = e^log_decay[t] S_(t-1), "
                                              "S_0 = initial; t along `along`, products over `over`; operands that are infinite give NaN or infinities";
  static constexpr int arity = recurrent::operand_count;
  static constexpr bool has_loop = true;
  static constexpr auto fields = std::tuple{Field{"along", &Recurrence::along}, Field{"over", &Recurrence::over}};

  /// The dims of all operands without `over`. Refuses what refuse_operands does.
  constexpr Checked infer(std::span<const Type> in) const {
    return {{Kind::real, recurrent::dims_of_all(in, {over})}, recurrent::refuse_operands(along, over, in)};
  }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const { rounded_reference(extents, in, out, recurrent::unrounded); }
  void rounded_reference(const DimExtents& extents, std::span<const Array> in, Array& out, auto rounded) const {
    recurrent::run(along, over, extents, {&in[0], &in[1], &in[2], &in[3], &in[4], &in[5]}, false, out, rounded);
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
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const { rounded_reference(extents, in, out, recurrent::unrounded); }
  void rounded_reference(const DimExtents& extents, std::span<const Array> in, Array& out, auto rounded) const {
    recurrent::run(along, over, extents, {&in[0], &in[0], &in[1], &in[2], &in[3], &in[4]}, true, out, rounded);
  }
};

/// Both, of one pass over the tokens.
struct RecurrenceWithState {
  Value result, state;
};
/// auto [result, state] = recurrence_with_state(q, k, v, {.log_decay = gate}, tokens, depth)
constexpr RecurrenceWithState recurrence_with_state(Value q, Value k, Value v, const RecurrentParts& parts, Dim along, Dim over, Here at = Here::current()) {
  const Value decay = parts.log_decay.beside(k), beta = parts.beta.beside(k), initial = parts.initial.beside(k);
  return {call(Recurrence{along.name, over.name}, {q, k, v, decay, beta, initial}, at),
          call(RecurrenceState{along.name, over.name}, {k, v, decay, beta, initial}, at)};
}
constexpr Value recurrence(Value q, Value k, Value v, const RecurrentParts& parts, Dim along, Dim over, Here at = Here::current()) {
  return call(Recurrence{along.name, over.name}, {q, k, v, parts.log_decay.beside(k), parts.beta.beside(k), parts.initial.beside(k)}, at);
}
constexpr Value recurrence_state(Value k, Value v, const RecurrentParts& parts, Dim along, Dim over, Here at = Here::current()) {
  return call(RecurrenceState{along.name, over.name}, {k, v, parts.log_decay.beside(k), parts.beta.beside(k), parts.initial.beside(k)}, at);
}

}  // namespace attune
