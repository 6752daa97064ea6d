#include "codegen/halide/lower/lowered_graph.h"
#include "dsl/philox.h"

namespace attune {
namespace {

/// A 32-bit word that wraps, for the one definition of Philox.
struct Word {
  Halide::Expr expr;
  explicit Word(std::uint32_t value) : expr(Halide::cast<std::uint32_t>(Halide::Expr(value))) {}
  explicit Word(Halide::Expr e) : expr(std::move(e)) {}
};
Word operator+(const Word& a, const Word& b) { return Word(a.expr + b.expr); }
Word operator*(const Word& a, const Word& b) { return Word(a.expr * b.expr); }
Word operator^(const Word& a, const Word& b) { return Word(a.expr ^ b.expr); }
Word multiply_high(const Word& a, const Word& b) {
  return Word(Halide::cast<std::uint32_t>((Halide::cast<std::uint64_t>(a.expr) * Halide::cast<std::uint64_t>(b.expr)) >> 32));
}

Word low(const Halide::Expr& wide) { return Word(Halide::cast<std::uint32_t>(wide)); }
Word high(const Halide::Expr& wide) { return Word(Halide::cast<std::uint32_t>(wide >> 32)); }

}  // namespace

template <>
Lowered lower(const Dropout& op, const Site& site) {
  Halide::Expr element = Halide::cast<std::uint64_t>(Halide::Expr(0));
  for (Name dim : site.type_of_operand(0).dims)
    element = element * Halide::cast<std::uint64_t>(site.values.extents().at(std::string(dim))) +
              Halide::cast<std::uint64_t>(site.coordinate(dim));
  const auto wide = [&](std::size_t i) { return Halide::reinterpret<std::uint64_t>(Halide::cast<std::int64_t>(site.operand(i).expr)); };
  const Halide::Expr seed = wide(1), offset = wide(2), counter = element >> 2;
  const auto words = philox<Word>({low(counter), high(counter), low(offset), high(offset)}, {low(seed), high(seed)});
  const Halide::Expr lane = Halide::cast<std::int32_t>(element & 3);
  const Halide::Expr word = Halide::select(lane == 0, words[0].expr, lane == 1, words[1].expr, lane == 2, words[2].expr, words[3].expr);
  const Halide::Expr is_kept = (word >> 8) >= Halide::cast<std::uint32_t>(Halide::Expr(op.threshold()));
  const Halide::Expr factor = static_cast<float>(1 / (1 - op.rate));
  return {Halide::select(is_kept, site.operand(0).expr * factor, 0.0f)};
}

}  // namespace attune
