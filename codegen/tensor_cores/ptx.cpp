#include "codegen/tensor_cores/ptx.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <mlir/Conversion/ArithToLLVM/ArithToLLVM.h>
#include <mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h>
#include <mlir/Conversion/MathToLLVM/MathToLLVM.h>
#include <mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h>
#include <mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/ControlFlow/IR/ControlFlow.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/Math/Transforms/Passes.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Export.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

#include <memory>

namespace attune::tensor_cores {
namespace {

/// Functions of reals become polynomials; GPUs have no library for them.
bool expand_functions(mlir::ModuleOp module) {
  mlir::RewritePatternSet patterns(module.getContext());
  mlir::populateMathPolynomialApproximationPatterns(patterns, mlir::MathPolynomialApproximationOptions{});
  return mlir::succeeded(mlir::applyPatternsGreedily(module, std::move(patterns)));
}

bool lower_to_llvm(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createSCFToControlFlowPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  return mlir::succeeded(passes.run(module));
}

std::unique_ptr<llvm::TargetMachine> nvidia_machine(const llvm::Triple& triple, Gpus gpus, std::string& problem) {
  static const bool is_ready = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)is_ready;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;  // a product and a sum are one instruction
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, gpus == Gpus::of_9_0 ? "sm_90a" : "sm_80",
                                                                                 gpus == Gpus::of_9_0 ? "+ptx80" : "+ptx70", options, std::nullopt));
}

/// Instructions of PTX in the text are of all threads of a warp: none is to stand in a branch that some of them take.
void keep_together(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call != nullptr && call->isInlineAsm()) call->setConvergent();
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

}  // namespace

std::unique_ptr<mlir::MLIRContext> kernel_context() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::NVVM::NVVMDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

PtxAnswer ptx_of(mlir::ModuleOp module, Gpus gpus) {
  if (!expand_functions(module) || !lower_to_llvm(module)) return {{}, "internal: MLIR does not lower a kernel of tensor cores"};
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> lowered = mlir::translateModuleToLLVMIR(module, context);
  if (lowered == nullptr) return {{}, "internal: MLIR does not translate a kernel of tensor cores"};
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string problem;
  const auto machine = nvidia_machine(triple, gpus, problem);
  if (machine == nullptr) return {{}, "internal: LLVM has no target " + triple.str() + ": " + problem};
  lowered->setTargetTriple(triple);
  lowered->setDataLayout(machine->createDataLayout());
  keep_together(*lowered);
  optimise(*lowered, *machine);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) return {{}, "internal: LLVM writes no PTX"};
  passes.run(*lowered);
  return {std::string(text.begin(), text.end()), {}};
}

}  // namespace attune::tensor_cores
