/// gpu_pack: fills a folder with what gpu_check runs on a machine with a GPU (checks.h), and that program itself.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "codegen/files/scratch_folder.h"
#include "codegen/files/whole_file.h"
#include "tools/attune/converted.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/trial.h"
#include "tools/attune/work.h"
#include "tools/gpu_check/headlines.h"
#include "tools/measure/score_mask.h"
#include "tools/npy.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t quick_divisor = 64;  // of the extents of --quick

struct PackOptions {
  std::string folder, target = "cuda";
  std::vector<std::string> only;
};

/// A compiled kernel in the folder, opened as far as a machine without its device can.
struct Compiled {
  std::optional<Kernel> kernel;
  std::string problem;
};
Compiled compile(const KernelSpec& spec, const Prepared& prepared, const fs::path& folder) {
  const ScratchFolder scratch(folder);
  if (!scratch.exists()) return {{}, no_scratch_folder(scratch)};
  const WrittenKernel made =
      compile_kernel(prepared, {.name = spec.name, .directory = scratch.path().string(), .files = KernelFiles::shared, .has_machine_code = true});
  if (!made.problem.empty()) return {{}, made.problem};
  const fs::path place = folder / (spec.name + ".so");
  fs::rename(made.files.back(), place);
  const Result<Library> library = Library::open(place);
  if (!library) return {{}, library.error().message};
  return {library->kernels().front(), {}};
}

/// Tensors of the kernel for a call, without values.
PackedCall call_of(const Kernel& kernel, const Shape& extents) {
  PackedCall call;
  for (const auto tensors : {kernel.inputs(), kernel.outputs()})
    for (const attune_tensor_v1& tensor : tensors)
      call.tensors.push_back({tensor.name, static_cast<attune_storage>(tensor.storage), extents_of(kernel, tensor, extents)});
  call.input_count = kernel.inputs().size();
  return call;
}

/// The calls whose values are compared, of those dims of which the caller may choose: odd extents below and beyond one tile of queries and
/// keys, the latter of few heads so that the folder stays small, and few queries with more keys than a split of them has.
std::vector<Shape> checked_shapes(const Prepared& prepared) {
  std::vector<Shape> shapes;
  for (const Shape& wanted : {Shape{{"queries", 5}, {"keys", 37}}, Shape{{"batch", 1}, {"heads", 2}, {"queries", 129}, {"keys", 129}},
                              Shape{{"batch", 1}, {"heads", 2}, {"queries", 1}, {"keys", 300}}}) {
    Shape shape;
    for (const DimInfo& info : prepared.graph.graph.dim_infos())
      if (const auto extent = wanted.find(info.name()); extent != wanted.end() && info.derivation.formula == Formula::free)
        shape.insert(*extent);
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (const auto& [dim, extent] : shape) text += fmt::format("{}{}={}", text.empty() ? "" : ",", dim, extent);
  return text;
}

/// A call with inputs and the interpreter's outputs in files of the folder. The problem in words.
std::string pack_check(const Prepared& prepared, const Kernel& kernel, const KernelSpec& spec, const Shape& shape, const fs::path& folder,
                       PackedKernel& packed) {
  const FilledShape filled = fill_shape(prepared, text_of(shape));
  if (!filled.problem.empty()) return filled.problem;
  const Graph& graph = prepared.graph.graph;
  const Arrays inputs =
      spec.deviations.empty() ? random_inputs(graph, filled.extents, 1) : normal_inputs(graph, filled.extents, 1, spec.deviations);
  const Trial trial = trial_of(kernel, filled.extents, inputs);
  const Judge right = trial.judged(graph);
  if (!right.problem.empty()) return right.problem;
  PackedCall call = call_of(kernel, filled.extents);
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    PackedTensor& tensor = call.tensors[i];
    const std::string file = fmt::format("{}_{}_{}", packed.name, packed.checks.size(), tensor.name);
    const StoredArray& array = trial.arrays[i];
    if (i < call.input_count) {
      tensor.values = file + ".npy";
      if (const Result<void> written = write_npy(folder / tensor.values, {npy_type_of(array.storage), array.extents, array.bytes}); !written)
        return written.error().message;
    }
    if (std::ranges::count(trial.results, i) == 0) continue;
    tensor.expected = file + "_expected.npy";
    tensor.allowed = right.allowed.at(tensor.name);
    const NpyArray expected = NpyArray::of<double>(array.extents, right.outputs.at(tensor.name).data);
    if (const Result<void> written = write_npy(folder / tensor.expected, expected); !written) return written.error().message;
  }
  packed.checks.push_back(std::move(call));
  return {};
}

double element_count(const PackedTensor& tensor) {
  double count = 1;
  for (const std::int64_t extent : tensor.extents) count *= static_cast<double>(extent);
  return count;
}

/// A call to be measured; `divisor` makes its extents smaller. The problem in words.
std::string pack_row(const Prepared& prepared, const Kernel& kernel, const KernelSpec& spec, std::int64_t divisor,
                     std::optional<PackedRow>& packed) {
  const Headline& headline = *spec.headline;
  ShapeAnswer shape = parse_shape(headline.shape, spec.name);
  if (!shape.problem.empty()) return shape.problem;
  for (auto& [dim, extent] : shape.extents) extent = std::max<std::int64_t>(1, extent / divisor);
  const FilledShape filled = fill_shape(prepared, text_of(shape.extents));
  if (!filled.problem.empty()) return filled.problem;
  const KernelReport report = report_kernel(prepared, *prepared.targets.front());
  if (!report.problem.empty()) return report.problem;
  if (const std::vector<std::string> inputs = mask_inputs(report.staged); !inputs.empty())
    return fmt::format("{}: what it computes depends on the input '{}'; a row that is measured has a mask of positions alone", spec.name, inputs[0]);
  const Work work = work_of(report, filled.extents, {});
  PackedRow row{call_of(kernel, filled.extents), work.flops, 0, headline.goal};
  for (const PackedTensor& tensor : row.call.tensors) {
    if (!headline.bytes_of.empty() && std::ranges::find(headline.bytes_of, tensor.name) == headline.bytes_of.end()) continue;
    row.bytes += element_count(tensor) * static_cast<double>(bytes_of(tensor.storage));
  }
  if (headline.flops_of_element > 0) row.flops = headline.flops_of_element * element_count(row.call.tensors.back());
  if (headline.is_by_blocks) row.goal.least /= work.all_blocks().share();
  packed = std::move(row);
  return {};
}

/// Everything of one kernel, or the problem in words.
std::string pack_kernel(const KernelSpec& spec, const fs::path& folder, Checks& checks) {
  const Prepared prepared = spec.graph ? prepare(spec.options, *spec.graph) : prepare(spec.options);
  if (!prepared.problem.empty()) return prepared.problem;
  const Compiled compiled = compile(spec, prepared, folder);
  if (!compiled.problem.empty() && spec.may_be_refused) {
    checks.left_out.push_back(fmt::format("{}: {}", spec.name, compiled.problem));
    fmt::print("left out: {}\n", checks.left_out.back());
    return {};
  }
  if (!compiled.problem.empty()) return compiled.problem;
  PackedKernel packed{spec.name, prepared.graph.name, prepared.graph.parameters, spec.options.types, {}, {}, {}};
  for (const Shape& shape : checked_shapes(prepared))
    if (std::string problem = pack_check(prepared, *compiled.kernel, spec, shape, folder, packed); !problem.empty()) return problem;
  if (spec.headline) {
    for (auto& [row, divisor] : {std::pair<std::optional<PackedRow>&, std::int64_t>{packed.full, 1}, {packed.quick, quick_divisor}})
      if (std::string problem = pack_row(prepared, *compiled.kernel, spec, divisor, row); !problem.empty()) return problem;
  }
  checks.kernels.push_back(std::move(packed));
  fmt::print("{}\n", spec.name);
  std::fflush(stdout);
  return {};
}

/// Those that are asked for, and what their goals name; the problem in words.
struct ChosenSpecs {
  std::vector<KernelSpec> specs;
  std::string problem;
};
ChosenSpecs chosen(const PackOptions& options) {
  std::vector<KernelSpec> all = packed_kernels(options.target);
  if (options.only.empty()) return {std::move(all), {}};
  std::set<std::string> names;
  for (const std::string& name : options.only) {
    const auto spec = std::ranges::find(all, name, &KernelSpec::name);
    if (spec == all.end()) {
      std::string known;
      for (const KernelSpec& one : all) known += (known.empty() ? "" : ", ") + one.name;
      return {{}, fmt::format("--only '{}': there is no such kernel; there are {}", name, known)};
    }
    names.insert(name);
  }
  names = with_compared(std::move(names), all);
  std::erase_if(all, [&](const KernelSpec& spec) { return !names.contains(spec.name); });
  return {std::move(all), {}};
}

int pack(const PackOptions& options) {
  const TargetInfo* const target = find_target(options.target);
  if (target == nullptr || target->device == Device::cpu)
    return refuse(fmt::format("--target '{}': kernels are packed for cuda, opencl or vulkan", options.target));
  const ChosenSpecs specs = chosen(options);
  if (!specs.problem.empty()) return refuse(specs.problem);
  const fs::path folder = options.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (std::error_code ignored; !fs::is_directory(folder, ignored))
    return refuse(fmt::format("'{}': is not a folder, and none can be made there: {}", options.folder, error.message()));
  Checks checks{options.target, {}, {}};
  for (const KernelSpec& spec : specs.specs)
    if (const std::string problem = pack_kernel(spec, folder, checks); !problem.empty())
      return refuse(fmt::format("{}: {}", spec.name, problem));
  const fs::path runner = fs::read_symlink("/proc/self/exe").parent_path() / "gpu_check";
  fs::copy_file(runner, folder / "gpu_check", fs::copy_options::overwrite_existing);
  // The last, so that a folder that has it is whole.
  if (const std::string problem = write_whole(folder / checks_file, {text_of(checks)}); !problem.empty()) return refuse(problem);
  return 0;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  using namespace attune;
  remove_scratch_folders_on_signals();
  auto options = std::make_shared<PackOptions>();
  Program program{"gpu_pack", "Compiles kernels for a machine with a GPU, on which nothing can be built.",
                  "Then: FOLDER/gpu_check on that machine.", "gpu_pack"};
  const Command command = program.command("pack", "Fill a folder with kernels, values and the program that runs them");
  command.text("FOLDER", options->folder, "Where to; files of an earlier call are replaced", Need::required);
  command.text("--target", options->target, "cuda, opencl or vulkan: there values alone are compared, for calls copy tensors");
  command.texts("--only", options->only, "NAME,...: these kernels, and those that their speed is compared with", Need::optional, ',');
  command.action([options] { return pack(*options); });
  try {
    const Program::Chosen chosen = program.parse(argc, argv);
    return chosen.problem.empty() ? chosen.run() : refuse(chosen.problem);
  } catch (const std::exception& error) {
    return refuse(fmt::format("internal: {}", error.what()));
  }
}
