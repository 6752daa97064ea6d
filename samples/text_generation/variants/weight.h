/// Products with a weight of the model: as reals, or as the file's blocks.
#pragma once

#include "dsl/graph.h"

namespace text_generation {

/// How kernels get a weight: as reals, stored as f32 or bf16; as blocks of 32 integers of 4 bits with a scale and a minimum (GGUF's Q4_1); or as
/// blocks of 32 integers of 8 bits with a scale (Q8_0).
enum class Blocks { none, q4_1, q8_0 };
constexpr std::array<std::string_view, 3> enumerators(Blocks) { return {"none", "q4_1", "q8_0"}; }

/// The innermost dim of what a weight is multiplied by, and that of its blocks.
struct Lane {
  attune::Dim lane, part;
};
/// The names of a weight's inputs: whole, or its parts.
struct WeightNames {
  attune::Name whole, scales, minima, quants;
};

/// A weight of the graph. As reals it is an input [outside.., lane, column]. As blocks the inputs are the scales and, of Q4_1, the minima
/// [outside.., part, column], and the integers: two of Q4_1 in each u8 [outside.., part, place, column], elements 0 to 15 of a block in the low
/// halves and 16 to 31 in the high ones; of Q8_0 each an i8. The value is integer * scale + minimum, the lane taken apart as the blocks are; its
/// innermost dim is the column, as that of the integers is.
struct Weight {
  attune::Graph& g;
  Blocks blocks;
  Lane along;
  attune::Dim half = g.dim("half", 2), place = g.dim(blocks == Blocks::q8_0 ? "place_of_32" : "place_of_16", blocks == Blocks::q8_0 ? 32 : 16);

  constexpr attune::Value input(const WeightNames& names, std::initializer_list<attune::Dim> outside, attune::Dim column) const {
    using attune::Kind, attune::Value;
    const auto dims = [&](std::initializer_list<attune::Dim> inside) {
      attune::Names all = attune::names_of(outside);
      for (const attune::Dim dim : inside) all.add(dim.name);
      all.add(column.name);
      return all;
    };
    if (blocks == Blocks::none) return g.input(names.whole, dims({along.lane}), Kind::real);
    const Value scales = g.input(names.scales, dims({along.part}), Kind::real);
    if (blocks == Blocks::q8_0) return to_real(g.input(names.quants, dims({along.part, place}), Kind::i8)) * scales;
    const Value minima = g.input(names.minima, dims({along.part}), Kind::real);
    const Value pairs = to_i64(g.input(names.quants, dims({along.part, place}), Kind::u8));
    const Value first_bit = 4 * index(half);
    return to_real(shift_right(bit_and(shift_left(constant(g, 15), first_bit), pairs), first_bit)) * scales + minima;
  }

  /// The sum over `over` and the lane of x times the weight.
  constexpr attune::Value times(attune::Value x, attune::Value weight, std::initializer_list<attune::Dim> over) const {
    attune::Names all = attune::names_of(over);
    for (const attune::Name dim : lane_dims()) all.add(dim);
    return call(attune::Linear{all}, {blocks == Blocks::none ? x : taken_apart(x), weight}, attune::Here::current());
  }
  /// A value [.., lane taken apart, ..] with its lane as one dim.
  constexpr attune::Value whole(attune::Value x) const {
    return blocks == Blocks::none ? x : call(attune::Merge{lane_dims(), along.lane.name}, {x}, attune::Here::current());
  }

 private:
  constexpr attune::Names lane_dims() const {
    if (blocks == Blocks::none) return {along.lane.name};
    return blocks == Blocks::q8_0 ? attune::Names{along.part.name, place.name} : attune::Names{along.part.name, half.name, place.name};
  }
  constexpr attune::Value taken_apart(attune::Value x) const {
    if (blocks == Blocks::q8_0) return split(x, along.lane, {along.part, {place, 32}});
    return split(x, along.lane, {along.part, {half, 2}, {place, 16}});
  }
};

}  // namespace text_generation
