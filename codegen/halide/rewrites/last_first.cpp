#include "codegen/halide/rewrites/last_first.h"

#include <algorithm>

namespace attune {
namespace {

using namespace Halide::Internal;

class LastFirst : public IRMutator {
 public:
  LastFirst(const std::string& func, std::vector<std::string> vars) : loops_of_func_(func + ".s0."), vars_(std::move(vars)) {}

 private:
  using IRMutator::visit;

  /// Halide puts the names of the dims that a Var was split from before its own.
  bool is_turned(const For* loop) const {
    return loop->for_type == ForType::Parallel && loop->name.starts_with(loops_of_func_) &&
           std::ranges::any_of(vars_, [&](const std::string& var) { return loop->name.ends_with("." + var); });
  }

  Stmt visit(const For* loop) override {
    if (!is_turned(loop)) return IRMutator::visit(loop);
    const std::string task = loop->name + ".last_first";
    const Halide::Expr from_end = loop->min + loop->min + loop->extent - 1 - Variable::make(Halide::Int(32), task);
    return For::make(task, loop->min, loop->extent, loop->for_type, loop->partition_policy, loop->device_api,
                     LetStmt::make(loop->name, from_end, mutate(loop->body)));
  }

  const std::string loops_of_func_;
  const std::vector<std::string> vars_;
};

}  // namespace

void turn_last_first(Halide::Pipeline& pipeline, const Halide::Func& f, const std::vector<std::string>& vars) {
  if (!vars.empty()) pipeline.add_custom_lowering_pass(new LastFirst(f.name(), vars));
}

}  // namespace attune
