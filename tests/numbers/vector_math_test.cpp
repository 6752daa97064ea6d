#include "codegen/halide/numbers/bf16.h"
#include "codegen/halide/numbers/vector_math.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/halide/rewrites/rare_lanes.h"
#include "tests/numbers/vector_trial.h"

namespace v = attune::vector_math;
using namespace attune::vector_trial;
using Halide::Expr;
using Halide::Target;

namespace {

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A function as it is lowered and as it is in double; how many ulp may lie between; what it is at -infinity, -0, 0 and infinity.
struct Function {
  std::string name;
  Expr (*lowered)(const Expr&);
  double (*exact)(double);
  double allowed_ulp;
  float at_special[4];
  bool may_flush = false;  ///< results below 2^-126 may be 0
};
const Function functions[] = {
    {"exp", v::exp, std::exp, 2, {0, 1, 1, infinity}},
    {"exp2", v::exp2, std::exp2, 2, {0, 1, 1, infinity}},
    {"log", v::log, std::log, 2, {quiet_nan, -infinity, -infinity, infinity}},
    {"tanh", v::tanh, std::tanh, 4, {-1, -0.f, 0, 1}},
    {"erf", v::erf, std::erf, 4, {-1, -0.f, 0, 1}},
    {"sigmoid", v::sigmoid, exact_sigmoid, 4, {0, 0.5f, 0.5f, 1}, true},
    {"sin", v::sin, std::sin, 2, {quiet_nan, -0.f, 0, quiet_nan}},
    {"cos", v::cos, std::cos, 2, {quiet_nan, 1, 1, quiet_nan}},
};

using Way = void (*)(Halide::Pipeline&);

/// f(x) for every x; f(x + 0) with a 0 that Halide does not know, if x comes `from_arithmetic`, which LLVM takes to be finite.
class Evaluated {
 public:
  template <class Lowered>
  Evaluated(Lowered f, const Target& target, bool from_arithmetic = false, Way way = attune::branch_on_rare_lanes)
      : pipeline_(vectorised(f(from_arithmetic ? from_(i_) + zero_(i_) : Expr(from_(i_))), i_)), target_(target) {
    way(pipeline_);
  }

  std::vector<float> operator()(std::vector<float> x) {
    std::vector<float> y(x.size()), zeros(x.size());
    const int size = static_cast<int>(x.size());
    Halide::Buffer<float> from(x.data(), size), zero(zeros.data(), size), to(y.data(), size);
    from_.set(from);
    zero_.set(zero);
    pipeline_.realize(to, target_);
    return y;
  }

 private:
  Halide::Var i_;
  Halide::ImageParam from_{Halide::Float(32), 1}, zero_{Halide::Float(32), 1};
  Halide::Pipeline pipeline_;
  Target target_;
};

/// Each compiled once, for all tests of the process.
std::vector<float> evaluate(const Function& f, const std::vector<float>& x, const Target& target, bool from_arithmetic = false,
                            Way way = attune::branch_on_rare_lanes) {
  static std::map<std::tuple<std::string, std::string, bool, bool>, Evaluated> compiled;
  std::tuple key{f.name, target.to_string(), from_arithmetic, way == attune::take_rare_way};
  const auto [place, is_new] = compiled.try_emplace(std::move(key), f.lowered, target, from_arithmetic, way);
  return place->second(x);
}

/// Both signs, every exponent, `steps` mantissas of each: also zeros and what is below 2^-126, neither infinities nor NaN.
std::vector<float> all_exponents(std::uint32_t steps) {
  std::vector<float> x;
  for (std::uint32_t sign : {0u, 0x80000000u})
    for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
      for (std::uint32_t step = 0; step < steps; ++step)
        x.push_back(std::bit_cast<float>(sign | exponent << 23 | (step * (0x7fffffu / (steps - 1)))));
  return x;
}

std::vector<float> between(float low, float high, std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> x(count);
  std::generate(x.begin(), x.end(), [&] { return uniform(random); });
  return x;
}

/// The machine code of f, vectorised, without the checks around it.
std::string assembly(Expr (*f)(const Expr&), const Target& target) {
  Halide::Var i;
  Halide::ImageParam in(Halide::Float(32), 1);
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("attune_vector_math_" + std::to_string(std::random_device()()) + ".s");
  Halide::Pipeline pipeline(vectorised(f(in(i)), i));
  attune::branch_on_rare_lanes(pipeline);
  pipeline.compile_to_assembly(path.string(), {in}, "f",
                           target.with_feature(Target::NoRuntime).with_feature(Target::NoAsserts).with_feature(Target::NoBoundsQuery));
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::filesystem::remove(path);
  return text;
}

}  // namespace

TEST_CASE("vector functions are right to a few ulp over all exponents", "[vector_math]") {
  const std::vector<float> x = all_exponents(2048);
  for (const Target& target : targets())
    for (const Function& f : functions) {
      const std::vector<float> y = evaluate(f, x, target);
      double worst = 0;
      float at = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (const double error = ulps(y[i], f.exact(x[i]), f.may_flush); error > worst) worst = error, at = x[i];
      INFO(f.name << " on " << target.to_string() << ": worst at " << at << ": " << worst << " ulp");
      CHECK(worst <= f.allowed_ulp);
    }
}

TEST_CASE("vector functions are right at infinities, zeros and NaN", "[vector_math]") {
  for (const Target& target : targets())
    for (const Function& f : functions)
      for (bool from_arithmetic : {false, true}) {
        std::vector<float> x = {-infinity, -0.f, 0.f, infinity};
        x.insert(x.end(), std::begin(nans), std::end(nans));
        const std::vector<float> y = evaluate(f, x, target, from_arithmetic);
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (from_arithmetic && i == 1) continue;  // -0 + 0 is 0
          const float expected = i < 4 ? f.at_special[i] : quiet_nan;
          INFO(f.name << " on " << target.to_string() << (from_arithmetic ? " after an addition" : ""));
          INFO("at " << x[i] << ", number " << i << ": got " << y[i] << ", expected " << expected);
          CHECK(is_same(y[i], expected));
        }
      }
}

TEST_CASE("tanh, erf and sigmoid stay within their limits", "[vector_math]") {
  const std::vector<float> x = between(-12, 12, 1 << 18);
  for (const Target& target : targets())
    for (const Function& f : functions) {
      if (f.name != "tanh" && f.name != "erf" && f.name != "sigmoid") continue;
      const std::vector<float> y = evaluate(f, x, target);
      INFO(f.name << " on " << target.to_string());
      CHECK(*std::max_element(y.begin(), y.end()) <= 1.f);
      CHECK(*std::min_element(y.begin(), y.end()) >= (f.name == "sigmoid" ? 0.f : -1.f));
    }
}

TEST_CASE("sin and cos are right to 2 ulp where little is left of the argument", "[vector_math]") {
  std::vector<float> x = between(-2e6f, 2e6f, 1 << 18);  // both ways, and vectors that need both
  for (float near : between(-1e9f, 1e9f, 1 << 18))
    x.push_back(static_cast<float>(std::round(near / (std::numbers::pi / 2)) * (std::numbers::pi / 2)));
  for (float near : between(-1e6f, 1e6f, 1 << 18))
    x.push_back(static_cast<float>(std::round(near / (std::numbers::pi / 2)) * (std::numbers::pi / 2)));
  // Of all f32 those closest to a multiple of pi/2, and the last ones on the fast way and the first that are not.
  x.insert(x.end(), {0x1.47d0fep+34f, 0x1.f37c8ap+95f, 0x1.f37c8ap+96f, 0x1p20f, 0x1.000002p20f});
  for (const Target& target : targets())
    for (const Function& f : functions)
      for (const Way way : {&attune::branch_on_rare_lanes, &attune::take_rare_way}) {
        if (f.name != "sin" && f.name != "cos") continue;
        const std::vector<float> y = evaluate(f, x, target, false, way);
        double worst = 0;
        float at = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
          if (const double error = ulps(y[i], f.exact(x[i]), false); error > worst) worst = error, at = x[i];
        INFO(f.name << " on " << target.to_string() << (way == &attune::take_rare_way ? " as on devices" : "") << ": worst at " << at << ": " << worst
                    << " ulp");
        CHECK(worst <= 2);
      }
}

TEST_CASE("sin and cos of any finite number stay within -1 and 1", "[vector_math]") {
  const std::vector<float> x = all_exponents(1024);
  for (const Target& target : targets())
    for (const Function& f : functions) {
      if (f.name != "sin" && f.name != "cos") continue;
      const std::vector<float> y = evaluate(f, x, target);
      INFO(f.name << " on " << target.to_string());
      CHECK(std::all_of(y.begin(), y.end(), [](float e) { return e >= -1.f && e <= 1.f; }));
    }
}

TEST_CASE("the exponentials of a softmax are right, 0 far below and NaN for NaN", "[vector_math]") {
  const bool is_bf16 = GENERATE(false, true);
  const double error = is_bf16 ? 0x1p-8 + 1.1e-4 : 2e-7;
  const int least = GENERATE(-126, attune::least_weight);
  const auto of = [is_bf16, least](const Expr& s) {
    return is_bf16 ? attune::bf16_value(attune::softmax_exp2_as_bf16(s - 0.5f, least)) : attune::softmax_exp2(s, least);
  };
  const float end = static_cast<float>(least) + (is_bf16 ? 1.f : 0.5f);  // of what is not 0
  const std::vector<float> x = between(end + 1e-4f, 0, 1 << 18), below = between(end - 30, end - 1e-4f, 1 << 16);
  std::vector<float> special = {0.f, -0.f, -127.f, -128.f, -1e30f, -infinity};
  special.insert(special.end(), std::begin(nans), std::end(nans));
  for (const Target& target : targets()) {
    INFO(target.to_string() << " to 2^" << least);
    Evaluated plain(of, target), of_arithmetic(of, target, true);
    const std::vector<float> y = plain(x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(y[i] / std::exp2(static_cast<double>(x[i])) - 1));
    CHECK(worst <= error);
    CHECK(std::ranges::all_of(y, [](float e) { return e >= std::numeric_limits<float>::min(); }));
    CHECK(std::ranges::all_of(plain(below), [](float e) { return e == 0; }));
    for (bool from_arithmetic : {false, true}) {
      const std::vector<float> got = (from_arithmetic ? of_arithmetic : plain)(special);
      for (std::size_t i = 0; i < special.size(); ++i) {
        INFO("at " << special[i] << ", number " << i << ": " << got[i]);
        CHECK(is_same(got[i], i < 2 ? 1.f : i < 6 ? 0.f : quiet_nan));
      }
    }
  }
}

TEST_CASE("vector functions call nothing on any CPU", "[vector_math]") {
  const std::regex call("\\n\\s*(callq?|blr?|b)\\s+(?!f\\b|\\.L)");  // f itself is called by the wrapper that Halide adds
  for (const char* name :
       {"x86-64-linux-sse41-avx-f16c-fma-avx2", "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake", "arm-64-linux"}) {
    const Target target(name);
    REQUIRE(std::regex_search(assembly([](const Expr& x) { return Halide::sin(x); }, target),
                              call));  // the check finds a call where there is one
    for (const Function& f : functions) {
      INFO(f.name << " on " << name);
      CHECK_FALSE(std::regex_search(assembly(f.lowered, target), call));
    }
    INFO("the exponentials of a softmax on " << name);
    CHECK_FALSE(std::regex_search(assembly([](const Expr& s) { return attune::softmax_exp2(s); }, target), call));
    CHECK_FALSE(std::regex_search(assembly([](const Expr& s) { return attune::softmax_exp2_as_bf16(s, attune::least_weight); }, target), call));
  }
}
