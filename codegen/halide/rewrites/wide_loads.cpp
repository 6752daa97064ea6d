#include "codegen/halide/rewrites/wide_loads.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

constexpr int lanes = 4;

/// An index without what keeps the lanes of a last vector inside: min(ramp(a, 1, 4), b) -> ramp(a, 1, 4).
class Unclamp final : public IRMutator {
 public:
  Expr are_inside;  ///< all lanes are what they were: a + 3 <= b; undefined where nothing was changed

 private:
  using IRMutator::visit;
  Expr visit(const Min* op) override {
    const Ramp* ramp = op->a.as<Ramp>();
    const Broadcast* last = op->b.as<Broadcast>();
    if (ramp == nullptr || last == nullptr || !is_const_one(ramp->stride) || ramp->lanes != lanes) return IRMutator::visit(op);
    const Expr is_inside = ramp->base + (lanes - 1) <= last->value;
    are_inside = are_inside.defined() ? are_inside && is_inside : is_inside;
    return op->a;
  }
};

/// By how many elements an array of the device begins beyond a multiple of a load's bytes,
/// by a name that the host defines before it launches a kernel.
std::string beyond_name(const std::string& array) { return array + ".beyond"; }

/// Loads of what is not the kernel's own, as one where their lanes of 16 or 32 bits are neighbours and aligned.
class Widen final : public IRMutator {
 public:
  Widen(const std::set<std::string>& own, std::map<std::string, int>& element_bytes) : own_(own), element_bytes_(element_bytes) {}
  Expr condition;  ///< under which all loads that were widened are what they were; undefined without any

 private:
  using IRMutator::visit;
  Expr visit(const Load* op) override {
    const bool may_be_wide =
        op->type.lanes() == lanes && (op->type.bits() == 16 || op->type.bits() == 32) && is_const_one(op->predicate) && !own_.contains(op->name);
    Unclamp unclamp;
    const Expr index = may_be_wide ? simplify(unclamp.mutate(op->index)) : Expr();
    const Ramp* ramp = index.defined() ? index.as<Ramp>() : nullptr;
    if (ramp == nullptr || !is_const_one(ramp->stride)) return IRMutator::visit(op);
    if (unclamp.are_inside.defined()) require(unclamp.are_inside);
    element_bytes_[op->name] = op->type.bytes();
    require((ramp->base | Variable::make(Halide::Int(32), beyond_name(op->name))) % lanes == 0);
    if (op->type.bits() == 32) return Load::make(op->type, op->name, index, op->image, op->param, op->predicate, ModulusRemainder(lanes, 0));
    return reinterpret(op->type, Load::make(Halide::UInt(64), op->name, ramp->base / lanes, op->image, op->param, const_true(), ModulusRemainder()));
  }

  void require(const Expr& more) { condition = condition.defined() ? condition && more : more; }

  const std::set<std::string>& own_;
  std::map<std::string, int>& element_bytes_;  // of the arrays that are loaded wide
};

class WideLoads final : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    if (is_on_device_ || op->for_type != ForType::GPUBlock) return IRMutator::visit(op);
    is_on_device_ = true;
    element_bytes_.clear();
    Stmt s = IRMutator::visit(op);
    is_on_device_ = false;
    for (const auto& [array, bytes] : element_bytes_) {
      const Expr buffer = Variable::make(Halide::type_of<halide_buffer_t*>(), array + ".buffer");
      const Expr address = Call::make(Halide::UInt(64), Call::buffer_get_device, {buffer}, Call::Extern);
      s = LetStmt::make(beyond_name(array), cast<std::int32_t>((address / bytes) % lanes), s);
    }
    return s;
  }

  Stmt visit(const Allocate* op) override {
    if (is_on_device_) own_.insert(op->name);
    return IRMutator::visit(op);
  }

  Stmt visit(const Store* op) override {
    if (!is_on_device_ || op->value.type().lanes() != lanes) return op;
    Widen widen(own_, element_bytes_);
    // A place must be known where the statement begins.
    const Expr value = widen.mutate(substitute_in_all_lets(op->value));
    if (!widen.condition.defined()) return op;
    return IfThenElse::make(widen.condition, Store::make(op->name, value, op->index, op->param, op->predicate, op->alignment), op);
  }

  bool is_on_device_ = false;
  std::set<std::string> own_;
  std::map<std::string, int> element_bytes_;
};

}  // namespace

Stmt with_wide_loads(const Stmt& s) { return WideLoads().mutate(s); }

void load_wide(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new WideLoads); }

}  // namespace attune
