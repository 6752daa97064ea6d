#include <catch2/catch.hpp>

#include "codegen/halide/rewrites/opaque_numbers.h"

namespace attune {
namespace {

using Halide::Expr;

/// A row of as many elements as two numbers multiply to, each made of the extent of `in`: blocks of a third of it, rounded up, and so many
/// that they hold it. Elements beyond it are left out.
struct Blocks {
  Halide::ImageParam in{Halide::Int(32), 1, "in"};
  std::vector<OpaqueNumber> numbers;
  Halide::Func copy{"copy"};
  Halide::Pipeline pipeline;

  Blocks() {
    const Expr extent = in.dim(0).extent();
    const Expr block = opaque((extent + 2) / 3, numbers), blocks = opaque((extent + block - 1) / block, numbers);
    Halide::RDom loops({{0, block}, {0, blocks}}, "loops");
    const Expr at = loops.y * block + loops.x;
    loops.where(at < extent);
    const Halide::Var x("x");
    copy(x) = -1;
    copy(Halide::clamp(at, 0, extent - 1)) = in(Halide::clamp(at, 0, extent - 1)) + 100 * loops.y;
    pipeline = Halide::Pipeline(copy);
    define_numbers(pipeline, numbers);
  }

  std::vector<int> run(int extent) {
    Halide::Buffer<int> data(extent), result(extent);
    for (int i = 0; i < extent; ++i) data(i) = i;
    in.set(data);
    pipeline.realize(result);
    return {result.begin(), result.end()};
  }
};

}  // namespace

TEST_CASE("numbers that lowering does not look behind have their values when the kernel runs", "[opaque_numbers]") {
  Blocks blocks;
  CHECK(blocks.run(7) == std::vector<int>{0, 1, 2, 103, 104, 105, 206});
  CHECK(blocks.run(4) == std::vector<int>{0, 1, 102, 103});
  CHECK(blocks.run(1) == std::vector<int>{0});
  CHECK(blocks.numbers.size() == 2);
}

TEST_CASE("a number that would be less than one is one", "[opaque_numbers]") {
  std::vector<OpaqueNumber> numbers;
  Halide::ImageParam in(Halide::Int(32), 1, "in");
  Halide::Func f("f");
  const Halide::Var x("x");
  f(x) = opaque(in.dim(0).extent() - 5, numbers) + 0 * x;
  Halide::Pipeline pipeline(f);
  define_numbers(pipeline, numbers);
  const auto first = [&](int extent) {
    in.set(Halide::Buffer<int>(extent));
    const Halide::Buffer<int> result = pipeline.realize({1});
    return result(0);
  };
  CHECK(first(2) == 1);
  CHECK(first(9) == 4);
}

}  // namespace attune
