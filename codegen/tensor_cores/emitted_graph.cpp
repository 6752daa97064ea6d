#include "codegen/tensor_cores/emitted_graph.h"

#include <mlir/Dialect/Arith/IR/Arith.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "codegen/plan/node_users.h"
#include "dsl/philox.h"

namespace attune::tensor_cores {
namespace {

namespace arith = mlir::arith;

/// MLIR's polynomials of these are not within the ulp that the language promises: powers at all, sines of angles beyond some turns.
template <class Op>
constexpr bool is_inexact = std::is_same_v<Op, Pow> || std::is_same_v<Op, Sin> || std::is_same_v<Op, Cos>;

template <class Op, class... One>
constexpr bool is_one_of = (std::is_same_v<Op, One> || ...);

/// Pointwise operations, and those of their own code.
template <class Op>
constexpr bool has_code = (PointwiseOp<Op> && !is_inexact<Op>) || moves_elements<Op> || is_one_of<Op, Constant, Input, Index, Extent, Gather, Dropout>;

/// A 32-bit word that wraps, for the one definition of Philox. Its builder is that of the words which it is made of.
struct Word {
  Builder* builder = nullptr;
  mlir::Value value;
  std::uint32_t constant = 0;

  explicit Word(std::uint32_t number) : constant(number) {}
  Word(Builder& at, mlir::Value bits) : builder(&at), value(bits) {}
  mlir::Value in(Builder& at) const {
    return value ? value : mlir::Value(arith::ConstantOp::create(at, at.getI32IntegerAttr(static_cast<std::int32_t>(constant))));
  }
};
template <class Op>
Word combined(const Word& a, const Word& b, std::uint32_t constant) {
  Builder* builder = a.builder != nullptr ? a.builder : b.builder;
  return builder == nullptr ? Word(constant) : Word(*builder, builder->createOrFold<Op>(a.in(*builder), b.in(*builder)));
}
Word operator+(const Word& a, const Word& b) { return combined<arith::AddIOp>(a, b, a.constant + b.constant); }
Word operator*(const Word& a, const Word& b) { return combined<arith::MulIOp>(a, b, a.constant * b.constant); }
Word operator^(const Word& a, const Word& b) { return combined<arith::XOrIOp>(a, b, a.constant ^ b.constant); }
Word multiply_high(const Word& a, const Word& b) {
  Builder* builder = a.builder != nullptr ? a.builder : b.builder;
  if (builder == nullptr) return Word(static_cast<std::uint32_t>(std::uint64_t{a.constant} * b.constant >> 32));
  auto product = arith::MulUIExtendedOp::create(*builder, a.in(*builder), b.in(*builder));
  return {*builder, product.getHigh()};
}

Emitted index_of(const Emitted& coordinate) { return coordinate; }

template <class Op, std::size_t... I>
Emitted applied(const std::array<Emitted, max_operands>& operands, std::index_sequence<I...>) {
  static_assert(HasForm<Op, Emitted>,
                "the operation's function is missing for values of MLIR: codegen/tensor_cores/number.h declares them for Emitted");
  return Op::apply(operands[I]...);
}

/// Intervals promise nothing of infinite members: where a real is one, nothing is known of it.
Interval<Emitted> point(const Emitted& x) {
  if (!x.is_real()) return Interval<Emitted>::point(x);
  Builder& builder = *x.builder;
  const Emitted infinity = Emitted::real(builder, std::numeric_limits<double>::infinity());
  return Interval<Emitted>::point(select(abs(x) < infinity, x, Emitted::real(builder, std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace

Emitted EmittedGraph::at(int node, const Coordinates& coordinates, const Given& given) const {
  Found found;
  return find(node, coordinates, given, found);
}

Emitted EmittedGraph::find(int id, const Coordinates& coordinates, const Given& given, Found& found) const {
  if (const auto stand_in = given.find(id); stand_in != given.end()) return stand_in->second;
  if (const auto known = found.find(id); known != found.end()) return known->second;
  const Node& node = graph_.node(id);
  const Emitted value = std::visit([&](const auto& op) { return element(op, node, coordinates, given, found); }, node.op);
  found.emplace(id, value);
  return value;
}

template <class Op>
Emitted EmittedGraph::element(const Op& op, const Node& node, const Coordinates& coordinates, const Given& given, Found& found) const {
  if constexpr (std::is_same_v<Op, Input>) {
    return load_(op.label, coordinates);
  } else if constexpr (std::is_same_v<Op, Constant>) {
    if (op.kind == Kind::real) return Emitted::real(builder_, op.value);
    return op.kind == Kind::boolean ? Emitted::boolean(builder_, op.value != 0) : Emitted::integer(builder_, static_cast<std::int64_t>(op.value));
  } else if constexpr (std::is_same_v<Op, Index>) {
    return index_of(coordinates.find(std::string_view(op.dim))->second);
  } else if constexpr (std::is_same_v<Op, Extent>) {
    return extent(op.dim);
  } else if constexpr (moves_elements<Op>) {
    return at(node.inputs[0], origin(op, coordinates), given);
  } else if constexpr (std::is_same_v<Op, Gather>) {
    return gathered(op, node, coordinates, given);
  } else if constexpr (std::is_same_v<Op, Dropout>) {
    return dropped(op, node, coordinates, given);
  } else if constexpr (PointwiseOp<Op>) {
    std::array<Emitted, max_operands> operands;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Op::arity); ++i) operands[i] = find(node.inputs[i], coordinates, given, found);
    return applied<Op>(operands, std::make_index_sequence<static_cast<std::size_t>(Op::arity)>{});
  } else {
    throw std::logic_error("internal: " + std::string(Op::name) + " has no code for tensor cores");
  }
}

template <class Op>
Coordinates EmittedGraph::origin(const Op& op, const Coordinates& coordinates) const {
  const auto along = [&](Name dim) { return coordinates.find(std::string_view(dim))->second; };
  Coordinates from = coordinates;
  if constexpr (std::is_same_v<Op, Rename>) {
    from.insert_or_assign(std::string(op.from), along(op.to));
  } else if constexpr (std::is_same_v<Op, Slice>) {
    from.insert_or_assign(std::string(op.from), along(op.into) * Emitted::integer(builder_, op.step) + Emitted::integer(builder_, op.start));
  } else if constexpr (std::is_same_v<Op, Split>) {
    Emitted position = Emitted::integer(builder_, 0);
    for (const Name part : op.into) position = position * extent(part) + along(part);
    from.insert_or_assign(std::string(op.from), Emitted::of(builder_, position.value, index_range));
  } else {
    Emitted rest = along(op.into);
    for (int i = op.from.size() - 1; i > 0; --i) {
      from.insert_or_assign(std::string(op.from[i]), mod(rest, extent(op.from[i])));
      rest = floor_div(rest, extent(op.from[i]));
    }
    from.insert_or_assign(std::string(op.from[0]), rest);
  }
  return from;
}

/// The row that the place says; outside of the dim NaN, 0 of integers, or false.
Emitted EmittedGraph::gathered(const Gather& op, const Node& node, const Coordinates& at, const Given& given) const {
  const Emitted place = this->at(node.inputs[1], at, given), zero = Emitted::integer(builder_, 0), end = extent(op.along);
  Coordinates inside = at;
  const Emitted last = maximum(end - Emitted::integer(builder_, 1), zero);
  inside.insert_or_assign(std::string(op.along), Emitted::of(builder_, minimum(maximum(place, zero), last).value, index_range));
  const Emitted row = this->at(node.inputs[0], inside, given);
  const Emitted outside = node.type.kind == Kind::real      ? Emitted::real(builder_, std::numeric_limits<double>::quiet_NaN())
                          : node.type.kind == Kind::boolean ? Emitted::boolean(builder_, false)
                                                            : Emitted::integer(builder_, 0);
  return select(place >= zero && place < end, row, outside);
}

/// By the words of Philox whose counter is the element's number, as dsl/ops/dropout.h says.
Emitted EmittedGraph::dropped(const Dropout& op, const Node& node, const Coordinates& at, const Given& given) const {
  const mlir::Type wide_type = builder_.getI64Type();
  const auto wide = [&](const Emitted& x) {
    return x.value.getType() == wide_type ? x.value : builder_.createOrFold<arith::ExtSIOp>(wide_type, x.value);
  };
  const auto constant = [&](std::int64_t value) -> mlir::Value { return arith::ConstantOp::create(builder_, builder_.getI64IntegerAttr(value)); };
  mlir::Value number = constant(0);
  for (const Name dim : graph_.node(node.inputs[0]).type.dims)
    number = builder_.createOrFold<arith::AddIOp>(builder_.createOrFold<arith::MulIOp>(number, wide(extent(dim))),
                                                  wide(at.find(std::string_view(dim))->second));
  const auto low = [&](mlir::Value x) { return Word(builder_, builder_.createOrFold<arith::TruncIOp>(builder_.getI32Type(), x)); };
  const auto high = [&](mlir::Value x) { return low(builder_.createOrFold<arith::ShRUIOp>(x, constant(32))); };
  const mlir::Value seed = wide(this->at(node.inputs[1], at, given)), offset = wide(this->at(node.inputs[2], at, given));
  const mlir::Value counter = builder_.createOrFold<arith::ShRUIOp>(number, constant(2)),
                    lane = builder_.createOrFold<arith::AndIOp>(number, constant(3));
  const auto words = philox<Word>({low(counter), high(counter), low(offset), high(offset)}, {low(seed), high(seed)});
  mlir::Value word = words[3].in(builder_);
  for (int i = 2; i >= 0; --i) {
    const mlir::Value is_lane = builder_.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, constant(i));
    word = builder_.createOrFold<arith::SelectOp>(is_lane, words[static_cast<std::size_t>(i)].in(builder_), word);
  }
  const auto bits = [&](std::uint32_t value) -> mlir::Value {
    return arith::ConstantOp::create(builder_, builder_.getI32IntegerAttr(static_cast<std::int32_t>(value)));
  };
  const mlir::Value fraction = builder_.createOrFold<arith::ShRUIOp>(word, bits(8));
  const Emitted is_kept{&builder_, builder_.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::uge, fraction, bits(op.threshold())), {}};
  const Emitted value = this->at(node.inputs[0], at, given);
  return select(is_kept, value * Emitted::real(builder_, 1 / (1 - op.rate)), Emitted::real(builder_, 0));
}

Interval<Emitted> EmittedGraph::anything(Kind kind) const {
  const auto integers = [&](std::int64_t low, std::int64_t high) {
    return Interval<Emitted>{Emitted::integer(builder_, low), Emitted::integer(builder_, high)};
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (kind == Kind::boolean) return {Emitted::boolean(builder_, false), Emitted::boolean(builder_, true)};
  if (kind == Kind::real) return {Emitted::real(builder_, -infinity), Emitted::real(builder_, infinity)};
  if (kind == Kind::i8) return integers(-128, 127);
  if (kind == Kind::u8) return integers(0, 255);
  if (kind == Kind::i32) return integers(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
  return integers(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

Interval<Emitted> EmittedGraph::over(int node, const Block& block) const {
  std::map<int, Interval<Emitted>> found;
  return find_over(node, block, found);
}

Interval<Emitted> EmittedGraph::find_over(int id, const Block& block, std::map<int, Interval<Emitted>>& found) const {
  if (const auto known = found.find(id); known != found.end()) return known->second;
  const Node& node = graph_.node(id);
  const auto span_of = [&](Name dim) -> const Span& { return block.find(std::string_view(dim))->second; };
  const bool is_point = std::ranges::all_of(node.type.dims, [&](Name dim) { return span_of(dim).first.value == span_of(dim).last.value; });
  const auto in = [&](std::size_t i) { return find_over(node.inputs[i], block, found); };
  const auto value = std::visit(
      [&]<class Op>(const Op& op) -> Interval<Emitted> {
        if constexpr (std::is_same_v<Op, Index>) {
          return {index_of(span_of(op.dim).first), index_of(span_of(op.dim).last)};
        } else if constexpr (std::is_same_v<Op, Rename>) {
          Block renamed = block;
          renamed.insert_or_assign(std::string(op.from), span_of(op.to));
          return over(node.inputs[0], renamed);
        } else if constexpr (PointwiseOp<Op>) {
          static_assert(HasForm<Op, Interval<Emitted>>, "the operation's function is missing for intervals: dsl/interval_functions.h has them");
          if constexpr (Op::arity == 1)
            return Op::apply(in(0));
          else if constexpr (Op::arity == 2)
            return Op::apply(in(0), in(1));
          else
            return Op::apply(in(0), in(1), in(2));
        } else {
          if constexpr (std::is_same_v<Op, Constant>)
            if (op.kind == Kind::real) return Interval<Emitted>::point(Emitted::real(builder_, op.value));
          if constexpr (std::is_same_v<Op, Input>)
            if (!is_point && range_of_)
              if (const auto range = range_of_(op.label, block)) return *range;
          if (!is_point) return anything(node.type.kind);
          Coordinates coordinates;
          for (const auto& [dim, span] : block) coordinates.emplace(dim, span.first);
          return point(at(id, coordinates));
        }
      },
      node.op);
  found.emplace(id, value);
  return value;
}

std::string_view operation_without_code(const Graph& graph, int id, const std::vector<int>& inner) {
  std::string_view found;
  look_below(graph, id, [&](int next) {
    if (!found.empty() || std::ranges::find(inner, next) != inner.end()) return false;
    found = std::visit([]<class Op>(const Op&) { return has_code<Op> ? std::string_view() : std::string_view(Op::name); }, graph.node(next).op);
    return found.empty();
  });
  return found;
}

}  // namespace attune::tensor_cores
