/// attune-opt: text of the dialect `attn` in, passes of Attune and of MLIR, text out.
///   attune-opt my.mlir --attn-specialise="set=depth=64 type=bf16,lse=f32" --attn-expand --attn-canonicalise --attn-form-stages
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/InitLLVM.h>
#include <llvm/Support/MemoryBuffer.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Support/FileUtilities.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>
#include <mlir/Transforms/Passes.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "codegen/dialect/import.h"
#include "codegen/dialect/nesting.h"
#include "codegen/files/whole_file.h"
#include "codegen/passes/compile.h"
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

/// One of the passes in between, as its row says.
class ListedPass : public ModulePass<ListedPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ListedPass)
  static constexpr llvm::StringLiteral argument = "", description = "";
  explicit ListedPass(const GraphPass& row) : row_(&row) {}
  ListedPass(const ListedPass& other) : ModulePass(other), row_(other.row_) {}
  llvm::StringRef getArgument() const override { return row_->name; }
  llvm::StringRef getDescription() const override { return row_->meaning; }
  std::string run(mlir::ModuleOp module) {
    if (fuse || !row_->is_of_fusion) row_->run(module, fuse);
    return {};
  }

 private:
  const GraphPass* row_;
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("as of the stages that follow"), llvm::cl::init(true)};
};

struct FormStagesPass : ModulePass<FormStagesPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormStagesPass)
  static constexpr llvm::StringLiteral argument = "attn-form-stages", description = "put what is computed together into stages";
  FormStagesPass() = default;
  FormStagesPass(const FormStagesPass& other) : ModulePass(other) {}
  std::string run(mlir::ModuleOp module) { return form_stages(module, fuse); }
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("several loops in one stage"), llvm::cl::init(true)};
};

/// Registers the passes of Attune; their names in the order in which a kernel takes them.
std::vector<llvm::StringRef> register_passes() {
  mlir::PassRegistration<SpecialisePass>();
  std::vector<llvm::StringRef> names{SpecialisePass::argument};
  for (const GraphPass& row : graph_passes()) {
    mlir::registerPass([&row] { return std::make_unique<ListedPass>(row); });
    names.emplace_back(row.name);
  }
  mlir::PassRegistration<FormStagesPass>();
  names.emplace_back(FormStagesPass::argument);
  return names;
}

/// Prints the passes with their options; those of LLVM, some hundred lines, follow where the command line is read.
void print_help(llvm::ArrayRef<llvm::StringRef> passes) {
  constexpr std::size_t indent = 4, column = 30;
  llvm::outs() << "attune-opt [passes] INPUT.mlir -o OUTPUT.mlir: text of the dialect attn in, text out\n\n  Passes of Attune:\n";
  for (const llvm::StringRef pass : passes) mlir::PassInfo::lookup(pass)->printHelpStr(indent, column);
  llvm::outs() << "\n  Options of a pass stand in one word: --attn-specialise=\"set=depth=64 type=bf16,lse=f32\"\n\n";
}

/// The text of the module goes out when all of it is there: a disk that is full leaves the file that was there before.
std::string write_out(const std::string& path, const std::string& text) {
  if (path != "-") return write_whole(path, {text});
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return is_written ? std::string() : std::string("standard output: cannot be written: ") + std::strerror(errno);
}

/// Reads, runs the passes and writes; the exit status. What failed leaves no file, and on standard output the parts that went well. Text that
/// is nested too deep does not reach the parser.
int run(mlir::DialectRegistry& registry, const std::string& input, const std::string& output, const mlir::MlirOptMainConfig& config) {
  std::string text, problem;
  llvm::raw_string_ostream stream(text);
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &problem);
  if (file != nullptr)
    if (const std::string nested = nesting_problem(file->getBuffer()); !nested.empty()) {
      std::fprintf(stderr, "%s: %s\n", input.c_str(), nested.c_str());
      return 2;
    }
  if (file != nullptr) {
    const bool is_done = mlir::MlirOptMain(stream, std::move(file), registry, config).succeeded();
    if (is_done || output == "-") problem = write_out(output, text);
    if (problem.empty()) return is_done ? 0 : 2;
  }
  std::fprintf(stderr, "attune-opt: %s\n", problem.c_str());
  return 2;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  const llvm::InitLLVM stack_traces(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that is too large is a write that fails, with a sentence
  mlir::DialectRegistry registry;
  registry.insert<attune::AttnDialect, mlir::func::FuncDialect>();
  const auto passes = attune::register_passes();
  if (llvm::any_of(llvm::ArrayRef(argv, static_cast<std::size_t>(argc)),
                   [](llvm::StringRef word) { return word.ltrim('-') == "help" || word == "-h"; }))
    attune::print_help(passes);
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  const llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("<input file>"), llvm::cl::init("-")),
      output("o", llvm::cl::desc("Output filename"), llvm::cl::value_desc("filename"), llvm::cl::init("-"));
  const std::string help = mlir::registerCLIOptions("attune-opt: text of the dialect attn in, text out\n", registry);
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, help, &llvm::errs())) return 2;  // by itself it would exit with 1
  const mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  return attune::run(registry, input, output, config);
}
