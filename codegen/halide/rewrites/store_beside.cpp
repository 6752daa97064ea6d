#include "codegen/halide/rewrites/store_beside.h"

#include <map>
#include <utility>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// Its arguments: the value that it stands for, the element, and the element's place as a load of it, whose index Halide has worked out by then.
const std::string marker = "attune_storing";
/// The element, and its place.
const std::string marker_over = "attune_storing_over";

/// The index of a load, and its memory's name. Where lanes beyond a known extent are clamped, Halide loads the others and shuffles them.
Expr index_of(const Expr& place, std::string& memory) {
  if (const auto* load = place.as<Load>()) {
    memory = load->name;
    return load->index;
  }
  const auto* shuffle = place.as<Shuffle>();
  if (shuffle == nullptr) throw Halide::InternalError("a place to store at is no load");
  std::vector<Expr> indices;
  for (const Expr& part : shuffle->vectors) indices.push_back(index_of(part, memory));
  return Shuffle::make(indices, shuffle->indices);
}

/// Takes the markers out of an expression, and gathers the stores that they stand for.
class TakeStores : public IRMutator {
 public:
  std::vector<Stmt> stores;

 private:
  using IRMutator::visit;

  Expr visit(const Call* call) override {
    if (call->name != marker) return IRMutator::visit(call);
    const Expr element = mutate(call->args[1]);
    std::string memory;
    const Expr index = index_of(call->args[2], memory);
    Stmt store = Store::make(memory, element, index, Halide::Parameter(), const_true(element.type().lanes()), ModulusRemainder());
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
      if (stmt_uses_var(store, let->first)) store = LetStmt::make(let->first, let->second, store);
    stores.push_back(std::move(store));
    return mutate(call->args[0]);
  }

  Expr visit(const Let* let) override {
    const Expr value = mutate(let->value);
    lets_.emplace_back(let->name, value);
    const Expr body = mutate(let->body);
    lets_.pop_back();
    return Let::make(let->name, value, body);
  }

  std::vector<std::pair<std::string, Expr>> lets_;
};

class StoreBeside : public IRMutator {
 private:
  using IRMutator::visit;

  Stmt visit(const Store* op) override {
    if (const Stmt over = store_over(op); over.defined()) return over;
    TakeStores take;
    const Expr value = take.mutate(op->value);
    if (take.stores.empty()) return op;
    return before(std::move(take.stores), Store::make(op->name, value, op->index, op->param, op->predicate, op->alignment));
  }

  Stmt visit(const LetStmt* op) override {
    TakeStores take;
    const Expr value = take.mutate(op->value);
    known_[op->name] = op->value;
    if (take.stores.empty()) return IRMutator::visit(op);
    return before(std::move(take.stores), LetStmt::make(op->name, value, mutate(op->body)));
  }

  static Stmt before(std::vector<Stmt> stores, const Stmt& s) {
    stores.push_back(s);
    return Block::make(stores);
  }

  /// What is stored over a state in the store's stead; undefined if it is any other store. What reads the place, too, has made a name of it.
  Stmt store_over(const Store* op) {
    Expr value = op->value;
    std::vector<const Let*> lets;
    for (const Let* let = value.as<Let>(); let != nullptr; let = value.as<Let>()) {
      lets.push_back(let);
      known_[let->name] = let->value;
      value = let->body;
    }
    const auto* call = value.as<Call>();
    if (call == nullptr || call->name != marker_over) return {};
    Expr place = call->args[1];
    for (const auto* name = place.as<Variable>(); name != nullptr && known_.contains(name->name); name = place.as<Variable>())
      place = known_.at(name->name);
    std::string memory;
    const Expr index = index_of(place, memory);
    Stmt store = Store::make(memory, call->args[0], index, Halide::Parameter(), op->predicate, ModulusRemainder());
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
      if (stmt_uses_var(store, (*let)->name)) store = LetStmt::make((*let)->name, (*let)->value, store);
    return store;
  }

  std::map<std::string, Expr> known_;  // names have one value each by then
};

}  // namespace

Halide::Func stored_elsewhere(const std::string& name, const Halide::Type& type, const std::vector<Halide::Var>& dims) {
  Halide::Func func(name);
  func(dims) = Halide::undef(type);
  func.compute_root();
  return func;
}

Expr storing(const Expr& value, const Expr& element, const Halide::FuncRef& place) {
  return Call::make(value.type(), marker, {value, element, Expr(place)}, Call::Extern);
}

Expr storing_over(const Expr& element, const Halide::FuncRef& place) {
  return Call::make(element.type(), marker_over, {element, Expr(place)}, Call::Extern);
}

Expr behind(const Expr& call, const Expr& value) { return Call::make(value.type(), Call::return_second, {call, value}, Call::Intrinsic); }

bool stores_beside(const Function& function) {
  struct FindMarker : IRGraphVisitor {
    bool is_found = false;
    using IRGraphVisitor::visit;
    void visit(const Call* call) override {
      is_found = is_found || call->name == marker || call->name == marker_over;
      IRGraphVisitor::visit(call);
    }
  } find;
  if (function.has_pure_definition())
    for (const Expr& value : function.values()) value.accept(&find);
  for (const Definition& update : function.updates())
    for (const Expr& value : update.values()) value.accept(&find);
  return find.is_found;
}

void store_beside(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new StoreBeside); }

}  // namespace attune
