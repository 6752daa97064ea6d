#include "codegen/emit.h"

#include <fmt/format.h>
#include <llvm/Support/xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "codegen/extents.h"
#include "codegen/halide_runtime.h"
#include "codegen/halide_target.h"
#include "codegen/import.h"
#include "codegen/kernel_text.h"
#include "codegen/manifest.h"
#include "codegen/memory_checks.h"
#include "codegen/pipeline.h"
#include "codegen/publish.h"
#include "codegen/run_program.h"
#include "codegen/scratch_folder.h"
#include "codegen/size_rule.h"
#include "codegen/whole_file.h"
#include "runtime/abi.h"
#include "runtime/library.h"
#include "runtime/trailer.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

/// Links a file, which is to be `place` in the end; the problem in words, or nothing.
std::string link_file(const std::string& program, const std::vector<std::string>& arguments, const fs::path& place) {
  const ProgramEnd end = run_program(program, arguments);
  if (!end.is_found) return fmt::format("'{}' is not installed; it is needed to write kernels of this kind", program);
  return end.is_success ? std::string() : fmt::format("'{}': cannot be written: '{}' failed: {}", place.string(), program, end.reason);
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
      : function_(function), options_(options), scratch_(options.directory) {}

  Emitted run_all() {
    if (!scratch_.exists()) return {{}, cannot_be_written(options_.directory, scratch_.error())};
    if (std::string problem = place_problem(options_.directory, names()); !problem.empty()) return {{}, std::move(problem)};
    describe_tensors();
    if (std::string problem = manifest_problem(manifest_); !problem.empty()) return {{}, std::move(problem)};
    for (const TargetInfo* target : options_.targets)
      if (std::string problem = compile(*target); !problem.empty()) return {{}, std::move(problem)};
    for (const auto step : {&Emission::write_object, &Emission::write_shared, &Emission::write_texts})
      if (std::string problem = (this->*step)(); !problem.empty()) return {{}, std::move(problem)};
    if (std::string problem = publish(scratch_, options_.directory, names()); !problem.empty()) return {{}, std::move(problem)};
    Emitted emitted;
    for (const std::string& name : names()) emitted.files.push_back(place(name).string());
    return emitted;
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
    // a name that no kernel's file has: those of a kernel are words, without a dot before the last
    const std::string object = fmt::format("code.{}.o", target.name);
    objects_.push_back(scratch_.file(object));
    return write(object, object_of(module));
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

  /// Of the kernel's files, in the order in which they get their places: who finds the last finds all.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const char* suffix : {".h", ".hpp", ".json", ".o", ".so"})
      if (std::string_view(suffix) != ".so" || options_.is_shared) names.push_back(options_.name + suffix);
    return names;
  }
  fs::path place(const std::string& name) const { return fs::path(options_.directory) / name; }

  /// Writes a file of the scratch folder. What a user is told names its place, or that of the kernel.
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::error_code error = write_file(scratch_.file(name), {bytes});
    const bool is_own = std::ranges::count(names(), name) != 0;
    return error ? cannot_be_written(place(is_own ? name : names().back()), error) : std::string();
  }

  std::string write_manifest(bool is_library, const std::string& name) const {
    const ManifestObject object = manifest_object(manifest_, std::string(options_.targets.front()->triple), is_library);
    return object.problem.empty() ? write(name, object.bytes) : object.problem;
  }

  std::string write_object() {
    const std::string manifest = "manifest.kernel.o", name = options_.name + ".o";
    if (std::string problem = write_manifest(false, manifest); !problem.empty()) return problem;
    std::vector<std::string> arguments = {"-r", "-o", scratch_.file(name), scratch_.file(manifest)};
    arguments.insert(arguments.end(), objects_.begin(), objects_.end());
    return link_file(std::string(options_.targets.front()->linker), arguments, place(name));
  }

  /// A shared object that stands alone: with Halide's runtime, and with the table of kernels as its only symbol; sealed by its trailer.
  std::string write_shared() {
    if (!options_.is_shared) return {};
    const TargetInfo& first = *options_.targets.front();
    const std::string manifest = "manifest.library.o", runtime = "halide.runtime.o", script = "exports.map", name = options_.name + ".so";
    if (std::string problem = write_manifest(true, manifest); !problem.empty()) return problem;
    if (std::string problem = write(runtime, halide_runtime_object(options_.targets)); !problem.empty()) return problem;
    const std::string exports = fmt::format("{{ global: attune_library_v1; {}; local: *; }};\n", manifest_symbol(manifest_));
    if (std::string problem = write(script, exports); !problem.empty()) return problem;
    std::vector<std::string> arguments = {"-shared", "-s", "-Wl,--gc-sections", "-Xlinker", "--version-script=" + scratch_.file(script), "-o", scratch_.file(name)};
    for (const std::string& object : {scratch_.file(manifest), scratch_.file(runtime)}) arguments.push_back(object);
    arguments.insert(arguments.end(), objects_.begin(), objects_.end());
    for (const char* library : {"-lpthread", "-ldl", "-lm"}) arguments.emplace_back(library);
    std::string problem = link_file(first.linker == "ld" ? "c++" : "aarch64-linux-gnu-g++", arguments, place(name));
    if (problem.empty()) problem = seal(name);
    return problem.empty() && opens_here(first) ? opening_problem(name) : problem;
  }

  /// What a user would be told who opened the file; nothing if it opens.
  std::string opening_problem(const std::string& name) const {
    const Result<Library> library = Library::open(scratch_.file(name));
    if (library) return {};
    std::string_view reason = library.error().message;
    const std::string who = fmt::format("kernel file '{}': ", scratch_.file(name));
    if (reason.starts_with(who)) reason.remove_prefix(who.size());  // the path is of a folder that is gone at the end
    return fmt::format("'{}': cannot be written: what was linked cannot be opened: {}", place(name).string(), reason);
  }

  std::string seal(const std::string& name) const {
    std::ifstream file(scratch_.file(name), std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    std::error_code error;
    if (content.size() != fs::file_size(scratch_.file(name), error)) return fmt::format("'{}': cannot be read after it was linked", place(name).string());
    const attune_trailer_v1 trailer = trailer_of(std::as_bytes(std::span(content)));
    return write(name, content.append(reinterpret_cast<const char*>(&trailer), sizeof trailer));
  }

  std::string write_texts() {
    const std::pair<const char*, std::string> texts[] = {{".h", c_header(manifest_)}, {".hpp", cpp_header(manifest_)}, {".json", json_sidecar(manifest_)}};
    for (const auto& [suffix, text] : texts)
      if (std::string problem = write(options_.name + suffix, text); !problem.empty()) return problem;
    return {};
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
