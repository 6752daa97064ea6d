/// Examples of every operation: one that docs/language.md quotes (what stands between `return` and `;`), and cases for all tests over AnyOp, which
/// take it alone in all kinds. An operation without an example does not compile, nor a primitive or composite without cases.
#pragma once

#include "tests/operation_examples/composites.h"

namespace attune {

struct OperationExamples : CompositeExamples {
  using CompositeExamples::CompositeExamples;
  using CompositeExamples::cases, CompositeExamples::example;

  /// Operands lie along dims of their own, so that every pair of their elements meets.
  template <PointwiseOp Op>
  void cases(const Op& op) {
    for (const Kind kind : all_kinds) {
      if (!detail::is_allowed(Op::signature, kind)) continue;
      std::array<Value, 3> operands{};
      for (std::size_t i = 0; i < static_cast<std::size_t>(Op::arity); ++i) {
        const bool is_condition = Op::signature == Signature::selection && i == 0;
        operands[i] = is_condition ? input({rows, columns}, Kind::boolean) : input({i % 2 == 0 ? columns : rows}, kind);
      }
      put(g.add(op, std::span<const Value>(operands.data(), static_cast<std::size_t>(Op::arity)), Here::current()));
    }
  }

  Value example(const Add&) { return scores + bias; }
  Value example(const Subtract&) { return index(queries) - index(keys); }
  Value example(const Multiply&) { return scores * 0.125; }
  Value example(const Divide&) { return scores / 30; }
  Value example(const FloorDiv&) { return floor_div(index(keys), 64); }
  Value example(const Mod&) { return mod(index(keys), 64); }
  Value example(const BitAnd&) { return bit_and(index(keys), 63); }
  Value example(const BitOr&) { return bit_or(index(keys), 64); }
  Value example(const BitXor&) { return bit_xor(index(queries), index(keys)); }
  Value example(const ShiftLeft&) { return shift_left(index(keys), 6); }
  Value example(const ShiftRight&) { return shift_right(index(keys), 6); }
  Value example(const Negate&) { return -scores; }
  Value example(const Abs&) { return abs(index(queries) - index(keys)); }
  Value example(const Minimum&) { return minimum(scores, 50); }
  Value example(const Maximum&) { return maximum(scores, bias); }
  Value example(const Less&) { return index(keys) < lengths; }
  Value example(const LessEqual&) { return index(keys) <= index(queries); }
  Value example(const Greater&) { return scores > 0; }
  Value example(const GreaterEqual&) { return index(queries) >= index(keys); }
  Value example(const Equal&) { return mod(index(keys), 4) == 0; }
  Value example(const NotEqual&) { return index(queries) != index(keys); }
  Value example(const And&) { return is_visible && index(keys) < lengths; }
  Value example(const Or&) { return is_visible || index(keys) < 4; }
  Value example(const Not&) { return !is_visible; }
  Value example(const Select&) { return select(is_visible, scores, 0); }
  Value example(const Exp&) { return exp(scores); }
  Value example(const Log&) { return log(scores); }
  Value example(const Sqrt&) { return sqrt(extent(depth)); }
  Value example(const Rsqrt&) { return rsqrt(extent(depth)); }
  Value example(const Pow&) { return pow(scores, 3); }
  Value example(const Tanh&) { return tanh(scores); }
  Value example(const Erf&) { return erf(scores); }
  Value example(const Sin&) { return sin(scores); }
  Value example(const Cos&) { return cos(scores); }
  Value example(const Sigmoid&) { return sigmoid(scores); }
  Value example(const Floor&) { return floor(scores); }
  Value example(const ToReal&) { return to_real(index(keys)); }
  Value example(const ToI64&) { return to_i64(scores); }
};

template <class Op>
Graph graph_of_operation() {
  Graph g;
  OperationExamples{g, OperationExamples::Use::cases}.cases(Op{});
  g.finish();
  return g;
}

}  // namespace attune
