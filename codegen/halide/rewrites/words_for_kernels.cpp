#include "codegen/halide/rewrites/words_for_kernels.h"

#include <set>
#include <stdexcept>
#include <string>

namespace attune {
namespace {

using Halide::Expr;
using Halide::Internal::IRMutator;
using Halide::Internal::LetStmt;
using Halide::Internal::Stmt;

/// Numbers as Vulkan's kernels take them from outside; memory is none.
bool is_word(const Halide::Type& type) { return type.is_handle() || type.bits() == 32; }

class WordsForKernels final : public IRMutator {
  using IRMutator::visit;
  Stmt visit(const LetStmt* let) override {
    const bool is_for_kernels = !is_word(let->value.type()) && !is_in_kernel_ && is_pure(let->value);
    return is_for_kernels ? mutate(Halide::Internal::substitute(let->name, let->value, let->body)) : IRMutator::visit(let);
  }
  Stmt visit(const Halide::Internal::For* loop) override {
    const Halide::Internal::ScopedValue<bool> in_kernel(is_in_kernel_, is_in_kernel_ || loop->for_type == Halide::Internal::ForType::GPUBlock);
    return IRMutator::visit(loop);
  }
  Expr visit(const Halide::Internal::Call* call) override {
    const bool is_known = call->is_intrinsic(Halide::Internal::Call::return_second) && is_const(call->args[1]);
    return is_known ? call->args[1] : IRMutator::visit(call);
  }
  bool is_in_kernel_ = false;
};

/// Ends the compiler where a kernel takes a number from outside that is no word.
class TakesWords final : public Halide::Internal::IRVisitor {
  using IRVisitor::visit;
  void visit(const Halide::Internal::For* loop) override {
    if (is_in_kernel_) inside_.insert(loop->name);
    const Halide::Internal::ScopedValue<bool> in_kernel(is_in_kernel_, is_in_kernel_ || loop->for_type == Halide::Internal::ForType::GPUBlock);
    IRVisitor::visit(loop);
  }
  void visit(const LetStmt* let) override {
    if (is_in_kernel_) inside_.insert(let->name);
    IRVisitor::visit(let);
  }
  void visit(const Halide::Internal::Let* let) override {
    if (is_in_kernel_) inside_.insert(let->name);
    IRVisitor::visit(let);
  }
  void visit(const Halide::Internal::Variable* variable) override {
    if (is_in_kernel_ && !is_word(variable->type) && !inside_.contains(variable->name))
      throw std::logic_error("internal: a kernel for Vulkan takes '" + variable->name + "', which is no word of 32 bits");
  }
  bool is_in_kernel_ = false;
  std::set<std::string> inside_;
};

}  // namespace

Stmt with_words_for_kernels(const Stmt& s) {
  Stmt made = simplify(WordsForKernels().mutate(s));
  TakesWords check;
  made.accept(&check);
  return made;
}

}  // namespace attune
