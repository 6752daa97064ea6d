#include "codegen/halide/shared_bytes.h"

#include <algorithm>
#include <cstdint>

namespace attune {
namespace {

using namespace Halide::Internal;

/// Looks at launches: `halide_cuda_run`, `halide_opencl_run`.
class SharedBytes final : public IRVisitor {
 public:
  std::int64_t most = 0;
  std::string problem;

 private:
  using IRVisitor::visit;
  void visit(const Call* call) override {
    IRVisitor::visit(call);
    if (!call->name.starts_with("halide_") || !call->name.ends_with("_run")) return;
    constexpr std::size_t shared = 8;  // behind the state, the kernel's name, three numbers of blocks and three of threads
    const Halide::Expr bytes = find_constant_bound(call->args.at(shared), Direction::Upper);
    const auto known = bytes.defined() ? as_const_int(bytes) : std::nullopt;
    if (known)
      most = std::max<std::int64_t>(most, *known);
    else
      problem = "internal: nobody knows how much memory the blocks of a kernel share";
  }
};

}  // namespace

std::string add_shared_bytes(Halide::Module& module, const std::string& symbol) {
  SharedBytes shared;
  for (const LoweredFunc& function : module.functions()) function.body.accept(&shared);
  if (!shared.problem.empty()) return shared.problem;
  // A function gives 0, or the error of an assertion that does not hold.
  const Stmt answer = AssertStmt::make(const_false(), static_cast<int>(shared.most));
  module.append(LoweredFunc(symbol + "_shared_bytes", std::vector<LoweredArgument>(), answer, Halide::LinkageType::External));
  return {};
}

}  // namespace attune
