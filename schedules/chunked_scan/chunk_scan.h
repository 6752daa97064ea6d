/// A recurrence chunk by chunk, in products: the WY form of Yang et al., "Parallelizing Linear Transformers with the Delta Rule", 2024, section 3.
#pragma once

#include "schedules/common/prefetch.h"
#include "schedules/common/state_scan.h"
#include "schedules/common/turned_squares.h"

namespace attune {

/// With S the state before a chunk, i and j tokens of it, a their decays, fade(j, i) = a_(j+1) ..
/// a_i for j <= i and 0 for later j, past_i = a_0 .. a_i:
///   erase(j, i)  = beta_i fade(j, i) (k_i . k_j) for j < i                        inverse = (1 + erase)^-1
///   rest_i       = v_i - beta_i past_i S^T k_i                                     written_i = sum_{j <= i} inverse(j, i) rest_j
///   read_i       = past_i S^T q_i + sum_{j <= i} fade(j, i) (q_i . k_j) written_j
///   S            = past_last S + sum_j fade(j, last) k_j written_j^T
/// Without beta, written is v. Factors of decays are products, never quotients:
/// none overflows that the recurrence's own would not, and a decay of 0 is exact.
/// A decay by channel is within the sums over channels: faded_j is k_j, in each channel times fade(j, i), made for i from j on and each j at once; chunks
/// have as many tokens as a vector then, so that the faded keys of a channel are registers. Past and later factors go into copies of keys and queries.
/// A sum over j <= i leaves later tokens out altogether: their infinities and NaN reach no earlier token.
struct ChunkScan : StateScan {
  ChunkScan(const RecurrenceBody& body, const Extents& extents, const ScanTile& tile, int lanes, PrefetchInto cache);

  const Halide::Expr padded_width;  ///< whole blocks of rows of the state
  const int turned_edge;            ///< of the squares of keys that are turned
  const Halide::Var j{"past_token-"}, p{"state_block-"};
  Halide::Func key{"key"}, key_by_token{"key_by_token"}, query{"query"};  // [d, j, m, n], [j, d, m, n], [d, r, b, g, m, n]
  TurnedSquares turned_keys;
  Halide::Func decay{"decay"}, fade{"fade"}, fading_key{"fading_key"};    // [j, m, n], [j, i, m, n], [d, j, m, n]; of no decay undefined
  Halide::Func decay_by_token{"decay_by_token"};                          // [j, d, m, n]; these of a decay by channel, whose `decay` is [d, j, m, n]:
  TurnedSquares turned_decays;
  Halide::Func past_decay{"past_decay"}, later_decay{"later_decay"};      // [d, j, m, n]: a_0 .. a_j, and a_(j+1) .. a_last
  Halide::Func past_key{"past_key"}, past_query{"past_query"};            // like key and query
  Halide::Func faded_overlap{"faded_overlap"}, faded_product{"faded_product"};  // [j, i, d, m, n]: the faded keys of `overlap` and of `products`
  Halide::Func beta{"beta"}, overlap{"overlap"}, erase{"erase"};          // [j, m, n], [j, r, b, m, n], the same
  Halide::Func inverse{"inverse"};                                        // [j, i, m, n]
  Halide::Func held{"held"}, rest{"rest"};                                // [c, r, b, m, n]
  Halide::Func solved{"solved"}, written{"written"};                      // the same
  Halide::Func products{"products"}, scores{"scores"};                    // [j, r, b, g, m, n]
  Halide::Func sums{"sums"}, read{"read"};                                // [c, r, b, g, m, n]
  Halide::Func gain{"gain"}, done{"done"}, carried{"carried"};            // [c, d, m, n], [m, n], [c, m, n]
  Halide::Func ahead{"ahead"};                                            // [p, m, n]: 0; prefetches rows of the next chunk; of nothing to prefetch undefined
  std::vector<Halide::RDom> ahead_rows;                                   ///< of its updates: lines, tokens, readers
  Halide::RDom erased, carried_over;                                      ///< pairs of tokens, the earlier one first; channels
  bool has_channel_decay() const { return body.log_decay && body.has_channel_decay; }
  /// Whether all pairs are straight code: each row of the inverse waits for the one before, and is in a register then.
  bool is_inverse_straight() const { return tile.tokens() <= 16; }

 private:
  bool has_delta() const { return static_cast<bool>(body.beta); }
  Halide::Expr row() const { return b * tile.rows + r; }
  Halide::Expr token(const Halide::Expr& of_chunk) const { return m * tile.tokens() + of_chunk; }
  Halide::Expr is_token(const Halide::Expr& of_chunk) const { return token(of_chunk) < tokens; }
  /// Blocks of the state whose sums are in registers at once.
  Halide::Expr state_blocks() const { return padded_width / tile.rows * (used_columns / tile.column_block); }
  /// a_0 .. a_i, where it is one for all channels; else undefined.
  Halide::Expr past(const Halide::Expr& i) const;
  Halide::Expr faded(const Halide::Expr& earlier, const Halide::Expr& later, const Halide::Expr& product) const;
  /// Adds sum_{j <= row} weight(j) * written(j) to a Func over [c, r, b, ..]: whole blocks of rows before that of the row, then its own.
  void add_past(Halide::Func sum, const std::vector<Halide::Expr>& place, const std::function<Halide::Expr(Halide::Expr)>& weight,
                const Halide::Func& of);
  void define_operands();
  void define_ahead(PrefetchInto cache);
  void define_decays();
  void define_channel_decays();
  /// The faded keys over [j, i, d, m, n].
  void define_faded(Halide::Func& faded) const;
  void define_written();
  void define_read();
  void define_carried();
};

}  // namespace attune
