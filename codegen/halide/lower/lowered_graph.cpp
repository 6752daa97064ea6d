#include "codegen/halide/lower/lowered_graph.h"

#include <algorithm>
#include <limits>

#include "codegen/halide/numbers/strict.h"

namespace attune {
namespace {

template <class Op, std::size_t... I>
Lowered apply(const Site& site, std::index_sequence<I...>) {
  static_assert(HasForm<Op, Lowered>, "the operation's function is missing for Halide's expressions: codegen/halide/numbers/lowered.h declares them for Lowered, and vector_math.h computes them");
  return Op::apply(site.operand(I)...);
}

/// Intervals promise nothing of infinite members: where a real is one, nothing is known of it.
Interval<Lowered> point(const Lowered& x) {
  if (!x.is_real() || Halide::Internal::is_const(x.expr)) return Interval<Lowered>::point(x);
  // a choice of bits: Halide would take NaN for a bound
  const Halide::Expr bits = Halide::select(has_finite_bits(x.expr), Halide::reinterpret<std::uint32_t>(x.expr), Halide::Expr(0x7fc00000u));
  return Interval<Lowered>::point({Halide::reinterpret<float>(bits)});
}

/// What a value of the kind may be when nothing else is known.
Interval<Lowered> anything(Kind kind) {
  if (kind == Kind::boolean) return {Lowered::boolean(false), Lowered::boolean(true)};
  if (kind == Kind::real) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {Lowered::bound(-infinity), Lowered::bound(infinity)};
  }
  if (kind == Kind::i8) return {Lowered::integer(-128), Lowered::integer(127)};
  if (kind == Kind::u8) return {Lowered::integer(0), Lowered::integer(255)};
  if (kind == Kind::i32)
    return {Lowered::integer(std::numeric_limits<std::int32_t>::min()), Lowered::integer(std::numeric_limits<std::int32_t>::max())};
  return {Lowered::integer(std::numeric_limits<std::int64_t>::min()), Lowered::integer(std::numeric_limits<std::int64_t>::max())};
}

/// The block of the operand that a block of the result is made of.
Block block_of_operand(const Rename& op, const Block& block) {
  Block renamed = block;
  renamed[std::string(op.from)] = block.at(std::string(op.to));
  return renamed;
}
Block block_of_operand(const Slice& op, const Block& block) {
  Block sliced = block;
  const Span& span = block.at(std::string(op.into));
  const auto place = [&](const Halide::Expr& i) { return i * static_cast<int>(op.step) + static_cast<int>(op.start); };
  sliced[std::string(op.from)] = {place(span.first), place(span.last)};
  return sliced;
}

/// Whether the block is a single element of the dims.
bool is_single(const Block& block, const Names& dims) {
  return std::ranges::all_of(dims, [&](Name dim) {
    const Span& span = block.at(std::string(dim));
    return Halide::Internal::equal(span.first, span.last);
  });
}

Lowered index_of(const Halide::Expr& coordinate) { return Lowered::of(coordinate, index_range); }

}  // namespace

Lowered LoweredGraph::extent(Name dim) const {
  const Halide::Expr& e = extents_.at(std::string(dim));
  if (const auto constant = Halide::Internal::as_const_int(e)) return Lowered::integer(*constant);
  return Lowered::of(e, extent_range);
}

Lowered LoweredGraph::at(int node, const Coordinates& coordinates, const Given& given) const {
  Found found;
  return find(node, coordinates, given, found);
}

Lowered LoweredGraph::find(int id, const Coordinates& coordinates, const Given& given, Found& found) const {
  if (const auto stand_in = given.find(id); stand_in != given.end()) return stand_in->second;
  if (const auto known = found.find(id); known != found.end()) return known->second;
  const Node& node = graph_.node(id);
  const Site site{*this, node, coordinates, given, found};
  const Lowered value = std::visit(
      [&]<class Op>(const Op& op) -> Lowered {
        if constexpr (std::is_same_v<Op, Input>)
          return sources_.find(op.label)->second.at(coordinates);
        else if constexpr (PointwiseOp<Op>)
          return apply<Op>(site, std::make_index_sequence<static_cast<std::size_t>(Op::arity)>{});
        else if constexpr (CompositeOp<Op>)
          throw std::logic_error("internal: " + std::string(Op::name) + " is not expanded");
        else if constexpr (requires { Op::is_walk; })
          throw std::logic_error("internal: " + std::string(Op::name) + " is asked for outside of its stage");
        else
          return lower(op, site);
      },
      node.op);
  found.emplace(id, value);
  return value;
}

Interval<Lowered> LoweredGraph::over(int node, const Block& block) const {
  std::map<int, Interval<Lowered>> found;
  return find_over(node, block, found);
}

Interval<Lowered> LoweredGraph::find_over(int id, const Block& block, std::map<int, Interval<Lowered>>& found) const {
  if (const auto known = found.find(id); known != found.end()) return known->second;
  const Node& node = graph_.node(id);
  const bool is_point = is_single(block, node.type.dims);
  const auto in = [&](std::size_t i) { return find_over(node.inputs[i], block, found); };
  const auto value = std::visit(
      [&]<class Op>(const Op& op) -> Interval<Lowered> {
        if constexpr (std::is_same_v<Op, Index>) {
          const Span& span = block.at(std::string(op.dim));
          return {index_of(span.first), index_of(span.last)};
        } else if constexpr (std::is_same_v<Op, Rename> || std::is_same_v<Op, Slice>) {
          return over(node.inputs[0], block_of_operand(op, block));
        } else if constexpr (PointwiseOp<Op>) {
          static_assert(HasForm<Op, Interval<Lowered>>, "the operation's function is missing for intervals: dsl/interval_functions.h has them");
          if constexpr (Op::arity == 1) return Op::apply(in(0));
          else if constexpr (Op::arity == 2) return Op::apply(in(0), in(1));
          else return Op::apply(in(0), in(1), in(2));
        } else {
          if constexpr (std::is_same_v<Op, Constant>)
            if (op.kind == Kind::real) return Interval<Lowered>::point(Lowered::bound(op.value));
          if constexpr (std::is_same_v<Op, Input>)
            if (const BlockSource& known = sources_.find(op.label)->second.over; known && !is_point)
              if (const auto range = known(block)) return *range;
          if constexpr (std::is_same_v<Op, Gather>)
            if (!is_point)
              if (const auto range = chosen_over(op, node, block, in(1))) return *range;
          if (!is_point) return anything(node.type.kind);
          Coordinates coordinates;
          for (const auto& [dim, span] : block) coordinates[dim] = span.first;
          return point(at(id, coordinates));
        }
      },
      node.op);
  found.emplace(id, value);
  return value;
}

/// Of a table of integers or truth values, where the places are one number or two neighbours, as those of blocks that divide the dim are: from the
/// least to the greatest of the two rows, 0 outside of the table. Rows are looked up by single elements; nothing if they have more in the block.
std::optional<Interval<Lowered>> LoweredGraph::chosen_over(const Gather& op, const Node& node, const Block& block,
                                                           const Interval<Lowered>& ids) const {
  const Node& table = graph_.node(node.inputs[0]);
  const bool is_stored = std::holds_alternative<Input>(table.op);
  if (node.type.kind == Kind::real || (is_stored && !is_single(block, table.type.dims.without({op.along})))) return std::nullopt;
  const Lowered zero = Lowered::integer(0), one = Lowered::integer(1), end = extent(op.along);
  const Lowered none = node.type.kind == Kind::boolean ? Lowered::boolean(false) : zero;
  const auto row = [&](const Lowered& id) {
    const Halide::Expr place = Halide::cast<std::int32_t>(minimum(maximum(id, zero), maximum(end - one, zero)).expr);
    Block at = block;
    at[std::string(op.along)] = {place, place};
    const Interval<Lowered> inside = over(node.inputs[0], at);
    const Lowered is_inside = id >= zero && id < end;
    return Interval<Lowered>{select(is_inside, inside.low, none), select(is_inside, inside.high, none)};
  };
  const Interval<Lowered> first = row(ids.low), last = row(ids.high);
  const Interval<Lowered> unknown = node.type.kind == Kind::i64 ? unbounded_integers() : anything(node.type.kind);
  const Lowered are_neighbours = ids.high <= ids.low + one;
  return Interval<Lowered>{select(are_neighbours, minimum(first.low, last.low), unknown.low),
                           select(are_neighbours, maximum(first.high, last.high), unknown.high)};
}

Piece LoweredGraph::piece(int node) const {
  Piece piece;
  for (Name dim : graph_.node(node).type.dims) piece.dims.emplace_back(dim);
  // the piece lives in Funcs' definitions only, which are made while these values live
  piece.element = [this, node](const Coordinates& coordinates) { return at(node, coordinates); };
  return piece;
}

Reduction reduction_over(const Names& dims, const Site& site) {
  std::vector<Halide::Range> ranges;
  for (Name dim : dims) ranges.emplace_back(0, site.values.extents().at(std::string(dim)));
  Reduction reduction{Halide::RDom(ranges), site.at};
  for (int i = 0; i < dims.size(); ++i) reduction.at[std::string(dims[i])] = reduction.domain[i];
  return reduction;
}

}  // namespace attune
