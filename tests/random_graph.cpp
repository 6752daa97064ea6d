#include "tests/random_graph.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tests/random_values.h"

namespace attune {
namespace {

class Drawing : RandomValues {
 public:
  Drawing(std::uint64_t seed, const RandomChoices& choices) : RandomValues(seed), choices_(choices) {}

  RandomGraph draw() {
    constexpr std::array<std::int64_t, 6> extents = {1, 2, 3, 4, 5, 7};
    for (Name name : free_names) extents_[name] = extents[below(extents.size())];
    if (choices_.has_empty && below(8) == 0) extents_[free_names[below(free_names.size())]] = 0;
    for (int i = 0; i < 3; ++i) add_input(Kind::real);
    add_input(below(2) == 0 ? Kind::i64 : Kind::i32);
    add_input(Kind::boolean);
    for (int i = 0; i < choices_.operations; ++i) choices_.has_special && below(3) == 0 ? special() : step();
    write_outputs();
    result_.graph.finish();
    return std::move(result_);
  }

 private:
  void step() {
    using Step = void (Drawing::*)();
    constexpr std::array<Step, 19> steps = {&Drawing::arithmetic, &Drawing::arithmetic, &Drawing::function,    &Drawing::comparison,
                                            &Drawing::logic,      &Drawing::selection,  &Drawing::contraction, &Drawing::contraction,
                                            &Drawing::layer,      &Drawing::reduction,  &Drawing::softmaxed,   &Drawing::joined,
                                            &Drawing::renamed,    &Drawing::parted,     &Drawing::chosen,      &Drawing::dropped,
                                            &Drawing::sliced,     &Drawing::carried,    &Drawing::ordered};
    const bool has_room = g().nodes().size() < Graph::max_nodes / 2 && fresh_count_ + free_names.size() < Graph::max_dims - 4;
    if (has_room) (this->*steps[below(steps.size())])();
  }

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
      case 3: return keep(tanh(x), 1);
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
  /// One or two dims that both have.
  Names shared(const Drawn& a, const Drawn& b) {
    Names over;
    for (Name name : dims(a))
      if (dims(b).has(name) && (over.empty() || below(2) == 0) && over.size() < 2) over.add(name);
    return over;
  }
  void contraction() {
    const std::optional<Drawn> first = real_with_dims();
    if (!first) return;
    const Drawn& a = *first;
    const std::optional<Drawn> second = find([&](const Drawn& d) { return kind(d) == Kind::real && !shared(a, d).empty() && fits(dims(a), dims(d)); });
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
    const std::optional<Drawn> found = find([&](const Drawn& d) { return kind(d) != Kind::boolean && !dims(d).empty() && (is_sum || kind(d) != Kind::real || d.is_input); });
    if (!found) return;
    const Drawn& a = *found;
    const Name over = some_dim(dims(a));
    const auto count = static_cast<std::int64_t>(below(3)) + 1;
    if (is_sum) return keep(cumulative_sum(a.value, dim(over), below(2) == 0), a.size * static_cast<double>(extents_.at(over)));
    if (below(2) == 0) return keep(top_k(a.value, dim(over), count), 1);
    const Dim into = fresh(2);
    g().dim(into.name, 2);
    if (fits(dims(a), {into.name})) keep(top_k_positions(a.value, dim(over), count, into), 8);
  }
  void normalised(const Drawn& a, Name over) {
    const Value weight = add_input(Kind::real, {over}).value;
    const double size = 2 * std::sqrt(static_cast<double>(extents_.at(over)));
    if (below(2) == 0) return keep(rms_norm(a.value, weight, dim(over), 0.5), size);
    keep(layer_norm(a.value, weight, add_input(Kind::real, {over}).value, dim(over), 0.5), size + 2);
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
    const RecurrentParts parts = {.log_decay = below(2) == 0 ? Operand(key - 0.25) : Operand(-0.25), .beta = below(2) == 0 ? 0.5 : 0.0};
    const double size = static_cast<double>(extents_.at(along)) + 1;
    const auto [result, state] = recurrence_with_state(key, key, value, parts, dim(along), dim(over));
    const std::uint64_t which = below(3);
    if (which < 2) keep(result, size * static_cast<double>(extents_.at(over)));
    if (which > 0) keep(state, size);
  }
  /// Minus infinity where it is not visible, also where that widens the value.
  Value masked(const Drawn& a, const Drawn& visible) {
    if (dims(visible).without(dims(a)).empty()) return mask(a.value, visible.value);
    return select(visible.value, a.value, -std::numeric_limits<double>::infinity());
  }
  void joined() {
    const std::optional<Drawn> first = find([&](const Drawn& d) { return !dims(d).empty(); });
    if (!first) return;
    const Drawn& a = *first;
    const Name along = some_dim(dims(a));
    const std::optional<Drawn> second = find([&](const Drawn& d) { return kind(d) == kind(a) && dims(d).has(along) && fits(dims(a), dims(d)); });
    if (!second) return;
    const Drawn& b = *second;
    if (elements(dims(a)) + elements(dims(b)) > most_elements / 2) return;
    keep(concat({a.value, b.value}, dim(along), fresh(2 * extents_.at(along))), std::max(a.size, b.size));
  }
  void renamed() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return !dims(d).empty(); });
    if (!found) return;
    const Drawn& a = *found;
    const Name from = some_dim(dims(a));
    keep(rename(a.value, dim(from), fresh(extents_.at(from))), a.size);
  }
  void sliced() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return !dims(d).empty(); });
    if (!found) return;
    const Drawn& a = *found;
    const Name from = some_dim(dims(a));
    const std::int64_t extent = extents_.at(from), start = static_cast<std::int64_t>(below(static_cast<std::size_t>(extent) + 1));
    const std::int64_t step = 1 + static_cast<std::int64_t>(below(3)), taken = (extent - start + step - 1) / step;
    const Steps steps{start, step, below(2) == 0 ? 0 : taken};
    const Dim into = fresh(taken);
    const Value part = slice(a.value, dim(from), steps, into);
    keep(part, a.size);
    const Value first = constant(g(), static_cast<std::int64_t>(below(static_cast<std::size_t>(extent) + 3)) - 2);
    if (below(2) == 0) keep(write_rows(a.value, dim(from), part, into, first, below(2) == 0), a.size);
  }
  void parted() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return dims(d).size() >= 2; });
    if (!found) return;
    const Drawn& a = *found;
    const Name first = dims(a)[0], last = dims(a)[dims(a).size() - 1];
    const Dim joint = fresh(extents_.at(first) * extents_.at(last));
    const Value merged = merge(a.value, {dim(last), dim(first)}, joint);
    keep(merged, a.size);
    if (extents_.at(last) == 0) return;
    const Dim outer = fresh(extents_.at(last)), inner = fresh(extents_.at(first));
    keep(split(merged, joint, {{outer, extents_.at(last)}, inner}), a.size);
  }
  void chosen() {
    const std::optional<Drawn> found = find([&](const Drawn& d) { return !dims(d).empty() && kind(d) != Kind::boolean; });
    if (!found) return;
    const Drawn& a = *found;
    const Name along = some_dim(dims(a));
    if (extents_.at(along) == 0) return;
    if (kind(a) == Kind::real && extents_.at(along) > 1 && below(2) == 0) return turned(a, along);
    Names rest = dims(a).without({along}), to;
    for (Name name : free_names)
      if (name != along && to.empty()) to.add(name);
    if (!fits(rest, to)) return;
    const Value ids = mod(to_i64(add_input(Kind::real, to).value) * 3, extent(dim(along)));
    keep(gather(a.value, ids, dim(along)), a.size);
  }
  /// The first pair along the dim, by a step for each position along another.
  void turned(const Drawn& a, Name along) {
    const Dim pairs = fresh(1);
    const Value bent = add_input(Kind::real, {pairs.name}).value, step = rotary_steps(index(pairs), 10, 2);
    const Value angles = rotary_angle(index(dim(some_dim(dims(a).size() > 1 ? dims(a).without({along}) : Names{pairs.name}))), step) + bent;
    keep(rotary_embedding(a.value, angles, dim(along), pairs, below(2) == 0 ? RotaryPairs::half_split : RotaryPairs::interleaved), 2 * a.size);
  }
  void special() {
    const std::optional<Drawn> found = real_with_dims();
    if (!found) return;
    const std::optional<Value> infinite = made_special(*found);
    if (!infinite) return;
    const Names& dims = dims_of(*infinite);
    const Value number = add_input(Kind::real, {some_dim(dims)}).value, x = *infinite;
    const Dim over = dim(some_dim(dims));
    Value result = x;
    switch (below(10)) {
      case 0: result = x + number; break;
      case 1: result = number - x; break;
      case 2: result = x * number; break;
      case 3: result = select(boolean(dims_of(number)).value, x, number); break;
      case 4: result = max(x, over); break;
      case 5: result = sum(x, over); break;
      case 6: result = softmax(x, over); break;
      case 7: result = tanh(x); break;
      case 8: result = exp(minimum(x, 2)); break;
      default: break;
    }
    drawn_.push_back({result, 1, false, false, true});
  }
  /// Infinities and NaN where no rounding decides, or nothing where the dims do not fit.
  std::optional<Value> made_special(const Drawn& a) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double literal = std::array{infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}[below(3)];
    const Value x = a.value;
    const Drawn truth = boolean(dims(a));
    if (!fits(dims(a), dims(truth))) return std::nullopt;
    switch (below(9)) {
      case 0: return x + literal;
      case 1: return literal - x;
      case 2: return (a.is_input ? x : maximum(x, 1)) * literal;
      case 3: return (a.is_input ? x : maximum(x, 1)) / literal;
      case 4: return minimum(x, literal);
      case 5: return maximum(literal, x);
      case 6: return select(truth.value, x, literal);
      case 7: return masked(a, truth);
      default: return gathered_outside(a);
    }
  }
  /// Rows of a by ids of which some are outside.
  std::optional<Value> gathered_outside(const Drawn& a) {
    const Name along = some_dim(dims(a));
    Names to;
    for (Name name : free_names)
      if (!dims(a).has(name) && to.empty()) to.add(name);
    if (!fits(dims(a).without({along}), to)) return std::nullopt;
    return gather(a.value, to_i64(add_input(Kind::real, to).value * 3), dim(along));
  }
  void dropped() {
    const std::optional<Drawn> found = real();
    if (!found || !choices_.has_dropout) return;
    const Drawn& a = *found;
    if (!seed_) seed_ = add_input(Kind::i64, Names{}).value, offset_ = add_input(Kind::i64, Names{}).value;
    keep(dropout(a.value, 0.25, *seed_, *offset_), a.size / 0.75);
  }

  /// What nothing uses, in an order of dims of its own.
  void write_outputs() {
    std::size_t count = 0;
    for (std::size_t i = drawn_.size(); i-- > 0;) {
      const Drawn& d = drawn_[i];
      if (d.is_used || d.is_input || count == Graph::max_outputs) continue;
      Names order, rest = dims(d);
      while (!rest.empty()) {
        order.add(some_dim(rest));
        rest = rest.without({order[order.size() - 1]});
      }
      g().output(numbered('o', count++), d.value, order, Here::current());
    }
    if (count == 0) g().output(numbered('o', 0), drawn_[0].value + 1, dims(drawn_[0]), Here::current());
  }

  RandomChoices choices_;
  std::optional<Value> seed_, offset_;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed, const RandomChoices& choices) { return Drawing(seed, choices).draw(); }

}  // namespace attune
