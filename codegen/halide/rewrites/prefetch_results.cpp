#include "codegen/halide/rewrites/prefetch_results.h"

#include <string>
#include <utility>

#include "codegen/halide/rewrites/holds_loads.h"
#include "codegen/halide/rewrites/prefetch_line.h"

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// A statement's loops and conditions around its stores of whole vectors to `memory`, with these replaced by prefetches of their lines: into
/// the second-level cache, as much passes through the first-level one until the stores.
/// Undefined where nothing can be prefetched before the statement.
class Prefetching {
 public:
  explicit Prefetching(const std::string& memory) : memory_(memory) {}

  Stmt of(const Stmt& s) const {
    if (const auto* op = s.as<Store>()) return line(op);
    if (const auto* op = s.as<Block>()) return both(of(op->first), of(op->rest));
    if (const auto* op = s.as<ProducerConsumer>()) return of(op->body);
    if (const auto* op = s.as<Allocate>()) return of(op->body);
    if (const auto* op = s.as<LetStmt>()) {
      const Stmt body = of(op->body);
      if (!body.defined() || !stmt_uses_var(body, op->name)) return body;
      return holds_loads(op->value) ? Stmt() : LetStmt::make(op->name, op->value, body);
    }
    if (const auto* op = s.as<IfThenElse>()) {
      const Stmt then_case = of(op->then_case), else_case = op->else_case.defined() ? of(op->else_case) : Stmt();
      if (holds_loads(op->condition) || !(then_case.defined() || else_case.defined())) return {};
      return IfThenElse::make(op->condition, then_case.defined() ? then_case : Evaluate::make(0), else_case);
    }
    if (const auto* op = s.as<For>()) {
      const Stmt body = of(op->body);
      return body.defined() ? For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body) : Stmt();
    }
    return {};
  }

 private:
  Stmt line(const Store* store) const {
    const auto* vector = store->index.as<Ramp>();
    if (store->name != memory_ || vector == nullptr || !is_const_one(vector->stride) || holds_loads(vector->base)) return {};
    const Expr base = Variable::make(Halide::Handle(), memory_);
    return Evaluate::make(prefetch_line(PrefetchInto::second_level, store->value.type().element_of(), base, vector->base));
  }

  static Stmt both(const Stmt& first, const Stmt& rest) {
    if (!first.defined() || !rest.defined()) return first.defined() ? first : rest;
    return Block::make(first, rest);
  }

  const std::string& memory_;
};

class PrefetchResults : public IRMutator {
 public:
  PrefetchResults(std::string result, std::string sums) : result_(std::move(result)), sums_(std::move(sums)) {}

 private:
  using IRMutator::visit;

  Stmt visit(const Block* op) override {
    const auto* guard = op->first.as<IfThenElse>();
    const auto* producer = (guard != nullptr ? guard->then_case : op->first).as<ProducerConsumer>();
    if (producer == nullptr || !producer->is_producer || producer->name != sums_) return IRMutator::visit(op);
    const Stmt prefetches = Prefetching(result_).of(op->rest);
    return prefetches.defined() ? Block::make({prefetches, op->first, op->rest}) : Stmt(op);
  }

  const std::string result_, sums_;
};

}  // namespace

void prefetch_results(Halide::Pipeline& pipeline, const Halide::Func& result, const Halide::Func& sums) {
  pipeline.add_custom_lowering_pass(new PrefetchResults(result.name(), sums.name()));
}

}  // namespace attune
