#include "codegen/halide/rewrites/trimmed_loops.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

const Expr k = Variable::make(Halide::Int(32), "k"), block = Variable::make(Halide::Int(32), "block"), n = Variable::make(Halide::Int(32), "n");

Stmt barrier() { return Evaluate::make(Call::make(Halide::Int(32), Call::gpu_thread_barrier, {2}, Call::Intrinsic)); }
Stmt store() { return Store::make("own", 1.f, k, Halide::Parameter(), const_true(), ModulusRemainder()); }

/// A loop of n iterations in a block of threads, in Halide's words.
std::string rewritten(const Stmt& body, ForType outer = ForType::GPUBlock) {
  const Stmt loop = For::make("k", 0, n, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::CUDA, body);
  std::ostringstream out;
  out << with_trimmed_loops(For::make("block", 0, 16, outer, Halide::Partition::Auto, Halide::DeviceAPI::CUDA, loop));
  return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a device's loop is over the iterations that its condition lets in", "[trimmed loops]") {
  const Expr seen = Call::make(Halide::Bool(), Call::return_second, {0, k * 32 <= block * 64 + 63 && block * 64 < k * 32 + 100}, Call::PureIntrinsic);
  const std::string text = rewritten(Block::make(IfThenElse::make(seen, store()), barrier()));
  INFO(text);
  CHECK(has(text, "let k.first = max(block*2, 3) + -3"));
  CHECK(has(text, "let k.visited = max(min((block*2) + 2, n) - k.first, 0)"));
  CHECK(has(text, "for<CUDA> (k, k.first, k.visited)"));
}

TEST_CASE("a condition of what a let names is one of its value", "[trimmed loops]") {
  const Expr named = Variable::make(Halide::Int(32), "first");
  CHECK(has(rewritten(LetStmt::make("first", k * 4, Block::make(barrier(), IfThenElse::make(named < 10, store())))),
            "for<CUDA> (k, k.first, k.visited)"));
}

TEST_CASE("a loop of which every iteration may do something stays as it is", "[trimmed loops]") {
  const Expr table = Load::make(Halide::Int(32), "table", k, Halide::Buffer<>(), Halide::Parameter(), const_true(), ModulusRemainder());
  const Stmt guarded = IfThenElse::make(k < block, store());
  CHECK(has(rewritten(IfThenElse::make(table == 0, store())), "for<CUDA> (k, 0, n)"));
  CHECK(has(rewritten(Block::make(guarded, store())), "for<CUDA> (k, 0, n)"));
  CHECK(has(rewritten(IfThenElse::make(k < block, store(), barrier())), "for<CUDA> (k, 0, n)"));
  CHECK(has(rewritten(guarded, ForType::Serial), "for<CUDA> (k, 0, n)"));
}

}  // namespace attune
