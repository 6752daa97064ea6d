#include "codegen/halide/rewrites/private_registers.h"

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// The dim of a block's threads that a variable counts, empty for others. Halide numbers loops of one name: ".thread_id_y$2".
std::string thread_dim(const std::string& name) {
  const std::string unnumbered = name.substr(0, name.find('$'));
  for (const char* dim : {"thread_id_x", "thread_id_y", "thread_id_z"})
    if (ends_with(unnumbered, dim)) return dim;
  return {};
}

/// An index as what depends on the thread, and the rest, which is a number where a thread's elements can be told apart.
struct Place {
  Expr index, of_thread;
  std::optional<std::int64_t> in_thread;
};

std::string text(const Expr& e) {
  std::ostringstream out;
  out << e;
  return out.str();
}

class NamesRead final : public IRVisitor {
 public:
  std::vector<std::string> names;

 private:
  using IRVisitor::visit;
  void visit(const Variable* op) override { names.push_back(op->name); }
};

/// Knows the values of the names that indices are made of.
class WithNames : public IRMutator {
 protected:
  using IRMutator::visit;
  Expr visit(const Let* op) override {
    const Expr value = mutate(op->value);
    const ScopedBinding<Expr> bound(names_, op->name, value);
    return Let::make(op->name, value, mutate(op->body));
  }
  Stmt visit(const LetStmt* op) override {
    const Expr value = mutate(op->value);
    const ScopedBinding<Expr> bound(names_, op->name, value);
    return LetStmt::make(op->name, value, mutate(op->body));
  }

  Place place(const Expr& index) const {
    Expr whole = without_names(index);
    std::map<std::string, Expr> dims, no_thread;
    for (const std::string& name : variables(whole)) {
      const std::string dim = thread_dim(name);
      if (dim.empty()) continue;
      dims[name] = Variable::make(Halide::Int(32), dim);
      no_thread[dim] = 0;
    }
    whole = substitute(dims, whole);
    const Expr rest = simplify(substitute(no_thread, whole));
    return {whole, simplify(whole - rest), as_const_int(rest)};
  }

 private:
  static std::vector<std::string> variables(const Expr& e) {
    NamesRead read;
    e.accept(&read);
    return read.names;
  }

  Expr without_names(Expr e) const {
    for (bool changed = true; changed;) {
      std::map<std::string, Expr> values;
      for (const std::string& name : variables(e))
        if (names_.contains(name)) values[name] = names_.get(name);
      changed = !values.empty();
      if (changed) e = substitute(values, e);
    }
    return simplify(e);
  }

  Scope<Expr> names_;
};

/// All that a kernel does with an array.
struct Accesses {
  std::vector<Place> places;
  bool has_vectors = false;
};

class FindAccesses final : public WithNames {
 public:
  std::map<std::string, Accesses> of;

 private:
  using WithNames::visit;
  Stmt visit(const Allocate* op) override {
    if (op->memory_type == Halide::MemoryType::Register) of[op->name];
    return WithNames::visit(op);
  }
  Expr visit(const Load* op) override {
    note(op->name, op->index);
    return WithNames::visit(op);
  }
  Stmt visit(const Store* op) override {
    note(op->name, op->index);
    return WithNames::visit(op);
  }
  void note(const std::string& name, const Expr& index) {
    const auto found = of.find(name);
    if (found == of.end()) return;
    if (index.type().is_scalar()) found->second.places.push_back(place(index));
    else found->second.has_vectors = true;
  }
};

class PrivateRegisters final : public WithNames {
 public:
  explicit PrivateRegisters(const std::map<std::string, Accesses>& accesses) {
    for (const auto& [name, all] : accesses)
      if (is_indexed_by_thread(all)) elements_[name] = elements_of(name, all);
  }

 private:
  using WithNames::visit;
  /// The elements of a thread, numbered.
  using Elements = std::map<std::int64_t, int>;

  static bool is_indexed_by_thread(const Accesses& all) {
    for (const Place& place : all.places)
      if (!is_const_zero(place.of_thread)) return true;
    return false;
  }

  static Elements elements_of(const std::string& name, const Accesses& all) {
    if (all.has_vectors) throw Halide::CompileError("registers of '" + name + "': vectors of them are not supported");
    Elements elements;
    for (const Place& place : all.places) {
      const Expr& expected = all.places.front().of_thread;
      if (!place.in_thread || !is_const_zero(simplify(place.of_thread - expected)))
        throw Halide::CompileError("registers of '" + name + "': a thread has the elements at " + text(expected) + " plus a constant, and an access is at " +
                                   text(place.index));
      elements.emplace(*place.in_thread, 0);
    }
    int number = 0;
    for (auto& [at, numbered] : elements) numbered = number++;
    return elements;
  }

  Stmt visit(const Allocate* op) override {
    const auto found = elements_.find(op->name);
    if (found == elements_.end()) return WithNames::visit(op);
    return Allocate::make(op->name, op->type, op->memory_type, {static_cast<int>(found->second.size())}, op->condition, mutate(op->body));
  }
  Expr visit(const Load* op) override {
    const auto found = elements_.find(op->name);
    if (found == elements_.end()) return WithNames::visit(op);
    return Load::make(op->type, op->name, number(found->second, op->index), op->image, op->param, op->predicate, ModulusRemainder());
  }
  Stmt visit(const Store* op) override {
    const auto found = elements_.find(op->name);
    if (found == elements_.end()) return WithNames::visit(op);
    return Store::make(op->name, mutate(op->value), number(found->second, op->index), op->param, op->predicate, ModulusRemainder());
  }
  Expr visit(const Call* op) override {
    constexpr int shared_memory = 2;
    if (op->is_intrinsic(Call::gpu_thread_barrier) && op->args.size() == 1 && is_const_zero(op->args[0]))
      return Call::make(op->type, op->name, {Expr(shared_memory)}, op->call_type);
    return WithNames::visit(op);
  }
  Expr number(const Elements& elements, const Expr& index) const { return elements.at(place(index).in_thread.value()); }

  std::map<std::string, Elements> elements_;
};

}  // namespace

Stmt with_private_registers(const Stmt& s) {
  FindAccesses find;
  find.mutate(s);
  return PrivateRegisters(find.of).mutate(s);
}

}  // namespace attune
