#include "schedules/common/token_scan.h"

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/rewrites/store_beside.h"

using Halide::Expr;
using Halide::RDom;

namespace attune {

TokenScan::TokenScan(const RecurrenceBody& of, const Extents& extents, int columns_of_task, bool is_by_column)
    : StateScan(of, extents, {columns_of_task, 1, 1, is_by_column}) {
  define_operands();
  define_token();
  define_results(read, carried);
}

void TokenScan::define_operands() {
  Coordinates place = at(n, 0, m);
  place[body.over] = d;
  key(d, m, n) = Halide::cast<float>(body.key.at(place));
  if (body.log_decay) {
    const Expr factor = exp(body.log_decay.element(place)).expr;
    if (body.has_channel_decay) decay(d, m, n) = factor;
    else decay(m, n) = factor;
  }
  if (!body.query) return;
  group.place(g, place);
  query(d, g, m, n) = Halide::cast<float>(body.query.at(place));
}

Expr TokenScan::kept(const Expr& channel) const {
  const Expr before = state(c, channel, n);
  if (!decay.defined()) return before;
  return before * (body.has_channel_decay ? decay(channel, m, n) : decay(m, n));
}

void TokenScan::define_token() {
  const Coordinates place = at(n, c, m);
  Expr value = Halide::cast<float>(body.value.at(place));
  if (body.beta) {
    const RDom over(0, width, "held_over");
    held(c, m, n) = 0.f;
    held(c, m, n) += key(over, m, n) * kept(over);
    const Expr beta = Halide::cast<float>(body.beta.at(place));
    value = Halide::select(strict_equal(beta, 0.f), value, value - beta * held(c, m, n));
  }
  written(c, m, n) = value;
  const RDom over(0, width, "carried_over");
  carried(c, m, n) = 0.f;
  carried(c, m, n) = storing_over(kept(over) + key(over, m, n) * written(c, m, n), state(c, over, n));
  if (!body.query) return;
  const RDom read_over(0, width, "read_over");
  read(c, r, b, g, m, n) = 0.f;
  read(c, r, b, g, m, n) += query(read_over, g, m, n) * behind(carried(c, m, n), state(c, read_over, n));
}

}  // namespace attune
