/// Tensors one behind the other along a dim.
#pragma once

#include "dsl/ops/matmul.h"

namespace attune {

/// A value and the dim along which it is laid behind others.
struct Along {
  Value value;
  Dim dim;
};

struct Concat {
  Names along;  ///< of each operand, or one name for all
  Name into;

  static constexpr std::string_view name = "concat",
                                    meaning = "y[.., into] = the operands one behind the other, each along its dim in `along` (one "
                                              "name stands for all); into = the sum of their extents";
  static constexpr int arity = -1;
  static constexpr auto fields = std::tuple{Field{"along", &Concat::along}, Field{"into", &Concat::into}};

  constexpr Name along_of(std::size_t operand) const { return along.size() == 1 ? along[0] : along[static_cast<int>(operand)]; }

  /// The dims of the operands united, with `into` at the place of the dim that is laid. Refuses fewer than two operands,
  /// operands that differ in kind or lack their dim, and a result that has `into` already.
  constexpr Checked infer(std::span<const Type> in) const {
    Type type = in.empty() ? Type{} : Type{in[0].kind, in[0].dims.renamed(along.empty() ? Name{} : along[0], into)};
    if (in.size() < 2) return refuse(type, "takes at least two operands, got ", static_cast<int>(in.size()));
    if (along.is_too_long())
      return refuse(type, "names more than ", Names::capacity, " dims; more operands than that are laid along one dim, which all have");
    if (along.size() != 1 && along.size() != static_cast<int>(in.size()))
      return refuse(type, "names ", along.size(), " dims for ", static_cast<int>(in.size()), " operands; one for all or one for each");
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i].kind != in[0].kind) return refuse(type, "joins ", in[0].kind, " and ", in[i].kind, "; kinds must agree");
      if (!in[i].dims.has(along_of(i)))
        return refuse(type, "joins along ", along_of(i), ", which an operand does not have: it is ", in[i].dims);
      if (in[i].dims.has(into) && along_of(i) != into)
        return refuse(type, "joins into ", into, ", which an operand has already: it is ", in[i].dims);
      if (along_of(i) == into) return refuse(type, "joins ", into, " into itself; the result needs a dim of its own");
      type.dims.unite(in[i].dims.renamed(along_of(i), into));
    }
    return {type, {}};
  }
  constexpr void derive(std::span<const Type> in, auto add) const {
    if (along.size() == 1) return add(Derivation{into, Formula::product, along, static_cast<std::int64_t>(in.size())});
    add(Derivation{into, Formula::sum, along, 1});
  }

  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const auto step = static_cast<std::size_t>(out.stride(into));
    std::size_t first = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto count = static_cast<std::size_t>(extents.at(along_of(i)));
      const auto own = static_cast<std::size_t>(in[i].stride(along_of(i)));
      Walk(out.type.dims.without({into}), extents, {&in[i], &out}).run([&](auto at) {
        for (std::size_t j = 0; j < count; ++j) out.data[at[1] + (first + j) * step] = in[i].data[at[0] + j * own];
      });
      first += count;
    }
  }
  constexpr void pull(auto& g) const {
    auto first = 0 * extent(g.dim(into));
    for (int i = 0; i < g.count(); ++i) {
      const auto own = g.dim(along_of(static_cast<std::size_t>(i)));
      g.add(i, [&] { return gather(g.out, index(own) + first, g.dim(into)); });
      first = first + extent(own);
    }
  }
};

/// concat({{past, past_tokens}, {fresh, tokens}}, keys)
constexpr Value concat(std::initializer_list<Along> parts, Dim into, Here at = Here::current()) {
  Concat op{{}, into.name};
  std::array<Value, max_operands + 1> values{};
  std::size_t count = 0;
  for (const Along& part : parts) {
    op.along.add(part.dim.name);
    if (count <= max_operands) values[count++] = part.value;
  }
  return call_in(into.graph, op, std::span<const Value>(values.data(), count), at);
}
/// concat({head_0, head_1, head_2}, depth, model)
constexpr Value concat(std::span<const Value> parts, Dim along, Dim into, Here at = Here::current()) {
  return call_in(into.graph, Concat{{along.name}, into.name}, parts, at);
}
constexpr Value concat(std::initializer_list<Value> parts, Dim along, Dim into, Here at = Here::current()) {
  return concat(std::span<const Value>(parts.begin(), parts.size()), along, into, at);
}

}  // namespace attune
