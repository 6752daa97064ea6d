#include "codegen/halide/rewrites/stack_budget.h"

#include <catch2/catch.hpp>
#include <string>

namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// `bytes` of an array that is stored to around `body`.
Stmt array(const std::string& name, int bytes, const Stmt& body = Evaluate::make(0)) {
  const Stmt store = Store::make(name, Expr(0.0f), Expr(0), Halide::Parameter(), const_true(), ModulusRemainder());
  return Allocate::make(name, Halide::Float(32), Halide::MemoryType::Auto, {Expr(bytes / 4)}, const_true(), Block::make(store, body));
}

Stmt parallel_loop(const Stmt& body) {
  return For::make("i", 0, 8, ForType::Parallel, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
}

/// The names of the arrays that are asked for from the heap, in their order.
std::string on_heap(const Stmt& s) {
  class Visitor : public IRVisitor {
   public:
    std::string names;

   private:
    using IRVisitor::visit;
    void visit(const Allocate* op) override {
      if (op->memory_type == Halide::MemoryType::Heap) names += op->name;
      IRVisitor::visit(op);
    }
  } visitor;
  attune::keep_stack_budget(s).accept(&visitor);
  return visitor.names;
}

constexpr int kb = 1024;

}  // namespace

TEST_CASE("the largest arrays of a function go to the heap until the others are within its budget", "[stack_budget]") {
  const Stmt fits = array("a", 16 * kb, array("b", 16 * kb, array("c", 16 * kb, array("d", 16 * kb))));
  CHECK(on_heap(fits) == "");
  CHECK(on_heap(array("e", 4, fits)) == "a");
  CHECK(on_heap(array("e", 12 * kb, array("f", 8 * kb, fits))) == "ab");
}

TEST_CASE("arrays one after the other share their place", "[stack_budget]") {
  Stmt all = array("a", 16 * kb);
  for (const char* name : {"b", "c", "d", "e", "f", "g"}) all = Block::make(all, array(name, 16 * kb));
  CHECK(on_heap(all) == "");
}

TEST_CASE("a parallel loop's iteration has a budget of its own, and a function that waits for one has less", "[stack_budget]") {
  const Stmt iteration = array("a", 16 * kb, array("b", 16 * kb, array("c", 16 * kb, array("d", 16 * kb))));
  CHECK(on_heap(array("around", 4 * kb, parallel_loop(iteration))) == "");
  CHECK(on_heap(array("around", 5 * kb, parallel_loop(iteration))) == "around");
  CHECK(on_heap(array("around", 4 * kb, parallel_loop(array("e", 4, iteration)))) == "a");
  CHECK(on_heap(Block::make(array("before", 5 * kb), parallel_loop(iteration))) == "before");
}

TEST_CASE("what is on the heap anyway takes nothing of the budget", "[stack_budget]") {
  CHECK(on_heap(array("long", 17 * kb, array("a", 16 * kb, array("b", 16 * kb, array("c", 16 * kb, array("d", 16 * kb)))))) == "");
}
