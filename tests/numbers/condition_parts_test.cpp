#include "codegen/halide/rewrites/condition_parts.h"

#include <catch2/catch.hpp>
#include <string>

using namespace Halide::Internal;
using Halide::Expr;

namespace {

Expr named(const char* name) { return Variable::make(Halide::Int(64), name); }

const Expr a = named("a"), b = named("b"), c = named("c"), zero = IntImm::make(Halide::Int(64), 0);
const Expr is_wide = a < c, greatest = Halide::Int(64).max();

}  // namespace

TEST_CASE("what must be below the lesser of two is below both", "[condition_parts]") {
  const std::vector<Expr> parts = attune::parts_of(zero < min(a, min(b, c)) && max(a, b) <= c);
  REQUIRE(parts.size() == 5);
  CHECK(equal(parts[0], zero < a));
  CHECK(equal(parts[2], zero < c));
  CHECK(equal(parts[4], b <= c));
  CHECK(attune::parts_of(min(a, b) < zero).size() == 1);  // one of them is enough
}

TEST_CASE("what is chosen where nothing is asked makes each part an alternative", "[condition_parts]") {
  const std::vector<Expr> parts = attune::parts_of(zero < select(is_wide, greatest, min(a, b)));
  REQUIRE(parts.size() == 2);
  CHECK(equal(parts[0], is_wide || zero < a));
  CHECK(equal(parts[1], is_wide || zero < b));
  CHECK(attune::parts_of(zero < select(is_wide, zero, min(a, b))).size() == 1);  // the choice decides
  const Expr real = Variable::make(Halide::Float(32), "real"), other = Variable::make(Halide::Float(32), "other");
  CHECK(attune::parts_of(0.f < min(real, other)).size() == 1);  // NaN is neither
}

TEST_CASE("a part is known whatever the order and the names of what it is made of", "[condition_parts]") {
  attune::KnownParts known;
  known.define("sum", (a + b) + c);
  known.add(zero < named("sum") || is_wide);
  CHECK(known.holds(is_wide || zero < c + (b + a)));
  CHECK(known.holds(b < a || is_wide || zero < c + (b + a)));
  CHECK_FALSE(known.holds(zero < named("sum")));
  CHECK(is_const_one(known.rest_of(Let::make("again", c + a, is_wide || zero < named("again") + b))));
  CHECK(is_const_one(known.rest_of(b < a || (is_wide || zero < (c + b) + a))));
  CHECK(equal(known.rest_of(a < b && (zero < named("sum") || is_wide)), a < b));
  known.forget_beyond(0);
  CHECK_FALSE(known.holds(zero < named("sum") || is_wide));
}

TEST_CASE("a condition of more parts than are looked for is known as a whole", "[condition_parts]") {
  attune::KnownParts known;
  Expr all = zero < a;
  for (int n = 0; n < 100; ++n) {
    const Expr part = Variable::make(Halide::Int(64), "v" + std::to_string(n)) < b;
    if (n > 0) known.add(part);
    all = all && part;
  }
  CHECK(attune::parts_of(all).size() == 1);
  CHECK(equal(known.rest_of(all), all));
  known.add(zero < a);
  CHECK_FALSE(known.holds(all));
  known.add(Variable::make(Halide::Int(64), "v0") < b);
  CHECK(known.holds(all));
  CHECK(known.holds(is_wide || all));
}
