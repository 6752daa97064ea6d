#include "codegen/halide/rewrites/stack_budget.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace attune {
namespace {

using namespace Halide::Internal;

constexpr std::int64_t most_bytes_of_array = 16 * 1024;  // Halide puts longer ones on the heap by itself

/// The bytes of an array that code generation puts on the stack; 0 of one that it does not.
std::int64_t stack_bytes(const Allocate* op) {
  if (op->new_expr.defined() || op->memory_type == Halide::MemoryType::Heap) return 0;
  const std::int64_t bytes = (std::int64_t{op->constant_allocation_size()} + op->padding) * op->type.bytes();
  return op->constant_allocation_size() > 0 && bytes <= most_bytes_of_array ? bytes : 0;
}

/// The places on the stack of one function, given out as code generation does: an array takes one that is free and large enough and was
/// for the same type, or else a new one.
class Frame : public IRVisitor {
 public:
  /// Of the function with this body, in which the arrays `on_heap` are elsewhere.
  Frame(const Stmt& body, const std::set<std::string>& on_heap) : on_heap_(on_heap) { body.accept(this); }

  std::int64_t bytes = 0;
  bool has_loops = false;                       ///< parallel ones
  std::map<std::string, std::int64_t> largest;  ///< the bytes of each array

 private:
  using IRVisitor::visit;

  struct Place {
    Halide::Type type;
    std::int64_t bytes;
  };

  void visit(const Allocate* op) override {
    const std::int64_t needed = on_heap_.contains(op->name) ? 0 : stack_bytes(op);
    if (needed > 0) {
      largest[op->name] = std::max(largest[op->name], needed);
      in_use_.insert_or_assign(op->name, taken(op->type, needed));
    }
    op->body.accept(this);
    give_back(op->name);
  }

  void visit(const Free* op) override { give_back(op->name); }

  /// The body is a function of its own.
  void visit(const For* op) override {
    has_loops |= op->for_type == ForType::Parallel;
    if (op->for_type != ForType::Parallel) IRVisitor::visit(op);
  }

  Place taken(const Halide::Type& type, std::int64_t needed) {
    const auto place = std::ranges::find_if(free_, [&](const Place& p) { return p.type == type && p.bytes >= needed; });
    if (place == free_.end()) {
      bytes += needed;
      return {type, needed};
    }
    const Place result = *place;
    free_.erase(place);
    return result;
  }

  void give_back(const std::string& name) {
    const auto place = in_use_.find(name);
    if (place == in_use_.end()) return;
    free_.push_back(place->second);
    in_use_.erase(place);
  }

  const std::set<std::string>& on_heap_;
  std::map<std::string, Place> in_use_;
  std::vector<Place> free_;
};

class KeepStackBudget : public IRMutator {
 public:
  Stmt of_function(const Stmt& body) {
    std::set<std::string> around = std::exchange(on_heap_, {});
    for (;;) {
      const Frame frame(body, on_heap_);
      if (frame.bytes <= (frame.has_loops ? stack_bytes_around_loops : stack_bytes_of_function)) break;
      on_heap_.insert(std::ranges::max_element(frame.largest, {}, [](const auto& array) { return array.second; })->first);
    }
    const Stmt result = mutate(body);
    on_heap_ = std::move(around);
    return result;
  }

 private:
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    if (op->for_type != ForType::Parallel) return IRMutator::visit(op);
    return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, of_function(op->body));
  }

  Stmt visit(const Allocate* op) override {
    if (!on_heap_.contains(op->name)) return IRMutator::visit(op);
    return Allocate::make(op->name, op->type, Halide::MemoryType::Heap, op->extents, op->condition, mutate(op->body), op->new_expr,
                          op->free_function, op->padding);
  }

  std::set<std::string> on_heap_;  // of the function that is being visited
};

}  // namespace

Stmt keep_stack_budget(const Stmt& s) { return KeepStackBudget().of_function(s); }

void keep_stack_budget(Halide::Pipeline& pipeline) {
  class Step : public IRMutator {
   public:
    Stmt mutate(const Stmt& s) override { return keep_stack_budget(s); }
  };
  pipeline.add_custom_lowering_pass(new Step);
}

}  // namespace attune
