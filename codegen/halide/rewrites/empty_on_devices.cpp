#include "codegen/halide/rewrites/empty_on_devices.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// The ranks of arguments: of the buffers whose extents are asked for, by their names.
class FindRanks : public IRVisitor {
 public:
  std::map<std::string, int> ranks;

 private:
  using IRVisitor::visit;

  void visit(const Call* op) override {
    IRVisitor::visit(op);
    const Variable* buffer = op->args.empty() ? nullptr : op->args[0].as<Variable>();
    if (buffer == nullptr || op->name != Call::buffer_get_extent) return;
    int& rank = ranks[buffer->name];
    if (const auto dim = as_const_int(op->args[1])) rank = std::max(rank, static_cast<int>(*dim) + 1);
  }
};

/// The buffer, of which each dim gets its extent first: a call that gives the buffer itself.
Expr with_extents(const Expr& buffer, const std::vector<Expr>& extents) {
  Expr changed = buffer;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const Expr dim = static_cast<int>(d);
    const Expr first = Call::make(Halide::Int(32), Call::buffer_get_min, {buffer, dim}, Call::Extern);
    changed = Call::make(buffer.type(), Call::buffer_set_bounds, {changed, dim, first, extents[d]}, Call::Extern);
  }
  return changed;
}

/// Whether a check is of a call's arguments, and not of what the device answers or of how much is stored.
bool is_of_arguments(const AssertStmt& check) {
  Expr message = check.message;
  while (const Let* let = message.as<Let>()) message = let->body;
  const Call* error = message.as<Call>();
  return error != nullptr && error->name != "halide_error_buffer_allocation_too_large";
}

class AllowEmpty : public IRMutator {
 public:
  explicit AllowEmpty(int granule) : granule_(granule) {}

  Stmt mutate(const Stmt& s) override {
    if (!ranks_.empty()) return IRMutator::mutate(s);
    FindRanks find;
    s.accept(&find);
    ranks_ = std::move(find.ranks);
    return IRMutator::mutate(s);
  }
  using IRMutator::mutate;

 private:
  using IRMutator::visit;

  Stmt visit(const AssertStmt* op) override { return is_of_arguments(*op) ? Evaluate::make(0) : IRMutator::visit(op); }

  Stmt visit(const For* op) override {
    const Stmt loop = IRMutator::visit(op);
    return op->for_type == ForType::GPUBlock ? IfThenElse::make(op->extent > 0, loop) : loop;
  }

  /// The extents that memory is taken for: none is 0, and the elements are a multiple of the granule.
  std::vector<Expr> for_memory(std::vector<Expr> extents, const std::vector<Expr>& strides) const {
    for (Expr& extent : extents) extent = max(extent, 1);
    if (granule_ == 1 || extents.empty()) return extents;
    Expr elements = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) elements += (extents[d] - 1) * strides[d];
    // Elements of the innermost dim are neighbours.
    extents[0] += (granule_ - elements % granule_) % granule_;
    return extents;
  }

  /// The shape of what a kernel stores between its stages: {minimum, extent, stride, flags} of each dim.
  Expr visit(const Call* op) override {
    const bool is_shape = op->is_intrinsic(Call::make_struct) && op->type.handle_type != nullptr &&
                          op->type.handle_type->inner_name.name == "halide_dimension_t";
    if (!is_shape) return IRMutator::visit(op);
    constexpr std::size_t fields = 4, extent = 1, stride = 2;
    std::vector<Expr> arguments = op->args, extents, strides;
    for (std::size_t i = 0; i < arguments.size(); i += fields) {
      extents.push_back(arguments[i + extent]);
      strides.push_back(arguments[i + stride]);
    }
    extents = for_memory(extents, strides);
    for (std::size_t d = 0; d < extents.size(); ++d) arguments[d * fields + extent] = extents[d];
    return Call::make(op->type, op->name, arguments, op->call_type);
  }

  /// Of an argument, whose extents the loops go by:
  /// let result = device_malloc(buffer, device) in body ->
  /// let extent_0 = buffer.extent[0], ... in let result = device_malloc(buffer with max(extent_0, 1), ..., device)
  /// in {buffer with extent_0, ...; body}
  Stmt visit(const LetStmt* op) override {
    const Call* call = op->value.as<Call>();
    const bool takes_memory = call != nullptr && (call->name == "halide_device_malloc" || call->name == "halide_copy_to_device");
    const Variable* buffer = takes_memory ? call->args[0].as<Variable>() : nullptr;
    const auto rank = buffer == nullptr ? ranks_.end() : ranks_.find(buffer->name);
    if (rank == ranks_.end()) return IRMutator::visit(op);
    std::vector<std::string> names;
    std::vector<Expr> extents, strides, at_least_one;
    for (int d = 0; d < rank->second; ++d) {
      names.push_back(op->name + ".extent." + std::to_string(d));
      extents.push_back(Variable::make(Halide::Int(32), names.back()));
      strides.push_back(Call::make(Halide::Int(32), Call::buffer_get_stride, {call->args[0], d}, Call::Extern));
      at_least_one.push_back(max(extents.back(), 1));
    }
    const auto asked = [&](const std::string& name, const std::string& function, const std::vector<Expr>& of, const Stmt& body) {
      std::vector<Expr> arguments = call->args;
      arguments[0] = with_extents(call->args[0], of);
      const Expr result = Call::make(call->type, function, arguments, call->call_type);
      return LetStmt::make(name, result, Block::make(Evaluate::make(with_extents(call->args[0], extents)), body));
    };
    const bool is_copy = call->name == "halide_copy_to_device";
    Stmt s = asked(op->name, call->name, is_copy ? at_least_one : for_memory(extents, strides), mutate(op->body));
    if (is_copy && granule_ > 1) {
      // What is copied is what the host has: memory for more is there before.
      const std::string taken = op->name + ".taken";
      const Expr status = Variable::make(call->type, taken);
      s = asked(taken, "halide_device_malloc", for_memory(extents, strides), Block::make(AssertStmt::make(status == 0, status), s));
    }
    for (int d = rank->second - 1; d >= 0; --d)
      s = LetStmt::make(names[static_cast<std::size_t>(d)], Call::make(Halide::Int(32), Call::buffer_get_extent, {call->args[0], d}, Call::Extern),
                        s);
    return s;
  }

  const int granule_;  // elements
  std::map<std::string, int> ranks_;
};

}  // namespace

void allow_empty_on_devices(Halide::Pipeline& pipeline, int granule) { pipeline.add_custom_lowering_pass(new AllowEmpty(granule)); }

}  // namespace attune
