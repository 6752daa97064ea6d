#include "schedules/online_softmax/tile_order.h"

#include <string>

#include "codegen/halide/numbers/load.h"

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// Names what is loaded at places that the numbers of tiles and blocks do not move: the same for all of them, which is_monotonic does not see.
class FixedLoads : public IRMutator {
 public:
  FixedLoads(const std::string& query_tile, const std::string& key_block) {
    moving_.push(query_tile);
    moving_.push(key_block);
  }

 private:
  using IRMutator::visit;
  Expr visit(const Call* call) override {
    if (!is_read(call) || expr_uses_vars(call, moving_)) return IRMutator::visit(call);
    return Variable::make(call->type, unique_name("load"));
  }
  /// What a Let names may move.
  Expr visit(const Let* let) override {
    const Expr value = mutate(let->value);
    const ScopedBinding<void> bound(moving_, let->name);
    return Let::make(let->name, value, mutate(let->body));
  }

  Scope<> moving_;
};

}  // namespace

TileOrder order_of_tiles(const Expr& may_see, const Halide::Var& query_tile, const Halide::Var& key_block) {
  const Expr condition = FixedLoads(query_tile.name(), key_block.name()).mutate(may_see);
  // Of conditions, true is the larger.
  const bool later_tiles_see_more = is_monotonic(condition, query_tile.name()) == Monotonic::Increasing;
  const bool later_blocks_are_seen_less = is_monotonic(condition, key_block.name()) == Monotonic::Decreasing;
  return later_tiles_see_more && later_blocks_are_seen_less ? TileOrder::last_to_first : TileOrder::first_to_last;
}

}  // namespace attune
