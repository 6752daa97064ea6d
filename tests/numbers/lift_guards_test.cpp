#include "codegen/halide/rewrites/lift_guards.h"

#include <atomic>
#include <catch2/catch.hpp>

using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {

std::atomic<int> calls;

}  // namespace

extern "C" int attune_test_costly(int x) {
  ++calls;
  return 10 * x;
}

namespace {

constexpr int blocks = 8, rows = 4;

Expr costly(const Expr& x) {
  return Halide::Internal::Call::make(Halide::Int(32), "attune_test_costly", {x}, Halide::Internal::Call::Extern);
}

/// sum(row) += part(row, block) over the blocks that `seen` shows; `part` is computed once for each block, and counts its elements.
struct Sums {
  Halide::ImageParam seen{Halide::UInt(8), 1, "seen"};
  Func flag{"flag"}, part{"part"}, sum{"sum"};
  Var row{"row"}, block{"block"};
  RDom over{0, blocks, "over"};

  Sums() {
    flag(block) = seen(block) != Halide::cast<std::uint8_t>(0);
    flag.compute_root();
    part(row, block) = costly(row + block);
    sum(row) = 0;
  }

  void schedule() {
    sum.update().reorder(row, over);
    part.compute_at(sum, over);
  }

  Buffer<int> run() {
    Halide::Pipeline pipeline(sum);
    attune::lift_guards(pipeline);
    Buffer<std::uint8_t> shown(blocks);
    shown.for_each_element([&](int b) { shown(b) = b % 3 == 0; });
    seen.set(shown);
    calls = 0;
    return pipeline.realize({rows});
  }
};

int expected(int row) {
  int sum = 0;
  for (int b = 0; b < blocks; b += 3) sum += 10 * (row + b);
  return sum;
}

}  // namespace

TEST_CASE("what only a refused block needs is not computed", "[lift_guards]") {
  Sums s;
  s.over.where(s.flag(s.over));
  s.sum(s.row) += s.part(s.row, s.over);
  s.schedule();
  const Buffer<int> result = s.run();
  for (int row = 0; row < rows; ++row) CHECK(result(row) == expected(row));
  CHECK(calls == 3 * rows);
}

TEST_CASE("of several conditions those on the block alone are moved", "[lift_guards]") {
  Sums s;
  s.over.where(s.flag(s.over) && s.flag((s.row + s.over) % blocks));
  s.sum(s.row) += s.part(s.row, s.over);
  s.schedule();
  const Buffer<int> result = s.run();
  for (int row = 0; row < rows; ++row) {
    int sum = 0;
    for (int b = 0; b < blocks; b += 3) sum += (row + b) % blocks % 3 == 0 ? 10 * (row + b) : 0;
    CHECK(result(row) == sum);
  }
  CHECK(calls == 3 * rows);
}

TEST_CASE("a condition on a part of what a loop stores stays with that part", "[lift_guards]") {
  using namespace Halide::Internal;
  const Expr block = Variable::make(Halide::Int(32), "block");
  const auto load = [&](const char* name) {
    return Load::make(Halide::Int(32), name, block, Halide::Buffer<>(), Halide::Parameter(), const_true(), ModulusRemainder());
  };
  const auto store = [&](const char* name) { return Store::make(name, 1, block, Halide::Parameter(), const_true(), ModulusRemainder()); };
  const auto loop = [&](const Stmt& body) {
    return For::make("block", 0, blocks, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
  };
  const Stmt guarded = IfThenElse::make(load("seen") != 0, store("a"));
  const Stmt partly = loop(Block::make(guarded, store("b")));
  CHECK(equal(attune::lift_guards(partly), partly));
  // a buffer of the loop's own is nothing that can be seen outside
  const auto with_own = [&](const Stmt& body) {
    return Allocate::make("b", Halide::Int(32), Halide::MemoryType::Auto, {blocks}, const_true(), body);
  };
  const Stmt wholly = loop(with_own(Block::make(store("b"), guarded)));
  CHECK(equal(attune::lift_guards(wholly), loop(IfThenElse::make(load("seen") != 0, with_own(Block::make(store("b"), store("a")))))));
}

TEST_CASE("two stores may have the same condition in another order", "[lift_guards]") {
  using namespace Halide::Internal;
  const Expr block = Variable::make(Halide::Int(32), "block"), row = Variable::make(Halide::Int(32), "row"), first = Variable::make(Halide::Int(32), "first");
  const auto seen = [](const Expr& place) {
    return Load::make(Halide::Int(32), "seen", place, Halide::Buffer<>(), Halide::Parameter(), const_true(), ModulusRemainder()) != 0;
  };
  const auto store = [&](const char* name) { return Store::make(name, 1, block, Halide::Parameter(), const_true(), ModulusRemainder()); };
  const auto loop = [&](const Stmt& body) {
    return For::make("block", 0, blocks, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
  };
  const Expr asked = seen(row + first);
  const Stmt body = Block::make(IfThenElse::make(asked && seen(block), store("a")), IfThenElse::make(seen(first + row), store("b")));
  const Stmt lifted = loop(IfThenElse::make(asked, Block::make(IfThenElse::make(seen(block), store("a")), store("b"))));
  CHECK(equal(attune::lift_guards(loop(body)), lifted));
}

TEST_CASE("a loop that stores nothing outside of itself is left out", "[lift_guards]") {
  using namespace Halide::Internal;
  const Expr block = Variable::make(Halide::Int(32), "block");
  const auto loop = [&](const Stmt& body) {
    return For::make("block", 0, blocks, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
  };
  const Stmt store = Store::make("b", 1, block, Halide::Parameter(), const_true(), ModulusRemainder());
  const Stmt own = loop(Allocate::make("b", Halide::Int(32), Halide::MemoryType::Auto, {blocks}, const_true(), Block::make(store, Free::make("b"))));
  CHECK(equal(attune::lift_guards(own), Evaluate::make(0)));
  // what a call does is not known
  const Stmt calls_something = loop(Block::make(Evaluate::make(costly(block)), own));
  CHECK(equal(attune::lift_guards(calls_something), loop(Block::make(Evaluate::make(costly(block)), Evaluate::make(0)))));
}

TEST_CASE("a branch is not asked again what the branch around it has asked", "[lift_guards]") {
  using namespace Halide::Internal;
  const Expr row = Variable::make(Halide::Int(32), "row");
  const auto load = [&](const char* name) {
    return Load::make(Halide::Int(32), name, row, Halide::Buffer<>(), Halide::Parameter(), const_true(), ModulusRemainder());
  };
  const auto store = [&](const char* name) { return Store::make(name, 1, row, Halide::Parameter(), const_true(), ModulusRemainder()); };
  const Expr is_seen = 0 < load("seen"), is_near = 0 < load("near");
  const Stmt inner = IfThenElse::make(0 < min(load("near"), load("seen")), store("a"));
  CHECK(equal(attune::lift_guards(IfThenElse::make(is_seen, inner)), IfThenElse::make(is_seen, IfThenElse::make(is_near, store("a")))));
  // what a producer is computed for is known by a name
  const Stmt flagged = LetStmt::make("is_used", is_seen || is_near, IfThenElse::make(Variable::make(Halide::Bool(), "is_used"), store("a")));
  CHECK(equal(attune::lift_guards(IfThenElse::make(is_seen, flagged)), IfThenElse::make(is_seen, LetStmt::make("is_used", const_true(), store("a")))));
  // what is stored in between may be another value
  const Stmt changes = IfThenElse::make(is_seen, Block::make(store("seen"), IfThenElse::make(is_seen, store("a"))));
  CHECK(equal(attune::lift_guards(changes), changes));
  const Stmt before = LetStmt::make("seen_before", load("seen"), Block::make(store("seen"), IfThenElse::make(is_seen, IfThenElse::make(0 < Variable::make(Halide::Int(32), "seen_before"), store("a")))));
  CHECK(equal(attune::lift_guards(before), before));
}

TEST_CASE("a condition that the loop itself changes is not moved out of it", "[lift_guards]") {
  Sums s;
  RDom all({{0, rows}, {0, blocks}}, "all");
  all.where(s.sum(0) % 4 != 2);
  s.sum(all.x) += s.part(all.x, all.y) / 5;
  s.part.compute_at(s.sum, all.y);
  const Buffer<int> result = s.run();
  int sums[rows] = {};
  for (int b = 0; b < blocks; ++b)
    for (int row = 0; row < rows; ++row)
      if (sums[0] % 4 != 2) sums[row] += 2 * (row + b);
  for (int row = 0; row < rows; ++row) CHECK(result(row) == sums[row]);
}
