#include "schedules/common/token_scan.h"

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/rewrites/store_beside.h"

using Halide::Expr;
using Halide::RDom;

namespace attune {

TokenScan::TokenScan(const RecurrenceBody& of, const Extents& extents, const ScanTile& cut) : StateScan(of, extents, cut) {
  define_operands();
  define_token();
  define_results(read, carried);
}

void TokenScan::define_operands() {
  Coordinates place = at(n, 0, m);
  place[body.over] = d;
  key(d, m, n) = Halide::cast<float>(body.key.at(place));
  if (body.asked) {
    asked(d, m, n) = Halide::cast<float>(body.asked.at(place));
    erased(d, m, n) = Halide::cast<float>(body.erased.at(place));
  }
  const auto decay_at = [this](Coordinates at_column) {
    at_column[body.along] = m;
    at_column[body.over] = d;
    return exp(body.log_decay.element(at_column)).expr;
  };
  if (body.log_decay) decay(decay_place(d)) = body.has_column_decay ? of_columns(decay_at) : decay_at(place);
  if (!body.query) return;
  group.place(g, place);
  query(d, g, m, n) = Halide::cast<float>(body.query.at(place));
}

Expr TokenScan::kept(const Expr& channel) const {
  const Expr before = state(c, channel, n);
  return decay.defined() ? before * decay(decay_place(channel)) : before;
}

template <class Channel>
std::vector<Channel> TokenScan::decay_place(const Channel& channel) const {
  std::vector<Channel> place{m, n};
  if (body.has_channel_decay) place.insert(place.begin(), channel);
  if (body.has_column_decay) place.insert(place.begin(), c);
  return place;
}

void TokenScan::define_token() {
  const Coordinates place = at(n, c, m);
  Expr value = of_columns([this](Coordinates at_column) {
    at_column[body.along] = m;
    return Halide::cast<float>(body.value.at(at_column));
  });
  Expr takes_nothing;
  if (body.beta) {
    const RDom over(0, width, "held_over");
    held(c, m, n) = 0.f;
    held(c, m, n) += (body.asked ? asked : key)(over, m, n) * kept(over);
    const Expr beta = Halide::cast<float>(body.beta.at(place));
    takes_nothing = strict_equal(beta, 0.f);
    if (body.asked) taken(c, m, n) = Halide::select(takes_nothing, 0.f, beta * held(c, m, n));
    else value = Halide::select(takes_nothing, value, value - beta * held(c, m, n));
  }
  written(c, m, n) = value;
  const RDom over(0, width, "carried_over");
  carried(c, m, n) = 0.f;
  Expr changed = kept(over) + key(over, m, n) * written(c, m, n);
  if (body.asked) changed = Halide::select(takes_nothing, changed, changed - erased(over, m, n) * taken(c, m, n));
  carried(c, m, n) = storing_over(changed, state(c, over, n));
  if (!body.query) return;
  const RDom read_over(0, width, "read_over");
  read(c, r, b, g, m, n) = 0.f;
  read(c, r, b, g, m, n) += query(read_over, g, m, n) * behind(carried(c, m, n), state(c, read_over, n));
}

}  // namespace attune
