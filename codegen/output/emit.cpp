#include "codegen/output/emit.h"

#include <fmt/format.h>
#include <llvm/Support/xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "codegen/files/publish.h"
#include "codegen/files/run_program.h"
#include "codegen/files/scratch_folder.h"
#include "codegen/files/whole_file.h"
#include "codegen/halide/halide_runtime.h"
#include "codegen/output/compile_steps.h"
#include "codegen/output/kernel_text.h"
#include "codegen/output/manifest.h"
#include "codegen/steps/steps.h"
#include "dsl/integer_range.h"
#include "runtime/abi.h"
#include "runtime/library.h"
#include "runtime/trailer.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

static_assert(static_cast<int>(Formula::free) == attune_free && static_cast<int>(Formula::fixed) == attune_fixed &&
              static_cast<int>(Formula::product) == attune_product && static_cast<int>(Formula::quotient) == attune_quotient &&
              static_cast<int>(Formula::sum) == attune_sum && static_cast<int>(Formula::slice) == attune_slice);
static_assert(extent_range.high == ATTUNE_MAX_EXTENT && Names::capacity == max_rank);
static_assert(Steps::bits == ATTUNE_SLICE_BITS, "the runtime takes slices of dims apart as the language packs them");

/// Writes one kernel.
class Emission {
 public:
  Emission(mlir::func::FuncOp function, const EmitOptions& options)
      : function_(function), options_(options), plan_(kernel_steps(function)), scratch_(options.directory) {}

  Emitted run_all() {
    if (!scratch_.exists()) return {{}, cannot_be_written(options_.directory, scratch_.error())};
    if (std::string problem = place_problem(options_.directory, names()); !problem.empty()) return {{}, std::move(problem)};
    describe();
    if (std::string problem = manifest_problem(manifest_); !problem.empty()) return {{}, std::move(problem)};
    for (const auto step : {&Emission::compile, &Emission::write_object, &Emission::write_shared, &Emission::write_texts})
      if (std::string problem = (this->*step)(); !problem.empty()) return {{}, std::move(problem)};
    if (std::string problem = publish(scratch_, options_.directory, names()); !problem.empty()) return {{}, std::move(problem)};
    Emitted emitted;
    for (const std::string& name : names()) emitted.files.push_back(place(name).string());
    return emitted;
  }

 private:
  bool has_object() const { return options_.files != KernelFiles::shared; }
  bool has_shared() const { return options_.files != KernelFiles::object; }

  int number_of(std::string_view dim) const {
    for (std::size_t i = 0; i < manifest_.dims.size(); ++i)
      if (manifest_.dims[i].name == dim) return static_cast<int>(i);
    return -1;
  }

  std::vector<int> numbers_of(const std::vector<std::string>& dims) const {
    std::vector<int> numbers;
    for (const std::string& dim : dims) numbers.push_back(number_of(dim));
    return numbers;
  }

  void describe() {
    manifest_.name = options_.name;
    manifest_.variant = options_.variant;
    manifest_.parameters = options_.parameters;
    std::string text;
    llvm::raw_string_ostream stream(text);
    function_.print(stream);
    for (const TargetInfo* target : options_.targets) stream << target->name;
    stream << options_.schedule.name << (options_.size ? name_of(*options_.size) : "");
    for (const Parameter& p : options_.schedule.values) stream << p.name << p.value;
    for (const KnownExtents& call : options_.calls)
      for (const auto& [dim, extent] : call) stream << dim << extent;
    for (const TunedFile& tuned : options_.schedule.tuned) stream << tuned_text(tuned);
    manifest_.hash = fmt::format("{:016x}", llvm::xxh3_64bits(text));
    for (const DimInfo& info : plan_.dims) {
      const Derivation& d = info.derivation;
      Manifest::Dim dim{std::string(info.name()), static_cast<int>(d.formula), {}, d.value};
      for (Name operand : d.operands) dim.operands.push_back(number_of(operand));
      const auto extent = plan_.known.find(info.name());
      if (d.formula == Formula::free && extent != plan_.known.end()) {
        dim.formula = static_cast<int>(Formula::fixed);
        dim.value = extent->second;
      }
      manifest_.dims.push_back(std::move(dim));
    }
    describe_sweeps();
    describe_tensors();
    const std::vector<int> numbers = tensor_numbers();
    for (const StepTensor& tensor : plan_.tensors)
      if (tensor.view) manifest_.views.push_back({numbers[tensor.view->of], numbers_of(tensor.dims), tensor.view->parts});
    for (const Step& step : plan_.steps) {
      Manifest::Step& described = manifest_.steps.emplace_back(std::string(step.kind()));
      for (const std::size_t input : step.inputs) described.inputs.push_back(numbers[input]);
      for (const std::size_t output : step.outputs) described.outputs.push_back(numbers[output]);
      described.dims = numbers_of(step.dims);
    }
  }

  /// Blocks follow from their wholes, and where they begin from blocks: what a call sets.
  void describe_sweeps() {
    for (const Sweep& sweep : plan_.sweeps) {
      Manifest::Sweep& described = manifest_.sweeps.emplace_back(static_cast<int>(sweep.first), static_cast<int>(sweep.count));
      for (const SweptDim& dim : sweep.dims) {
        described.blocks.push_back(number_of(dim.block));
        described.starts.push_back(number_of(dim.start));
        if (dim.band) {
          describe_band(dim, number_of(sweep.dims.back().block));
          continue;
        }
        std::vector<int> operands = numbers_of(dim.least_product);
        operands.insert(operands.begin(), number_of(dim.whole));
        manifest_.dims[static_cast<std::size_t>(described.blocks.back())] = {dim.block, attune_block, std::move(operands), dim.least};
        manifest_.dims[static_cast<std::size_t>(described.starts.back())] = {dim.start, attune_start, {described.blocks.back()}, 1};
      }
    }
  }

  /// `rows`: the number of their block.
  void describe_band(const SweptDim& dim, int rows) {
    const auto bounded = [&](std::vector<int> operands, const std::optional<Band::Side>& side, std::int64_t beyond) {
      if (side && !side->plus.empty()) operands.insert(operands.end(), {number_of(side->plus), number_of(side->minus)});
      return std::pair(std::move(operands), side ? side->constant : beyond);
    };
    const int block = number_of(dim.block), start = number_of(dim.start);
    auto [of_block, last] = bounded({number_of(dim.whole), rows}, dim.band->last, ATTUNE_MAX_EXTENT);
    auto [of_start, first] = bounded({block}, dim.band->first, -ATTUNE_MAX_EXTENT);
    manifest_.dims[static_cast<std::size_t>(block)] = {dim.block, attune_band, std::move(of_block), last};
    manifest_.dims[static_cast<std::size_t>(start)] = {dim.start, attune_band_start, std::move(of_start), first};
  }

  void describe_tensors() {
    for (const StepTensor& tensor : plan_.tensors) {
      if (tensor.view) continue;
      const attune_role role = tensor.role == StepTensor::Role::output ? attune_output : tensor.is_updated ? attune_updated : attune_input;
      (tensor.role == StepTensor::Role::stored ? manifest_.stored : manifest_.tensors).push_back({tensor.name, stored_as(tensor.element), role, numbers_of(tensor.dims)});
    }
  }

  /// By the plan's own: tensors of the call, what is stored, views.
  std::vector<int> tensor_numbers() const {
    std::size_t call = 0, stored = manifest_.tensors.size(), view = stored + manifest_.stored.size();
    std::vector<int> numbers;
    for (const StepTensor& tensor : plan_.tensors) {
      std::size_t& next = tensor.view ? view : tensor.role == StepTensor::Role::stored ? stored : call;
      numbers.push_back(static_cast<int>(next++));
    }
    return numbers;
  }

  /// The codes of the steps, each in an object.
  std::string compile() {
    const std::string symbol = fmt::format("attune_{}_{}", options_.variant, manifest_.hash);
    StepOptions options{options_.targets, options_.schedule, options_.size, options_.calls, options_.has_machine_code, symbol, options_.jobs, options_.codes_folder};
    CompiledSteps compiled = compile_steps(plan_, options);
    if (!compiled.problem.empty()) return compiled.problem;
    for (std::size_t i = 0; i < manifest_.steps.size(); ++i) manifest_.steps[i].codes = std::move(compiled.codes[i]);
    for (const std::string& bytes : compiled.objects) {
      // a name that no kernel's file has: those of a kernel are words, without a dot before the last
      const std::string object = fmt::format("code.{}.o", objects_.size());
      objects_.push_back(scratch_.file(object));
      if (std::string problem = write(object, bytes); !problem.empty()) return problem;
    }
    return {};
  }

  /// Of the kernel's files, in the order in which they get their places: who finds the last finds all.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const std::string_view suffix : {".h", ".hpp", ".json", ".o", ".so"})
      if (suffix == ".so" ? has_shared() : has_object()) names.push_back(options_.name + std::string(suffix));
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

  /// Links a file of the scratch folder, which is to be the place of its name in the end. The linker's temporary files are there, too: they end with this process.
  std::string link(const std::string& program, const std::vector<std::string>& arguments, const std::string& name) const {
    const ProgramEnd end = run_program(program, arguments, {}, {"TMPDIR=" + scratch_.path().string()});
    if (!end.is_found) return fmt::format("'{}' is not installed; it is needed to write kernels of this kind", program);
    return end.is_success ? std::string() : fmt::format("'{}': cannot be written: '{}' failed: {}", place(name).string(), program, end.reason);
  }

  std::string write_object() {
    if (!has_object()) return {};
    const std::string manifest = "manifest.kernel.o", name = options_.name + ".o";
    if (std::string problem = write_manifest(false, manifest); !problem.empty()) return problem;
    std::vector<std::string> arguments = {"-r", "-o", scratch_.file(name), scratch_.file(manifest)};
    arguments.insert(arguments.end(), objects_.begin(), objects_.end());
    return link(std::string(options_.targets.front()->linker), arguments, name);
  }

  /// A shared object that stands alone: with Halide's runtime, and with the table of kernels and its manifest as its only symbols; sealed by its trailer.
  std::string write_shared() {
    if (!has_shared()) return {};
    const TargetInfo& first = *options_.targets.front();
    const std::string manifest = "manifest.library.o", runtime = "halide.runtime.o", script = "exports.map", name = options_.name + ".so";
    if (std::string problem = write_manifest(true, manifest); !problem.empty()) return problem;
    if (std::string problem = write(runtime, halide_runtime_object(options_.targets)); !problem.empty()) return problem;
    const std::string exports = fmt::format("{{ global: attune_library_v1; {}; local: *; }};\n", manifest_symbol(manifest_));
    if (std::string problem = write(script, exports); !problem.empty()) return problem;
    // The linker would read all names of the C++ library, of which a kernel needs none.
    std::vector<std::string> arguments = {"-shared", "-s", "-nodefaultlibs", "-Wl,--gc-sections", "-Xlinker", "--version-script=" + scratch_.file(script), "-o", scratch_.file(name)};
    for (const std::string& object : {scratch_.file(manifest), scratch_.file(runtime)}) arguments.push_back(object);
    arguments.insert(arguments.end(), objects_.begin(), objects_.end());
    for (const char* library : {"-lpthread", "-ldl", "-lm", "-lc", "-lgcc"}) arguments.emplace_back(library);
    std::string problem = link(first.linker == "ld" ? "c++" : "aarch64-linux-gnu-g++", arguments, name);
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
    const Trailer trailer = trailer_of(std::as_bytes(std::span(content)));
    return write(name, content.append(reinterpret_cast<const char*>(&trailer), sizeof trailer));
  }

  std::string write_texts() {
    if (!has_object()) return {};
    const std::pair<const char*, std::string> texts[] = {{".h", c_header(manifest_)}, {".hpp", cpp_header(manifest_)}, {".json", json_sidecar(manifest_)}};
    for (const auto& [suffix, text] : texts)
      if (std::string problem = write(options_.name + suffix, text); !problem.empty()) return problem;
    return {};
  }

  mlir::func::FuncOp function_;
  const EmitOptions& options_;
  const KernelSteps plan_;
  ScratchFolder scratch_;
  Manifest manifest_;
  std::vector<std::string> objects_;
};

}  // namespace

Emitted emit_kernel(mlir::func::FuncOp staged, const EmitOptions& options) {
  return Emission(staged, options).run_all();
}

}  // namespace attune
