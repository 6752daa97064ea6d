/// A recurrence token by token: the Funcs that templates for CPUs and for devices schedule.
#pragma once

#include "schedules/common/state_scan.h"

namespace attune {

/// Chunks of one token:
///   held = sum_d key * decay * state      written = value - beta * held      state = decay * state + key * written      read = sum_d query * state
/// or, where others than the key are asked and erased,
///   held = sum_d asked * decay * state    taken = beta * held    state = decay * state + key * value - erased * taken
struct TokenScan : StateScan {
  TokenScan(const RecurrenceBody& body, const Extents& extents, const ScanTile& tile);

  Halide::Func key{"key"}, query{"query"};                            // [d, m, n], [d, g, m, n]
  Halide::Func decay{"decay"};                                        // [m, n]; by channel d before these, by column c before all
  Halide::Func asked{"asked"}, erased{"erased"};                      // [d, m, n]; undefined where they are the key
  Halide::Func held{"held"}, written{"written"}, carried{"carried"};  // [c, m, n]
  Halide::Func taken{"taken"};                                        // [c, m, n]; undefined where the key is asked
  Halide::Func read{"read"};                                          // [c, r, b, g, m, n]

 private:
  void define_operands();
  void define_token();
  template <class Channel>
  std::vector<Channel> decay_place(const Channel& channel) const;
  /// The state behind the decay of the token.
  Halide::Expr kept(const Halide::Expr& channel) const;
};

}  // namespace attune
