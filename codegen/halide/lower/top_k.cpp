#include "codegen/halide/lower/lowered_graph.h"
#include "codegen/halide/numbers/real_order.h"

namespace attune {

namespace {

/// An unsigned integer in the order of the element; -0 is 0.
Lowered in_order(Kind kind, const Lowered& element) {
  using Halide::Expr;
  const Halide::Type type = Halide::UInt(kind == Kind::i64 ? 64 : 32), same = type.with_code(Halide::Type::Int);
  const auto integer = [&] { return Halide::cast(same, element.expr); };
  const auto place = [&] {
    const Expr is_zero = (Halide::reinterpret<std::uint32_t>(element.expr) & Expr(0x7fffffffu)) == Expr(0u);
    return Halide::select(is_zero, 0, place_in_order(element.expr));
  };
  return {Halide::reinterpret(type, kind == Kind::real ? place() : integer()) ^ (Halide::Internal::make_one(type) << (type.bits() - 1))};
}

}  // namespace

template <>
Lowered walked_element(const TopK&, Kind kind, const Lowered& element) { return in_order(kind, element); }
template <>
Lowered walked_element(const TopKPositions&, Kind kind, const Lowered& element) { return in_order(kind, element); }

template <>
void add_walk(const TopK& op, Kind, Pointwise& stage) { stage.choice = {.along = std::string(op.over), .count = static_cast<int>(op.count)}; }
template <>
void add_walk(const TopKPositions& op, Kind, Pointwise& stage) {
  stage.choice = {.along = std::string(op.over), .count = static_cast<int>(op.count), .list = RowChoice::List{std::string(op.into), op.sorted}};
}

}  // namespace attune
