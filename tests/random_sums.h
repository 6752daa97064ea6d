/// Operations of a graph that is drawn at random: sums and products along dims, and what is made of them.
#pragma once

#include <cmath>

#include "tests/random_values.h"

namespace attune {

class RandomSums : protected virtual RandomValues {
 protected:
  void contraction() {
    const std::optional<Drawn> first = real_with_dims();
    if (!first) return;
    const Drawn& a = *first;
    const std::optional<Drawn> second =
        find([&](const Drawn& d) { return kind(d) == Kind::real && !shared(a, d).empty() && fits(dims(a), dims(d)); });
    const Drawn b = second ? *second : add_input(Kind::real, {some_dim(dims(a))});
    const Names over = shared(a, b);
    if (over.empty()) return;
    const double terms = static_cast<double>(elements(over));
    keep(g().add(Matmul{over}, std::array{a.value, b.value}, Here::current()), terms * a.size * b.size);
  }
  void layer() {
    const std::optional<Drawn> first = real_with_dims();
    if (!first) return;
    const Drawn& a = *first;
    const Name over = some_dim(dims(a));
    Names to;
    for (Name name : free_names)
      if (!dims(a).has(name) && to.empty()) to.add(name);
    Names weight_dims = to;
    weight_dims.add(over);
    if (!fits(dims(a), to)) return;
    const Value weight = add_input(Kind::real, weight_dims).value;
    const double size = 2 * a.size * static_cast<double>(extents_.at(over));
    if (below(2) == 0) return keep(linear(a.value, weight, dim(over)), size);
    keep(linear(a.value, weight, add_input(Kind::real, to).value, dim(over)), size + 2);
  }
  void reduction() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return kind(d) != Kind::boolean && !dims(d).empty(); });
    if (!found) return;
    const Drawn& a = *found;
    const Name over = some_dim(dims(a));
    if (kind(a) == Kind::real && extents_.at(over) > 0 && below(3) == 0) return keep(mean(a.value, dim(over)), a.size);
    if (kind(a) == Kind::real && extents_.at(over) > 0 && below(3) == 0) return normalised(a, over);
    if (below(2) == 0) return keep(sum(a.value, dim(over)), a.size * static_cast<double>(extents_.at(over)));
    if (extents_.at(over) > 0) keep(max(a.value, dim(over)), a.size);
  }
  /// Sums along a dim, or its greatest elements where no rounding decides which they are.
  void ordered() {
    const bool is_sum = below(2) == 0;
    const std::optional<Drawn> found =
        find([&](const Drawn& d) { return kind(d) != Kind::boolean && !dims(d).empty() && (is_sum || kind(d) != Kind::real || d.is_input); });
    if (!found) return;
    const Drawn& a = *found;
    const Name over = some_dim(dims(a));
    const auto count = static_cast<std::int64_t>(below(3)) + 1;
    const bool is_other_way = count == 3;
    if (is_sum) {
      const bool is_exclusive = below(2) == 0;
      const Value sums = is_other_way ? reverse_cumulative_sum(a.value, dim(over), is_exclusive) : cumulative_sum(a.value, dim(over), is_exclusive);
      return keep(sums, a.size * static_cast<double>(extents_.at(over)));
    }
    if (below(2) == 0) return keep(top_k(a.value, dim(over), count), 1);
    const Dim into = fresh(2);
    g().dim(into.name, 2);
    if (fits(dims(a), {into.name}))
      keep(is_other_way ? sorted_positions(a.value, dim(over), count, into) : top_k_positions(a.value, dim(over), count, into), 8);
  }
  void softmaxed() {
    const std::optional<Drawn> found = real_with_dims();
    if (!found) return;
    const Drawn& a = *found;
    const Dim over = dim(some_dim(dims(a)));
    const Name other = some_dim(dims(a));
    if (other != over.name && below(3) == 0) return keep(softmax(a.value, {over, dim(other)}), 1);
    if (extents_.at(over.name) > 0 && below(3) == 0) return with_logarithm(a, over);
    if (below(2) == 0) return keep(softmax(a.value, over), 1);
    const Drawn visible = boolean(dims(a));
    if (fits(dims(a), dims(visible))) keep(softmax(masked(a, visible), over), 1);
  }
  /// A recurrence whose state stays small, or its last state, or both of one stage.
  void carried() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return kind(d) == Kind::real && dims(d).size() > 1; });
    if (!found) return;
    const Drawn& a = *found;
    const Name along = dims(a)[0], over = dims(a)[1];
    Names of_values{along};
    for (Name name : free_names)
      if (!dims(a).has(name) && of_values.size() == 1) of_values.add(name);
    if (!fits(dims(a), of_values)) return;
    const Value key = tanh(a.value) * 0.25, value = add_input(Kind::real, of_values).value;
    const Operand decays[] = {Operand(key - 0.25), Operand(-0.25), Operand(tanh(value) - 0.75), Operand(tanh(value) * key - 0.5)};
    const RecurrentParts parts = {.log_decay = decays[below(4)], .beta = below(2) == 0 ? 0.5 : 0.0};
    const double size = static_cast<double>(extents_.at(along)) + 1;
    const auto [result, state] = recurrence_with_state(key, key, value, parts, dim(along), dim(over));
    const std::uint64_t which = below(3);
    if (which < 2) keep(result, size * static_cast<double>(extents_.at(over)));
    if (which > 0) keep(state, size);
  }

 private:
  /// One or two dims that both have.
  Names shared(const Drawn& a, const Drawn& b) {
    Names over;
    for (Name name : dims(a))
      if (dims(b).has(name) && (over.empty() || below(2) == 0) && over.size() < 2) over.add(name);
    return over;
  }
  void normalised(const Drawn& a, Name over) {
    const Value weight = add_input(Kind::real, {over}).value;
    const double size = 2 * std::sqrt(static_cast<double>(extents_.at(over)));
    if (below(2) == 0) return keep(rms_norm(a.value, weight, dim(over), 0.5), size);
    keep(layer_norm(a.value, weight, add_input(Kind::real, {over}).value, dim(over), 0.5), size + 2);
  }
  /// What a softmax divides by, alone, beside its weights, or beside a matmul of them.
  void with_logarithm(const Drawn& a, Dim over) {
    const double size = a.size + std::log(static_cast<double>(extents_.at(over.name)));
    const auto [weights, logarithm] = softmax_with_lse(a.value, over);
    Names of_values{over.name};
    for (Name name : free_names)
      if (!dims(a).has(name) && of_values.size() == 1) of_values.add(name);
    const bool is_summed = below(2) == 0 && fits(dims(a).without(of_values), of_values);
    if (is_summed) keep(matmul(weights, add_input(Kind::real, of_values).value, over), 2);
    if (below(3) == 0) keep(weights, 1);
    keep(logarithm, size);
  }
};

}  // namespace attune
