#include "codegen/halide/rewrites/opaque_numbers.h"

#include <map>

namespace attune {
namespace {

using namespace Halide::Internal;

/// The variables of an expression, by name: extents of arguments. They are the call's arguments, or Halide would not keep those that occur
/// nowhere else.
class Variables : public IRGraphVisitor {
 public:
  explicit Variables(const Halide::Expr& e) { e.accept(this); }
  std::map<std::string, Halide::Expr> found;

 private:
  using IRGraphVisitor::visit;
  void visit(const Variable* variable) override { found.emplace(variable->name, variable); }
};

class DefineNumbers : public IRMutator {
 public:
  explicit DefineNumbers(const std::vector<OpaqueNumber>& numbers) {
    for (const OpaqueNumber& number : numbers) values_.emplace(number.name, number.value);
  }

 private:
  using IRMutator::visit;

  /// Passes may have given the variables other names; the arguments say which.
  Halide::Expr visit(const Call* call) override {
    const auto value = values_.find(call->name);
    if (value == values_.end()) return IRMutator::visit(call);
    std::map<std::string, Halide::Expr> arguments;
    std::size_t n = 0;
    for (const auto& [name, variable] : Variables(value->second).found) arguments.emplace(name, mutate(call->args[n++]));
    return substitute(arguments, mutate(value->second));
  }

  std::map<std::string, Halide::Expr> values_;
};

}  // namespace

Halide::Expr opaque(const Halide::Expr& value, std::vector<OpaqueNumber>& numbers) {
  std::vector<Halide::Expr> arguments;
  for (const auto& [name, variable] : Variables(value).found) arguments.push_back(variable);
  numbers.push_back({unique_name("attune_number"), value});
  return Halide::max(Call::make(Halide::Int(32), numbers.back().name, arguments, Call::PureExtern), 1);
}

void define_numbers(Halide::Pipeline& pipeline, const std::vector<OpaqueNumber>& numbers) {
  if (!numbers.empty()) pipeline.add_custom_lowering_pass(new DefineNumbers(numbers));
}

}  // namespace attune
