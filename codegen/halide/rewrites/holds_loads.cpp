#include "codegen/halide/rewrites/holds_loads.h"

namespace attune {

using namespace Halide::Internal;
using Halide::Expr;

bool holds_loads(const Expr& e) {
  class Visitor : public IRGraphVisitor {
   public:
    bool found = false;

   private:
    using IRGraphVisitor::visit;
    void visit(const Load*) override { found = true; }
  } visitor;
  e.accept(&visitor);
  return visitor.found;
}

}  // namespace attune
