#include "codegen/halide/rewrites/prefetch_results.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>

using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace {

std::set<std::uint64_t> asked;
int prefetched_after_sums, sums_computed;

}  // namespace

extern "C" int attune_test_asked(std::uint64_t address) {
  asked.insert(address);
  prefetched_after_sums += sums_computed % 3 != 0;  // a block of results has three rows
  return 0;
}

extern "C" float attune_test_sum(float x) {
  ++sums_computed;
  return x + 1;
}

namespace {

using namespace Halide::Internal;

constexpr int lanes = 16, rows_of_block = 3;

/// Takes the place of LLVM's instruction.
class CountPrefetched : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Call* op) override {
    if (op->name != "llvm.prefetch.p0") return IRMutator::visit(op);
    return Call::make(Halide::Int(32), "attune_test_asked", {Halide::reinterpret<std::uint64_t>(op->args[0])}, Call::Extern);
  }
};

/// result(x, y) = sum(y) * x: vectors of x, sums of three rows at a time.
Buffer<float> run(int columns, int rows, bool is_prefetched) {
  Var x("x"), y("y"), vector("vector"), block("block"), row("row");
  Func sums("sums"), result("result");
  sums(y) = Call::make(Halide::Float(32), "attune_test_sum", {Halide::cast<float>(y)}, Call::Extern);
  result(x, y) = sums(y) * x;
  result.split(y, block, row, rows_of_block, Halide::TailStrategy::GuardWithIf)
      .split(x, vector, x, lanes, Halide::TailStrategy::GuardWithIf)
      .vectorize(x);
  sums.compute_at(result, block);
  Halide::Pipeline pipeline(result);
  if (is_prefetched) attune::prefetch_results(pipeline, result, sums);
  pipeline.add_custom_lowering_pass(new CountPrefetched);
  asked.clear();
  prefetched_after_sums = sums_computed = 0;
  Buffer<float> values(columns, rows);
  pipeline.realize(values);
  return values;
}

TEST_CASE("each vector of a result is asked for before what it is made of, and nothing else", "[prefetch_results]") {
  for (const int columns : {16, 64, 37, 5})
    for (const int rows : {1, 3, 5, 6}) {
      CAPTURE(columns, rows);
      const Buffer<float> values = run(columns, rows, true);
      std::set<std::uint64_t> vectors;
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
          CHECK(values(x, y) == static_cast<float>((y + 1) * x));
          if (x % lanes == 0) vectors.insert(reinterpret_cast<std::uint64_t>(&values(x, y)));
        }
      CHECK(asked == vectors);
      CHECK(prefetched_after_sums == 0);
    }
}

TEST_CASE("a result is not asked for where nobody wants it", "[prefetch_results]") {
  run(64, 3, false);
  CHECK(asked.empty());
}

}  // namespace
