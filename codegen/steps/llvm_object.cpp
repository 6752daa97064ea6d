#include "codegen/steps/llvm_object.h"

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>

namespace attune {
namespace {

std::unique_ptr<llvm::TargetMachine> machine_for(const llvm::Triple& triple, std::string& problem) {
  static const bool is_ready = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)is_ready;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, "", "", {}, llvm::Reloc::PIC_));
}

}  // namespace

CodeAnswer llvm_object(const std::string& assembly, std::string_view triple, std::string_view what) {
  const llvm::Triple parsed{std::string(triple)};
  std::string problem;
  const auto machine = machine_for(parsed, problem);
  if (machine == nullptr) return {{}, fmt::format("internal: LLVM has no target {}: {}", triple, problem)};
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(assembly, diagnostic, context);
  if (module == nullptr)
    return {{}, fmt::format("internal: {} is not LLVM assembly: {}: {}", what, diagnostic.getMessage().str(), diagnostic.getLineContents().str())};
  module->setTargetTriple(parsed);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    return {{}, fmt::format("internal: LLVM writes no objects for {}", triple)};
  passes.run(*module);
  return {std::string(bytes.begin(), bytes.end()), {}};
}

}  // namespace attune
