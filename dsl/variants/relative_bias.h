/// Attention with a learned bias for each head and distance between query and key.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// How a distance chooses its row of the table: as in T5 (Raffel et al. 2020), whose rows grow wider with the distance, or one row
/// for each distance up to the last, which stands for all beyond it (Shaw et al. 2018).
enum class Distances { t5, clipped };
constexpr std::array<std::string_view, 2> enumerators(Distances) { return {"t5", "clipped"}; }

namespace detail {
/// The least distance of T5's bucket `exact + step`: of the `count` buckets above `exact` the bounds grow by one factor up to `last`.
/// The smallest a with (a / exact)^count >= (last / exact)^step, which needs no logarithm.
constexpr std::int64_t t5_bound(std::int64_t exact, std::int64_t count, std::int64_t last, std::int64_t step) {
  const auto power = [exact](std::int64_t distance, std::int64_t exponent) {
    double result = 1;
    for (std::int64_t i = 0; i < exponent; ++i) result *= static_cast<double>(distance) / static_cast<double>(exact);
    return result;
  };
  constexpr double rounding = 1e-12;  // of at most 32 products; a bound that is an integer is meant exactly
  std::int64_t distance = exact;
  while (power(distance, count) < power(last, step) * (1 - rounding)) ++distance;
  return distance;
}

/// The bucket of a distance j - i: the first half of the buckets one by one, the others by `t5_bound`. Without `is_causal` they
/// are split between keys before and keys behind the query.
constexpr Value t5_bucket(Value distance, std::int64_t buckets, std::int64_t last, bool is_causal) {
  const std::int64_t side = is_causal ? buckets : buckets / 2, exact = side / 2;
  const Value size = is_causal ? maximum(-distance, 0) : abs(distance);
  Value bucket = minimum(size, exact);
  for (std::int64_t step = 1; step < side - exact; ++step)
    bucket = bucket + to_i64(size >= t5_bound(exact, side - exact, last, step));
  return is_causal ? bucket : bucket + to_i64(distance > 0) * side;
}
}  // namespace detail

/// Input bias [rows, heads], the memory of an embedding of rows: `buckets` rows for t5; 2 max_distance + 1 for clipped, from
/// distance j - i = -max_distance to max_distance, or max_distance + 1 if causal, from -max_distance to 0.
struct RelativeBias {
  Distances distances = Distances::t5;
  std::int64_t buckets = 32, max_distance = 128;
  bool causal = false;  ///< each query sees itself and the keys before it, and no row is spent on the others
  bool scaled = true;   ///< T5 itself does not divide by sqrt(depth)

  static constexpr std::string_view name = "relative_bias",
                                    meaning = "out = softmax(q k^T / sqrt(depth) + bias[row(j - i), h]) v, the rows by buckets "
                                              "(Raffel et al. 2020) or clipped (Shaw et al. 2018)";
  static constexpr auto fields =
      std::tuple{Field{"distances", &RelativeBias::distances}, Field{"buckets", &RelativeBias::buckets},
                 Field{"max_distance", &RelativeBias::max_distance}, Field{"causal", &RelativeBias::causal},
                 Field{"scaled", &RelativeBias::scaled}};

  constexpr void operator()(Graph& g) const {
    require_parameters(g);
    if (!g.problem().empty()) return;
    const Attention a(g);
    const bool is_t5 = distances == Distances::t5;
    const Dim rows = g.dim("rows", is_t5 ? buckets : causal ? max_distance + 1 : 2 * max_distance + 1);
    const Value bias = g.input("bias", {rows, a.heads});
    // every distance j - i there is, from -queries on: the bias of each is looked up once, not once for each pair
    const Dim span = g.dim("span");
    const Value distance = concat({{index(a.queries) - extent(a.queries), a.queries}, {index(a.keys), a.keys}}, span);
    const Value row = is_t5 ? detail::t5_bucket(distance, buckets, max_distance, causal)
                            : minimum(maximum(distance, -max_distance), causal ? 0 : max_distance) + max_distance;
    const Value by_distance = gather(bias, row, rows);  // [span, heads]
    const Value age = index(a.queries) - index(a.keys);
    const Value scores = (scaled ? a.scores() : matmul(a.q, a.k, a.depth)) + gather(by_distance, extent(a.queries) - age, span);
    a.output(causal ? mask(scores, age >= 0) : scores);
  }

 private:
  constexpr void require_parameters(Graph& g) const {
    const std::int64_t side = causal ? 1 : 2;
    if (distances == Distances::t5)
      g.require(buckets >= 2 * side && buckets % (2 * side) == 0 && buckets <= 64, "buckets is ", buckets, "; it must be a multiple of ", 2 * side, " up to 64");
    const std::int64_t least = distances == Distances::t5 ? buckets / (2 * side) + 1 : 0;
    g.require(max_distance >= least && max_distance <= 1 << 20, "max_distance is ", max_distance, "; it must be from ", least, " to ", 1 << 20);
  }
};

}  // namespace attune
