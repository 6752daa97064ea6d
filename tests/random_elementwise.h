/// Operations of a graph that is drawn at random: those of one element of each operand.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/random_values.h"

namespace attune {

class RandomElementwise : protected virtual RandomValues {
 protected:
  void arithmetic() {
    const std::optional<Drawn> first = find([&](const Drawn& d) { return kind(d) != Kind::boolean; });
    if (!first) return;
    const Drawn& a = *first;
    const std::optional<Drawn> second = find([&](const Drawn& d) { return kind(d) == kind(a) && fits(dims(a), dims(d)); });
    if (!second) return;
    const Drawn& b = *second;
    const Value x = a.value, y = b.value;
    const bool is_real = kind(a) == Kind::real;
    switch (below(is_real ? 9 : 15)) {
      case 0: return keep(x + y, a.size + b.size);
      case 1: return keep(x - y, a.size + b.size);
      case 2: return keep(x * y, a.size * b.size);
      case 3: return keep(minimum(x, y), std::max(a.size, b.size));
      case 4: return keep(maximum(x, y), std::max(a.size, b.size));
      case 5: return keep(-x, a.size);
      case 6: return keep(abs(x), a.size);
      case 7: return is_real ? keep(x / (abs(y) + 0.5), 2 * a.size) : keep(floor_div(x, 3), a.size);
      case 8: return is_real ? keep(x * 0.75 - 1, a.size + 1) : keep(mod(x, y), a.size + b.size);
      case 9: return keep(floor_div(x, y), a.size);
      case 10: return keep(bit_and(x, y), 2 * std::max(a.size, b.size) + 1);
      case 11: return keep(bit_or(x, y), 2 * std::max(a.size, b.size) + 1);
      case 12: return keep(bit_xor(x, y), 2 * std::max(a.size, b.size) + 1);
      case 13: return keep(shift_left(x, 1), 2 * a.size);
      default: return keep(shift_right(x, 1), a.size + 1);
    }
  }
  void function() {
    const std::optional<Drawn> found = real();
    if (!found) return;
    const Drawn& a = *found;
    const Value x = a.value;
    switch (below(15)) {
      case 0: return keep(exp(minimum(x, 2)), 7.4);
      case 1: return keep(log(abs(x) + 0.5), std::log(a.size + 1) + 1);
      case 2: return keep(sqrt(abs(x) + 0.25), std::sqrt(a.size + 1));
      case 3: return a.is_input ? keep(floor(x), a.size + 1) : keep(tanh(x), 1);  // of what is rounded it may be either
      case 4: return keep(erf(x), 1);
      case 5: return keep(sin(x), 1);
      case 6: return keep(cos(x), 1);
      case 7: return keep(sigmoid(x), 1);
      case 8: return keep(rsqrt(abs(x) + 0.25), 2);
      case 9: return keep(pow(abs(x) + 0.5, 1.5), std::pow(a.size + 0.5, 1.5));
      case 10: return keep(rotary_angle(index(dim(some_dim(dims(drawn_[0])))), 2.5) + x * 0.5, a.size / 2 + 4);
      case 11: return keep(below(2) == 0 ? gelu(x) : gelu_by_tanh(x), a.size);
      case 12: return keep(silu(x), a.size);
      case 13: return keep(softplus(x), a.size + 1);
      default: return keep(to_real(index(dim(some_dim(dims(drawn_[0]))))) + x * 0.5, a.size / 2 + 8);
    }
  }
  void comparison() {
    const auto is_exact = [&](const Drawn& d) { return kind(d) == Kind::real ? d.is_input : kind(d) != Kind::boolean; };
    const std::optional<Drawn> first = find(is_exact);
    if (!first) return;
    const Drawn& a = *first;
    const std::optional<Drawn> second = find([&](const Drawn& d) { return is_exact(d) && kind(d) == kind(a) && fits(dims(a), dims(d)); });
    if (!second) return;
    const Value x = a.value, y = second->value;
    switch (below(7)) {
      case 0: return keep(x < y, 1);
      case 1: return keep(x <= y, 1);
      case 2: return keep(x > y, 1);
      case 3: return keep(x >= y, 1);
      case 4: return keep(x == y, 1);
      case 5: return keep(x != y, 1);
      default: return keep(index(dim(some_dim(dims(drawn_[0])))) <= to_i64(drawn_[0].value), 1);
    }
  }
  void logic() {
    const Drawn a = boolean({}), b = boolean(dims(a));
    if (!fits(dims(a), dims(b))) return;
    switch (below(4)) {
      case 0: return keep(a.value && b.value, 1);
      case 1: return keep(a.value || b.value, 1);
      case 2: return keep(!a.value, 1);
      default: return keep(to_real(a.value), 1);
    }
  }
  void selection() {
    const Drawn a = *find([](const Drawn&) { return true; });
    const std::optional<Drawn> second = find([&](const Drawn& d) { return kind(d) == kind(a) && fits(dims(a), dims(d)); });
    if (!second) return;
    const Drawn& b = *second;
    Names both = dims(a);
    both.unite(dims(b));
    keep(select(boolean(both).value, a.value, b.value), std::max(a.size, b.size));
  }
};

}  // namespace attune
