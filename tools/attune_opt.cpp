/// attune-opt: text of the dialect `attn` in, passes of Attune and of MLIR, text out.
///   attune-opt my.mlir --attn-specialise="set=depth=64 type=bf16,lse=f32" --attn-expand --attn-canonicalise --attn-form-stages
#include <mlir/Pass/Pass.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>
#include <mlir/Transforms/Passes.h>

#include "codegen/import.h"
#include "codegen/passes/canonicalise.h"
#include "codegen/passes/expand.h"
#include "codegen/passes/form_stages.h"
#include "codegen/passes/specialise.h"

namespace attune {
namespace {

/// A pass on modules whose run is one function; a problem that it answers is reported at the module.
template <class Concrete>
class ModulePass : public mlir::PassWrapper<Concrete, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  llvm::StringRef getArgument() const override { return Concrete::argument; }
  llvm::StringRef getDescription() const override { return Concrete::description; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override { registry.insert<AttnDialect>(); }
  void runOnOperation() override {
    std::string problem;
    for (mlir::func::FuncOp function : this->getOperation().template getOps<mlir::func::FuncOp>())
      if (problem.empty()) problem = graph_problem(function);
    if (problem.empty()) problem = static_cast<Concrete*>(this)->run(this->getOperation());
    if (problem.empty()) return;
    mlir::emitError(this->getOperation().getLoc(), problem);  // without the whole module behind it
    this->signalPassFailure();
  }
};

struct SpecialisePass : ModulePass<SpecialisePass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpecialisePass)
  static constexpr llvm::StringLiteral argument = "attn-specialise", description = "state extents and storage in every type";
  SpecialisePass() = default;
  SpecialisePass(const SpecialisePass& other) : ModulePass(other) {}
  std::string run(mlir::ModuleOp module) {
    Specialisation given;
    if (std::string problem = read_extents(extents.getValue(), given); !problem.empty()) return problem;
    if (std::string problem = read_types(types.getValue(), given); !problem.empty()) return problem;
    return specialise(module, given);
  }
  Option<std::string> extents{*this, "set", llvm::cl::desc("extents: depth=64,heads=8")};
  Option<std::string> types{*this, "type", llvm::cl::desc("storage of reals: bf16,bias=f32")};
};

struct ExpandPass : ModulePass<ExpandPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandPass)
  static constexpr llvm::StringLiteral argument = "attn-expand", description = "replace composites by what they mean";
  static std::string run(mlir::ModuleOp module) { return expand(module), std::string(); }
};

struct CanonicalisePass : ModulePass<CanonicalisePass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalisePass)
  static constexpr llvm::StringLiteral argument = "attn-canonicalise", description = "one form for graphs that mean the same";
  static std::string run(mlir::ModuleOp module) { return canonicalise(module), std::string(); }
};

struct FormStagesPass : ModulePass<FormStagesPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormStagesPass)
  static constexpr llvm::StringLiteral argument = "attn-form-stages", description = "put what is computed together into stages";
  FormStagesPass() = default;
  FormStagesPass(const FormStagesPass& other) : ModulePass(other) {}
  std::string run(mlir::ModuleOp module) { return form_stages(module, fuse); }
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("several loops in one stage"), llvm::cl::init(true)};
};

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  registry.insert<attune::AttnDialect, mlir::func::FuncDialect>();
  mlir::PassRegistration<attune::SpecialisePass>();
  mlir::PassRegistration<attune::ExpandPass>();
  mlir::PassRegistration<attune::CanonicalisePass>();
  mlir::PassRegistration<attune::FormStagesPass>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "attune-opt: text of the dialect attn in, text out\n", registry));
}
