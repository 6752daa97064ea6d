#include "codegen/emit.h"

#include <fmt/format.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/xxhash.h>

#include <filesystem>
#include <fstream>

#include "codegen/extents.h"
#include "codegen/halide_runtime.h"
#include "codegen/halide_target.h"
#include "codegen/import.h"
#include "codegen/kernel_text.h"
#include "codegen/manifest.h"
#include "codegen/memory_checks.h"
#include "codegen/pipeline.h"
#include "codegen/scratch_folder.h"
#include "codegen/size_rule.h"
#include "runtime/abi.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

/// Runs a program of the PATH; the problem in words, or nothing.
std::string run(const std::string& program, const std::vector<std::string>& arguments, const std::string& log) {
  const auto path = llvm::sys::findProgramByName(program);
  if (!path) return fmt::format("'{}' is not installed; it is needed to write kernels of this kind", program);
  std::vector<llvm::StringRef> all{program};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log), llvm::StringRef(log)};
  std::string error;
  if (llvm::sys::ExecuteAndWait(*path, all, std::nullopt, redirects, 0, 0, &error) == 0) return {};
  std::ifstream in(log);
  std::string line;
  std::getline(in, line);
  return fmt::format("'{}' failed: {}", program, line.empty() ? error : line);
}

std::string symbol_part(std::string_view text) {
  std::string part(text);
  for (char& c : part)
    if (c == '-') c = '_';
  return part;
}

std::string describe(const LoweredPipeline& lowered, SizeClass size) {
  std::string text = std::string(name_of(size)) + ":";
  for (const LoweredStage& stage : lowered.stages) {
    text += " " + stage.schedule;
    for (const Parameter& p : stage.parameters) text += fmt::format(",{}={}", p.name, p.value);
  }
  return text;
}

std::string names_of(const SizeRule& rule) {
  std::string names;
  for (const SizeRule::Entry& entry : rule.entries) names += (names.empty() ? "" : ", ") + std::string(name_of(entry.size));
  return names;
}

int storage_number(Element element) {
  switch (element) {
    case Element::bf16: return attune_bf16;
    case Element::f16: return attune_f16;
    case Element::i8: return attune_i8;
    case Element::u8: return attune_u8;
    case Element::i32: return attune_i32;
    case Element::i64: return attune_i64;
    case Element::boolean: return attune_boolean;
    default: return attune_f32;
  }
}

/// Writes one kernel.
class Emission {
 public:
  Emission(mlir::func::FuncOp function, const EmitOptions& options)
      : function_(function), options_(options), scratch_(options.directory, "." + options.name) {}

  Emitted run_all() {
    if (!scratch_.exists()) return {{}, fmt::format("'{}': is not a folder that can be written to", options_.directory)};
    describe_tensors();
    for (const TargetInfo* target : options_.targets)
      if (std::string problem = compile(*target); !problem.empty()) return {{}, std::move(problem)};
    if (std::string problem = link(); !problem.empty()) return {{}, std::move(problem)};
    return publish();
  }

 private:
  int number_of(std::string_view dim) const {
    for (std::size_t i = 0; i < manifest_.dims.size(); ++i)
      if (manifest_.dims[i].name == dim) return static_cast<int>(i);
    return -1;
  }

  void describe_tensors() {
    manifest_.name = options_.name;
    manifest_.variant = options_.variant;
    manifest_.parameters = options_.parameters;
    std::string text;
    llvm::raw_string_ostream stream(text);
    function_.print(stream);
    for (const TargetInfo* target : options_.targets) stream << target->name;
    stream << options_.schedule.name << (options_.size ? name_of(*options_.size) : "");
    for (const Parameter& p : options_.schedule.values) stream << p.name << p.value;
    for (const TunedFile& tuned : options_.schedule.tuned) stream << tuned_text(tuned);
    manifest_.hash = fmt::format("{:016x}", llvm::xxh3_64bits(text));
    const Graph graph = to_graph(function_);
    known_ = known_extents(function_);
    for (const DimInfo& info : graph.dim_infos()) {
      const Derivation& d = info.derivation;
      Manifest::Dim dim{std::string(info.name()), static_cast<int>(d.formula), {}, d.value};
      for (Name operand : d.operands) dim.operands.push_back(number_of(operand));
      const auto extent = known_.find(info.name());
      if (d.formula == Formula::free && extent != known_.end()) {
        dim.formula = static_cast<int>(Formula::fixed);
        dim.value = extent->second;
      }
      manifest_.dims.push_back(std::move(dim));
    }
    const auto add = [&](std::string name, mlir::Type type, bool is_output) {
      const auto tensor_type = llvm::cast<TensorType>(type);
      Manifest::Tensor tensor{std::move(name), storage_number(tensor_type.element()), is_output, {}};
      for (const TypeDim& dim : tensor_type.dims()) tensor.dims.push_back(number_of(dim.name.getValue()));
      manifest_.tensors.push_back(std::move(tensor));
    };
    for (unsigned i = 0; i < function_.getNumArguments(); ++i)
      add(function_.getArgAttrOfType<mlir::StringAttr>(i, "attn.name").getValue().str(), function_.getArgumentTypes()[i], false);
    auto end = llvm::cast<ReturnOp>(function_.getBody().front().getTerminator());
    for (unsigned i = 0; i < end->getNumOperands(); ++i) add(std::string(end.result_name(i)), function_.getResultTypes()[i], true);
  }

  /// One object with the code of a target: for calls of each size that the known extents allow.
  std::string compile(const TargetInfo& target) {
    const Pipelines pipelines = lower_pipelines(function_, target, options_.schedule);
    if (!pipelines.problem.empty()) return pipelines.problem;
    SizeRule rule = size_rule(pipelines, known_, target);
    if (options_.size && !rule.keep_only(*options_.size))
      return fmt::format("size '{}': the kernel has no schedules for such calls; it has {}", name_of(*options_.size), names_of(rule));
    const Halide::Target lowered_for = halide_target(target);
    Halide::Module module(fmt::format("attune_{}_{}", options_.name, symbol_part(target.name)),
                          target.device == Device::cpu ? with_checked_sizes(lowered_for) : lowered_for);
    for (const SizeRule::Entry& entry : rule.entries) add(module, pipelines.of.at(entry.size), target, lowered_for, entry.size, entry.limits);
    objects_.push_back(scratch_.file(fmt::format("{}.o", target.name)));
    module.compile({{Halide::OutputFileType::object, objects_.back()}});
    return {};
  }

  void add(Halide::Module& module, const LoweredPipeline& lowered, const TargetInfo& target, const Halide::Target& lowered_for, SizeClass size,
           const std::vector<ExtentLimit>& limits) {
    const std::string symbol = fmt::format("attune_{}_{}_{}_{}", symbol_part(options_.variant), manifest_.hash, symbol_part(target.name),
                                           name_of(size));
    Halide::Pipeline pipeline = lowered.pipeline;
    const Halide::Module compiled = pipeline.compile_to_module(lowered.arguments, symbol, lowered_for, Halide::LinkageType::ExternalPlusArgv);
    module.set_any_strict_float(module.any_strict_float() || compiled.any_strict_float());
    for (const auto& buffer : compiled.buffers()) module.append(buffer);
    for (const auto& function : compiled.functions()) module.append(function);
    Manifest::Code code{std::string(target.name), describe(lowered, size), std::string(target.features), symbol + "_argv", static_cast<int>(target.device), {}};
    for (const ExtentLimit& limit : limits) code.conditions.push_back({number_of(limit.dim), limit.smallest, limit.largest});
    manifest_.codes.push_back(std::move(code));
  }

  std::string link() {
    const TargetInfo& first = *options_.targets.front();
    const std::string log = scratch_.file("log"), name = options_.name;
    const std::string manifest = scratch_.file("manifest.o");
    if (std::string problem = write_manifest_object(manifest_, std::string(first.triple), false, manifest); !problem.empty()) return problem;
    std::vector<std::string> arguments = {"-r", "-o", scratch_.file(name + ".o"), manifest};
    arguments.insert(arguments.end(), objects_.begin(), objects_.end());
    if (std::string problem = run(std::string(first.linker), arguments, log); !problem.empty()) return problem;
    return options_.is_shared ? link_shared(log) : std::string();
  }

  /// A shared object that stands alone: with Halide's runtime, and with the table of kernels as its only symbol.
  std::string link_shared(const std::string& log) {
    const TargetInfo& first = *options_.targets.front();
    const std::string manifest = scratch_.file("library.o"), runtime = scratch_.file("halide_runtime.o"), script = scratch_.file("exports.map");
    if (std::string problem = write_manifest_object(manifest_, std::string(first.triple), true, manifest); !problem.empty()) return problem;
    write_halide_runtime(first, runtime);
    std::ofstream(script) << fmt::format("{{ global: attune_library_v1; {}; local: *; }};\n", manifest_symbol(manifest_));
    std::vector<std::string> arguments = {"-shared", "-s", "-Wl,--gc-sections", "-Wl,--version-script=" + script, "-o", scratch_.file(options_.name + ".so"), manifest, runtime};
    arguments.insert(arguments.end(), objects_.begin(), objects_.end());
    for (const char* library : {"-lpthread", "-ldl", "-lm"}) arguments.emplace_back(library);
    return run(first.linker == "ld" ? "c++" : "aarch64-linux-gnu-g++", arguments, log);
  }

  Emitted publish() {
    const std::string& name = options_.name;
    std::ofstream(scratch_.file(name + ".h")) << c_header(manifest_);
    std::ofstream(scratch_.file(name + ".hpp")) << cpp_header(manifest_);
    std::ofstream(scratch_.file(name + ".json")) << json_sidecar(manifest_);
    Emitted emitted;
    for (const char* suffix : {".o", ".h", ".hpp", ".json", ".so"}) {
      if (std::string_view(suffix) == ".so" && !options_.is_shared) continue;
      const std::string target = (fs::path(options_.directory) / (name + suffix)).string();
      std::error_code error;
      fs::rename(scratch_.file(name + suffix), target, error);
      if (error) return {{}, fmt::format("'{}': cannot be written: {}", target, error.message())};
      emitted.files.push_back(target);
    }
    return emitted;
  }

  mlir::func::FuncOp function_;
  const EmitOptions& options_;
  ScratchFolder scratch_;
  Manifest manifest_;
  KnownExtents known_;
  std::vector<std::string> objects_;
};

}  // namespace

Emitted emit_kernel(mlir::func::FuncOp staged, const EmitOptions& options) {
  try {
    return Emission(staged, options).run_all();
  } catch (const Halide::Error& error) {
    return {{}, std::string("internal: Halide refuses the pipeline: ") + error.what()};
  }
}

}  // namespace attune
