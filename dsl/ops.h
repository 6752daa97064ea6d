/// AnyOp: every operation of the language, the only list of them.
#pragma once

#include <variant>

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/bits.h"
#include "dsl/ops/compare.h"
#include "dsl/ops/concat.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/convert.h"
#include "dsl/ops/cumulative_sum.h"
#include "dsl/ops/dropout.h"
#include "dsl/ops/functions.h"
#include "dsl/ops/gather.h"
#include "dsl/ops/gelu.h"
#include "dsl/ops/index.h"
#include "dsl/ops/input.h"
#include "dsl/ops/joint_softmax.h"
#include "dsl/ops/layer_norm.h"
#include "dsl/ops/linear.h"
#include "dsl/ops/log_sum_exp.h"
#include "dsl/ops/logic.h"
#include "dsl/ops/mask.h"
#include "dsl/ops/matmul.h"
#include "dsl/ops/mean.h"
#include "dsl/ops/powers.h"
#include "dsl/ops/recurrence.h"
#include "dsl/ops/reduce.h"
#include "dsl/ops/rename.h"
#include "dsl/ops/reshape.h"
#include "dsl/ops/reverse_cumulative_sum.h"
#include "dsl/ops/rms_norm.h"
#include "dsl/ops/rotary_angle.h"
#include "dsl/ops/rotary_embedding.h"
#include "dsl/ops/rotary_steps.h"
#include "dsl/ops/rounding.h"
#include "dsl/ops/scale.h"
#include "dsl/ops/silu.h"
#include "dsl/ops/slice.h"
#include "dsl/ops/softmax.h"
#include "dsl/ops/softplus.h"
#include "dsl/ops/top_k.h"
#include "dsl/ops/top_k_positions.h"
#include "dsl/ops/write_rows.h"

namespace attune {

using AnyOp = std::variant<
    // primitives
    Constant, Input, Index, Extent, Matmul, Softmax, LogSumExp, ReduceSum, ReduceMax, CumulativeSum, TopK, Concat, Rename,
    Split, Merge, Slice, Gather, WriteRows, Dropout, Recurrence, RecurrenceState,
    // pointwise
    Add, Subtract, Multiply, Divide, FloorDiv, Mod, Negate, Abs, Minimum, Maximum,     //
    BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight,                                      //
    Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, And, Or, Not, Select,     //
    Exp, Log, Sqrt, Rsqrt, Pow, Tanh, Erf, Sin, Cos, Sigmoid, Floor, ToReal, ToI64,    //
    // composites
    Scale, Mask, Linear, Mean, JointSoftmax, RotaryAngle,
    RotarySteps, RotaryEmbedding, RmsNorm, LayerNorm, Gelu, Silu, Softplus, ReverseCumulativeSum,
    TopKPositions>;

namespace detail {
template <class Any>
struct NamesOf;
template <class... Ops>
struct NamesOf<std::variant<Ops...>> {
  static constexpr std::string_view names[] = {Ops::name...};
};
}  // namespace detail

/// The word for the operation. (A table: std::visit, instantiated for the whole list, is a quarter of what a compiler takes for a variant's header.)
constexpr std::string_view operation_name(const AnyOp& op) { return detail::NamesOf<AnyOp>::names[op.index()]; }

}  // namespace attune
