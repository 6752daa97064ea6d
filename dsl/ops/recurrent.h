/// What the two operations of a recurrence have in common: the rule for their operands, and the walk along the tokens.
#pragma once

#include <cmath>

#include "dsl/ops/matmul.h"

namespace attune {

/// The two operations have the same state: S_0 = initial, and for each token t
///   S' = e^log_decay[t] S_(t-1)      S_t = S' + k[t] v[t]^T - erased[t] (beta[t] S'^T asked[t])^T
/// With asked and erased the key that is ONNX's LinearAttention (opset 27): `linear` without log_decay and beta, `gated` without beta,
/// `delta` and `gated_delta` with v multiplied by beta. With others it is a diagonal matrix and one of rank 1 (Peng et al., "RWKV-7", 2025).
namespace recurrent {

/// Places of the operands; a state has no query.
enum Place { query, key, value, log_decay, beta, initial, asked, erased, operand_count };
inline constexpr std::array<std::string_view, operand_count> operand_names = {"query", "key", "value", "log_decay", "beta", "initial", "asked", "erased"};

/// What both refuse: kinds other than real, operands that lack `along` or `over`, and those that may not have them.
constexpr Text refuse_operands(Name along, Name over, std::span<const Type> in) {
  const auto first = static_cast<std::size_t>(operand_count) - in.size();
  if (along == over) return sentence("runs along ", along, " and multiplies over it; keys have a dim of their own for their width");
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t place = first + i;
    const std::string_view name = operand_names[place];
    if (in[i].kind != Kind::real) return sentence(name, " is ", in[i].kind, "; it must be real (to_real converts)");
    const bool has_over = place <= key || place >= asked, has_along = has_over || place == value;
    if (has_along)
      if (Text problem = refuse_missing({along}, "runs along", name, in[i]); !problem.empty()) return problem;
    if (has_over)
      if (Text problem = refuse_missing({over}, "multiplies over", name, in[i]); !problem.empty()) return problem;
    if ((place == value || place == beta) && in[i].dims.has(over))
      return sentence("multiplies over ", over, ", which ", name, " has too: ", name, " is ", in[i].dims, "; keys, queries and what the state is asked for have it");
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
        const double term = element(asked, t, d) * state[d];
        held += term;
        squares += term * term;
      }
      const double part = element(beta, t, 0), v = element(value, t, 0);
      const double taken = part == 0 ? 0 : rounded(part * held, std::abs(part) * std::sqrt(static_cast<double>(width) * squares));
      double sum = 0, products = 0;
      for (std::size_t d = 0; d < width; ++d) {
        const double term = element(key, t, d) * v, less = part == 0 ? 0 : element(erased, t, d) * taken, before = state[d];
        state[d] = rounded(before + term - less, std::hypot(before, term, less));
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

/// No lambda: the type of one is another in each source, so that compilers would make code of `run` for it wherever the header is read.
struct Unrounded {
  constexpr double operator()(double x, double) const { return x; }
};
inline constexpr Unrounded unrounded;

}  // namespace recurrent

}  // namespace attune
