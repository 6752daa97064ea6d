#include "codegen/halide/rewrites/private_registers.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

const Expr thread = Variable::make(Halide::Int(32), ".thread_id_x");

Stmt store(const Expr& index, const Expr& value) { return Store::make("own", value, index, Halide::Parameter(), const_true(), ModulusRemainder()); }
Expr load(const Expr& index) {
  return Load::make(Halide::Float(32), "own", index, Halide::Buffer<>(), Halide::Parameter(), const_true(), ModulusRemainder());
}

/// Threads of a block with registers of 64 elements.
Stmt kernel(const std::vector<Stmt>& statements) {
  const Stmt body = Allocate::make("own", Halide::Float(32), Halide::MemoryType::Register, {64}, const_true(), Block::make(statements));
  return For::make(".thread_id_x", 0, 16, ForType::GPUThread, Halide::Partition::Auto, Halide::DeviceAPI::CUDA, body);
}

/// The kernel's statements in Halide's words.
std::string rewritten(const Stmt& s) {
  std::ostringstream out;
  out << with_private_registers(s);
  return out.str();
}

std::string problem_of(const Stmt& s) {
  try {
    rewritten(s);
    return {};
  } catch (const Halide::CompileError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a thread keeps its own elements of a block's registers", "[private registers]") {
  // Two of four places of each thread are touched; what an index is called by a let is looked up.
  const Expr named = Variable::make(Halide::Int(32), "place");
  const std::string text = rewritten(kernel({store(thread * 4 + 3, 1.f), LetStmt::make("place", thread * 4, store(named, load(named + 3)))}));
  INFO(text);
  CHECK(text.find("allocate own[float32 * 2] in Register") != std::string::npos);
  CHECK(text.find("own[1] = 1.000000f") != std::string::npos);
  CHECK(text.find("own[0] = own[1]") != std::string::npos);
}

TEST_CASE("loops over a block's threads that Halide numbers are of the same threads", "[private registers]") {
  const Expr numbered = Variable::make(Halide::Int(32), ".thread_id_x$2");
  const std::string text = rewritten(kernel({store(thread * 4, 1.f), store(numbered * 4 + 1, 2.f)}));
  INFO(text);
  CHECK(text.find("allocate own[float32 * 2] in Register") != std::string::npos);
}

TEST_CASE("registers that no thread's number indexes stay as they are", "[private registers]") {
  const Expr i = Variable::make(Halide::Int(32), "i");
  const Stmt loop = For::make("i", 0, 64, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, store(i, 1.f));
  CHECK(rewritten(kernel({loop})).find("allocate own[float32 * 64] in Register") != std::string::npos);
}

TEST_CASE("registers of which a thread touches another's, or no known one, are refused in words", "[private registers]") {
  CHECK(problem_of(kernel({store(thread * 4, 1.f), store(thread * 8, 2.f)})) ==
        "registers of 'own': a thread has the elements at (thread_id_x*4) plus a constant, and an access is at (thread_id_x*8)");
  CHECK(problem_of(kernel({store(thread * 4, load(60 - thread * 4))})).find("and an access is at (60 - (thread_id_x*4))") != std::string::npos);
  const Expr i = Variable::make(Halide::Int(32), "i");
  const Stmt loop = For::make("i", 0, 4, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, store(thread * 4 + i, 1.f));
  CHECK(problem_of(kernel({loop})).find("and an access is at ((thread_id_x*4) + i)") != std::string::npos);
}

TEST_CASE("a barrier at the end of a loop fences the memory that a block shares", "[private registers]") {
  const auto barrier = [](int fence) {
    return Evaluate::make(Call::make(Halide::Int(32), Call::gpu_thread_barrier, {Expr(fence)}, Call::Intrinsic));
  };
  CHECK(rewritten(kernel({barrier(0)})).find("gpu_thread_barrier(2)") != std::string::npos);
  CHECK(rewritten(kernel({barrier(1)})).find("gpu_thread_barrier(1)") != std::string::npos);
}

}  // namespace attune
