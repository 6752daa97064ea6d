#include "tests/random_graph.h"

#include <array>
#include <limits>

#include "tests/random_elementwise.h"
#include "tests/random_places.h"
#include "tests/random_sums.h"

namespace attune {
namespace {

class Drawing : private RandomElementwise, RandomSums, RandomPlaces {
 public:
  Drawing(std::uint64_t seed, const RandomChoices& choices) : choices_(choices) { state_ = seed * 2 + 1; }

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
  /// A step of a base: a pointer to member of Drawing itself would be of another `this`, of which the sanitizer of GCC 12 says that it is no Drawing.
  template <auto step>
  static void call(Drawing& drawing) {
    (drawing.*step)();
  }
  void step() {
    using Step = void (*)(Drawing&);
    constexpr std::array<Step, 19> steps = {call<&Drawing::arithmetic>, call<&Drawing::arithmetic>, call<&Drawing::function>, call<&Drawing::comparison>,
                                            call<&Drawing::logic>, call<&Drawing::selection>, call<&Drawing::contraction>, call<&Drawing::contraction>,
                                            call<&Drawing::layer>, call<&Drawing::reduction>, call<&Drawing::softmaxed>, call<&Drawing::joined>,
                                            call<&Drawing::renamed>, call<&Drawing::parted>, call<&Drawing::chosen>, call<&Drawing::dropped>,
                                            call<&Drawing::sliced>, call<&Drawing::carried>, call<&Drawing::ordered>};
    const bool has_room = g().nodes().size() < Graph::max_nodes / 2 && fresh_count_ + free_names.size() < Graph::max_dims - 4;
    if (has_room) steps[below(steps.size())](*this);
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
