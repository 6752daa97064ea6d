// Every pointwise operation with literals that are infinite or NaN: LLVM may take arithmetic on those for undefined and leave out its store.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "codegen/halide/numbers/lowered.h"
#include "codegen/halide/numbers/opaque_real.h"
#include "dsl/graph.h"
#include "tests/thinned.h"

namespace attune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), quiet_nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> numbers = {-infinity, -2.5, -1, -0.0, 0, 0.5, 3, infinity, quiet_nan};
constexpr std::size_t chunk = 48;  // operations a pipeline

double literal_like(double, double value) { return value; }
Lowered literal_like(const Lowered&, double value) { return Lowered::real(value); }
double to_number(bool x) { return x ? 1 : 0; }
double to_number(double x) { return x; }

/// An operation of two reals, as Halide computes it and on double.
struct Trial {
  std::string name;
  std::function<Lowered(const Lowered&, const Lowered&)> lowered;
  std::function<double(double, double)> exact;
};

template <class F>
Trial trial(std::string name, F f) {
  return {std::move(name), [f](const Lowered& x, const Lowered& y) { return Lowered(f(x, y)); }, [f](double x, double y) { return to_number(f(x, y)); }};
}

/// The literal where x is not above 0: what mask does.
template <class N>
N masked(const N& x, double literal) { return select(x > literal_like(x, 0), x, literal_like(x, literal)); }

template <class Op, class N>
auto applied(const N& a, const N& b) {
  if constexpr (Op::arity == 1) return Op::apply(a);
  else if constexpr (Op::arity == 2) return Op::apply(a, b);
  else return Op::apply(a < b, a, b);
}

/// The operation with a literal on either side, with a masked operand, and with another operation behind it.
template <class Op>
void add_trials(std::vector<Trial>& trials) {
  for (const double literal : {infinity, -infinity, quiet_nan}) {
    const std::string name = std::string(Op::name) + " with " + std::to_string(literal);
    trials.push_back(trial(name + " before", [=](const auto& x, const auto&) { return applied<Op>(literal_like(x, literal), x); }));
    trials.push_back(trial(name + " masked", [=](const auto& x, const auto& y) { return applied<Op>(masked(x, literal), y); }));
    if constexpr (Op::arity > 1) {
      trials.push_back(trial(name + " after", [=](const auto& x, const auto&) { return applied<Op>(x, literal_like(x, literal)); }));
      trials.push_back(trial(name + " masked twice", [=](const auto& x, const auto& y) { return applied<Op>(masked(x, literal), masked(y, literal)); }));
    }
    if constexpr (std::is_same_v<decltype(applied<Op>(0.0, 0.0)), double> && !std::is_same_v<Op, ToI64>)
      trials.push_back(trial(name + " masked, added to", [=](const auto& x, const auto& y) { return applied<Op>(masked(x, literal), y) + y; }));
  }
}

template <std::size_t... I>
std::vector<Trial> all_trials(std::index_sequence<I...>) {
  std::vector<Trial> trials;
  const auto add = [&]<class Op>(const Op*) {
    if constexpr (PointwiseOp<Op>)
      if constexpr (Op::signature != Signature::integral && Op::signature != Signature::logic) add_trials<Op>(trials);
  };
  (add(static_cast<const std::variant_alternative_t<I, AnyOp>*>(nullptr)), ...);
  return trials;
}

bool agrees(double got, double exact) {
  const double expected = static_cast<float>(exact);
  return got == expected || (std::isnan(got) && std::isnan(expected)) || std::abs(got - expected) <= 1e-6 * std::max(1.0, std::abs(expected));
}

/// What differs when the trials are computed on all pairs of numbers, in words; twice, into memory that holds one number and another before.
std::string differences(const Trial* first, const Trial* last, bool in_vectors) {
  const int rows = static_cast<int>(numbers.size() * numbers.size());
  Halide::Buffer<float> xs(rows), ys(rows);
  for (int row = 0; row < rows; ++row) {
    xs(row) = static_cast<float>(numbers[static_cast<std::size_t>(row) / numbers.size()]);
    ys(row) = static_cast<float>(numbers[static_cast<std::size_t>(row) % numbers.size()]);
  }
  const Halide::Var i("i");
  std::vector<Halide::Func> funcs;
  for (const Trial* t = first; t != last; ++t) {
    funcs.emplace_back("f");
    funcs.back()(i) = to_real(t->lowered(Lowered::of(xs(i)), Lowered::of(ys(i)))).expr;
    if (in_vectors) funcs.back().vectorize(i, 8, Halide::TailStrategy::GuardWithIf);
  }
  Halide::Pipeline pipeline(funcs);
  std::string text;
  for (const float before : {7.25f, -1e30f}) {
    std::vector<Halide::Buffer<float>> results;
    for (std::size_t n = 0; n < funcs.size(); ++n) results.emplace_back(rows).fill(before);
    pipeline.realize(Halide::Realization(std::vector<Halide::Buffer<>>(results.begin(), results.end())));
    for (std::size_t n = 0; n < results.size(); ++n)
      for (int row = 0; row < rows; ++row)
        if (const double exact = first[n].exact(xs(row), ys(row)), got = results[n](row); !agrees(got, exact))
          text += first[n].name + " of " + std::to_string(xs(row)) + " and " + std::to_string(ys(row)) + ": got " + std::to_string(got) + ", expected " +
                  std::to_string(exact) + "\n";
  }
  return text;
}

/// Each trial in vectors, in scalars or, where the whole is tried, in both.
void check_trials(Tried tried) {
  const std::vector<Trial> trials = all_trials(std::make_index_sequence<std::variant_size_v<AnyOp>>{});
  REQUIRE(trials.size() > 200);
  for (const bool in_vectors : {true, false}) {
    std::vector<Trial> taken;
    for (std::size_t n = 0; n < trials.size(); ++n)
      if (is_tried(tried, n, in_vectors ? 0 : 1, 2)) taken.push_back(trials[n]);
    for (std::size_t n = 0; n < taken.size(); n += chunk) {
      const Trial* first = taken.data() + n;
      CHECK(differences(first, first + std::min(chunk, taken.size() - n), in_vectors) == "");
    }
  }
}

}  // namespace

TEST_CASE("operations on literals that are infinite or NaN follow IEEE, and every element is written", "[lowered]") { check_trials(Tried::part); }

TEST_CASE("every operation on literals that are infinite or NaN follows IEEE in vectors and in scalars", "[.full]") { check_trials(Tried::whole); }

TEST_CASE("factors do not become infinite before they meet their operand", "[lowered]") {
  const auto product = [](const auto& x, const auto&) { return x * literal_like(x, 3e38) * literal_like(x, 10) * literal_like(x, 1e-39); };
  const auto quotient = [](const auto& x, const auto&) { return x / literal_like(x, 1e-42); };
  const std::vector<Trial> trials = {trial("x * 3e38 * 10 * 1e-39", product), trial("x / 1e-42", quotient)};
  Halide::Buffer<float> xs(1);
  xs(0) = 1e-5f;
  const Halide::Var i("i");
  for (const Trial& t : trials) {
    INFO(t.name);
    Halide::Func f("f");
    f(i) = t.lowered(Lowered::of(xs(i)), Lowered::of(xs(i))).expr;
    const Halide::Buffer<float> result = f.realize({1});
    const double exact = t.exact(xs(0), xs(0));
    CHECK(result(0) == Approx(exact).epsilon(1e-3));
  }
}

TEST_CASE("a mask of a large factor leaves what it shows as it is", "[lowered]") {
  Halide::Buffer<float> scores(1), visible(1);
  scores(0) = 0.123456789f;
  visible(0) = 1;
  const Halide::Var i("i");
  const auto masked = [&](const Lowered& mask) {
    Halide::Func f("f");
    f(i) = (Lowered::of(scores(i)) + mask).expr;
    const Halide::Buffer<float> result = f.realize({1});
    return result(0);
  };
  const Lowered shown = Lowered::of(visible(i)), one = literal_like(shown, 1), far = literal_like(shown, -10000);
  CHECK(masked((one - shown) * far) == scores(0));
  CHECK(masked(far * (one - shown)) == scores(0));
  CHECK(masked((shown - one) * literal_like(shown, 10000)) == scores(0));
}

TEST_CASE("a literal is opaque where a product of three of its size would be infinite or nothing", "[lowered]") {
  for (const float value : {0.f, -0.f, 1.f, -1e9f, 1e-9f}) CHECK_FALSE(needs_opaque_real(value));
  for (const float value : {1e30f, -1e30f, 1e-30f, 1e-42f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    CHECK(needs_opaque_real(value));
}

}  // namespace attune
