/// Rows laid over those of a tensor from a position on: how a key-value cache takes the keys of new tokens.
#pragma once

#include "dsl/ops/matmul.h"

namespace attune {

struct WriteRows {
  Name along, rows;
  bool wraps = false;

  static constexpr std::string_view name = "write_rows",
                                    meaning = "y[.., p, ..] = the row of `rows` that is written to p, p along `along`: row r of R is written to start + r, and with "
                                              "`wraps` to (start + r) mod the extent of `along` if it is one of the last that go there; x[.., p, ..] where none is. Rows "
                                              "beyond the ends of x are not written";
  static constexpr int arity = 3;
  static constexpr double roundings = 0;
  static constexpr auto fields = std::tuple{Field{"along", &WriteRows::along}, Field{"rows", &WriteRows::rows}, Field{"wraps", &WriteRows::wraps}};

  /// The type of x. Refuses an x without `along` and rows without `rows`, or with dims that x does not have, another kind than that of x, and a
  /// start other than i32 and i64 or along the rows.
  constexpr Checked infer(std::span<const Type> in) const {
    const Type& type = in[0];
    if (Text problem = refuse_missing({along}, "writes along", "x", in[0]); !problem.empty()) return {type, problem};
    if (Text problem = refuse_missing({rows}, "writes along", "rows", in[1]); !problem.empty()) return {type, problem};
    if (in[0].dims.has(rows)) return refuse(type, "writes rows along ", rows, ", which x has too: x is ", in[0].dims);
    if (const Names foreign = in[1].dims.without({rows}).without(in[0].dims.without({along})); !foreign.empty())
      return refuse(type, "the rows have ", foreign, ", which a row of x does not have: x is ", in[0].dims);
    if (in[1].kind != in[0].kind) return refuse(type, "writes ", in[1].kind, " into ", in[0].kind, "; kinds must agree");
    if (in[2].kind != Kind::i32 && in[2].kind != Kind::i64) return refuse(type, "start is ", in[2].kind, "; it must be i32 or i64");
    if (const Names foreign = in[2].dims.without(in[0].dims.without({along})); !foreign.empty())
      return refuse(type, "start has ", foreign, "; it may have the dims of x but ", along, ": x is ", in[0].dims);
    return {type, {}};
  }

  /// The row of `count` that is written to the position of an x of `capacity` positions, or -1.
  static constexpr std::int64_t row_at(std::int64_t position, std::int64_t start, std::int64_t count, std::int64_t capacity, bool wraps) {
    if (!wraps) return position >= start && position - start < count ? position - start : -1;
    const std::int64_t behind = (position - start) % capacity, first = behind < 0 ? behind + capacity : behind;
    return first < count ? first + (count - 1 - first) / capacity * capacity : -1;
  }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const std::int64_t count = extents.at(rows), capacity = extents.at(along);
    const auto own = static_cast<std::size_t>(out.stride(along)), of_x = static_cast<std::size_t>(in[0].stride(along)),
               of_rows = static_cast<std::size_t>(in[1].stride(rows));
    Walk(out.type.dims.without({along}), extents, {&in[0], &in[1], &in[2], &out}).run([&](auto at) {
      const auto start = static_cast<std::int64_t>(in[2].data[at[2]]);
      for (std::int64_t p = 0; p < capacity; ++p) {
        const std::int64_t row = row_at(p, start, count, capacity, wraps);
        const auto place = static_cast<std::size_t>(p);
        out.data[at[3] + place * own] = row < 0 ? in[0].data[at[0] + place * of_x] : in[1].data[at[1] + static_cast<std::size_t>(row) * of_rows];
      }
    });
  }
};

/// write_rows(cache, capacity, keys_of_new_tokens, tokens, position)   with wraps: a ring of the last `capacity` rows
constexpr Value write_rows(Value x, Dim along, Value rows, Dim of_rows, Value start, bool wraps = false, Here at = Here::current()) {
  return call(WriteRows{along.name, of_rows.name, wraps}, {x, rows, start}, at);
}

}  // namespace attune
