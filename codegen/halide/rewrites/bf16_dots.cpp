#include "codegen/halide/rewrites/bf16_dots.h"

#include <cstdint>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

constexpr const char* name_of_dot = "bf16_dot";

Expr first_of(const Expr& word) { return Halide::reinterpret(Halide::Float(32, word.type().lanes()), word << 16); }
Expr second_of(const Expr& word) { return Halide::reinterpret(Halide::Float(32, word.type().lanes()), word & Halide::cast<std::uint32_t>(Expr(0xffff0000u))); }

class WithDots final : public IRMutator {
 public:
  explicit WithDots(bool has_instruction) : has_instruction_(has_instruction) {}

 private:
  using IRMutator::visit;

  Expr visit(const Call* op) override {
    const Expr mutated = IRMutator::visit(op);
    const std::optional<Bf16Dot> dot = as_bf16_dot(mutated);
    if (!dot) return mutated;
    const int lanes = op->type.lanes();
    if (!has_instruction_ || (lanes != 4 && lanes != 8 && lanes != 16)) return by_fma(*dot);
    const Halide::Type pairs = Halide::BFloat(16, 2 * lanes);
    return Call::make(op->type, "dot_product", {dot->sum, Reinterpret::make(pairs, dot->a), Reinterpret::make(pairs, dot->b)}, Call::PureIntrinsic);
  }

  const bool has_instruction_;
};

}  // namespace

Expr bf16_word(const Expr& first_bits, const Expr& second_bits) { return Halide::concat_bits({first_bits, second_bits}); }

Expr bf16_dot(const Expr& sum, const Expr& a, const Expr& b) { return Call::make(Halide::Float(32), name_of_dot, {sum, a, b}, Call::PureExtern); }

std::optional<Bf16Dot> as_bf16_dot(const Expr& e) {
  const auto* call = e.as<Call>();
  if (call == nullptr || call->name != name_of_dot) return {};
  return Bf16Dot{call->args[0], call->args[1], call->args[2]};
}

Expr by_fma(const Bf16Dot& dot) { return dot.sum + first_of(dot.a) * first_of(dot.b) + second_of(dot.a) * second_of(dot.b); }

Stmt with_bf16_dots(const Stmt& s, const Halide::Target& target) {
  return WithDots(target.has_feature(Halide::Target::AVX512_Zen4) || target.has_feature(Halide::Target::AVX512_SapphireRapids)).mutate(s);
}

}  // namespace attune
