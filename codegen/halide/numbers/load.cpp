#include "codegen/halide/numbers/load.h"

#include <utility>

using Halide::Expr;

namespace attune {

std::optional<float> Load::constant_factor() const {
  const auto constant = Halide::Internal::as_const_float(factor);
  return constant ? std::optional(static_cast<float>(*constant)) : std::nullopt;
}

bool Load::has_uniform_factor() const {
  class Places : public Halide::Internal::IRGraphVisitor {
   public:
    bool found = false;

   private:
    using IRGraphVisitor::visit;
    void visit(const Halide::Internal::Variable* variable) override { found = found || !(variable->param.defined() || variable->image.defined()); }
  };
  Places places;
  factor.accept(&places);
  return !places.found;
}

bool is_read(const Halide::Internal::Call* call) {
  return call->call_type == Halide::Internal::Call::Halide || call->call_type == Halide::Internal::Call::Image;
}

std::vector<const Halide::Internal::Call*> reads_of(const Expr& e) {
  class Reads : public Halide::Internal::IRGraphVisitor {
   public:
    std::vector<const Halide::Internal::Call*> found;

   private:
    using IRGraphVisitor::visit;
    void visit(const Halide::Internal::Call* call) override {
      if (is_read(call)) found.push_back(call);
      IRGraphVisitor::visit(call);
    }
  };
  Reads reads;
  e.accept(&reads);
  return std::move(reads.found);
}

bool reads_memory(const Expr& e) { return !reads_of(e).empty(); }

}  // namespace attune
