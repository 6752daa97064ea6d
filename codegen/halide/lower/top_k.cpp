#include "codegen/halide/lower/lowered_graph.h"
#include "codegen/halide/numbers/real_order.h"

namespace attune {

namespace {
Halide::Type ordered_type(Kind kind) { return Halide::UInt(kind == Kind::i64 ? 64 : 32); }
}  // namespace

/// An unsigned integer in the order of the element; -0 is 0.
template <>
Lowered walked_element(const TopK&, Kind kind, const Lowered& element) {
  using Halide::Expr;
  const Halide::Type type = ordered_type(kind), same = type.with_code(Halide::Type::Int);
  const auto integer = [&] { return Halide::cast(same, element.expr); };
  const auto place = [&] {
    const Expr is_zero = (Halide::reinterpret<std::uint32_t>(element.expr) & Expr(0x7fffffffu)) == Expr(0u);
    return Halide::select(is_zero, 0, place_in_order(element.expr));
  };
  return {Halide::reinterpret(type, kind == Kind::real ? place() : integer()) ^ (Halide::Internal::make_one(type) << (type.bits() - 1))};
}

/// The element of rank `count` bit by bit from the highest: a bit of it is 1 if so many elements are at least what is known with that bit. The count
/// that was too small last is that of greater elements. One more pass finds the last of its equals that is chosen.
template <>
RowWalk walk_of(const TopK& op, Kind kind) {
  using Halide::Expr, Halide::select;
  const Halide::Type type = ordered_type(kind);
  const int bits = type.bits(), count = static_cast<int>(op.count);
  RowWalk walk;
  walk.along = op.over;
  walk.passes = bits + 1;
  const Expr none = Halide::Internal::make_zero(type), one = Halide::Internal::make_one(type);
  const auto tried = [=](const Expr& known, const Expr& pass) {
    return known | select(pass < bits, one << Halide::cast(type, Halide::max(bits - 1 - pass, 0)), none);
  };
  walk.initial = {none, 0, 0, -1};  // the element, how many are counted in a pass, how many are greater, the last that is chosen
  walk.step = [=](const RowWalk::Values& v, const Expr& element, const Expr& position, const Expr& pass) {
    const Expr counts = select(pass < bits, element >= tried(v[0], pass), element == v[0]), counted = v[1] + Halide::cast<std::int32_t>(counts);
    return RowWalk::Values{v[0], counted, v[2], select(pass == bits && counts && counted <= count - v[2], position, v[3])};
  };
  walk.end_pass = [=](const RowWalk::Values& v, const Expr& pass) {
    const Expr is_search = pass < bits;
    return RowWalk::Values{select(is_search && v[1] >= count, tried(v[0], pass), v[0]), 0, select(is_search && v[1] < count, v[1], v[2]), v[3]};
  };
  walk.result = [](const RowWalk::Values& v, const Expr& element, const Expr& position) {
    return element > v[0] || (element == v[0] && position <= v[3]);
  };
  return walk;
}

}  // namespace attune
