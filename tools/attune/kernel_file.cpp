#include "tools/attune/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "codegen/dialect/import.h"
#include "codegen/files/scratch_folder.h"
#include "codegen/files/whole_file.h"
#include "codegen/output/emit.h"
#include "codegen/passes/compile.h"
#include "tools/attune/compiler_digest.h"

namespace attune {
namespace {

std::string names_of_targets_here() {
  std::string names;
  for (const TargetInfo& target : targets())
    if (runs_here(target)) names += (names.empty() ? "" : ", ") + std::string(target.name);
  return names.empty() ? "none" : names;
}

}  // namespace

CodesFolder kept_codes() {
  const char* const kept = std::getenv("ATTUNE_CODES");
  if (kept == nullptr || *kept == '\0') return {};
  const std::string path = fmt::format("{}/{}", kept, compiler_digest);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? CodesFolder{{}, "ATTUNE_CODES: " + cannot_be_written(path, error)} : CodesFolder{path, {}};
}

WrittenKernel compile_kernel(const Prepared& prepared, const KernelFileOptions& file) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const LoadedGraph& graph = prepared.graph;
  StagedModule staged = compile_to_stages(graph.graph, graph.name, graph.parameters, prepared.staging, context);
  if (!staged.problem.empty()) return {{}, staged.problem};
  EmitOptions options;
  options.name = file.name.empty() ? graph.name : file.name;
  options.variant = graph.name;
  options.parameters = graph.parameters;
  options.targets = prepared.targets;
  options.schedule = prepared.schedule;
  options.size = file.size;
  options.calls = file.calls;
  options.directory = file.directory;
  options.files = file.files;
  options.has_machine_code = file.has_machine_code;
  options.jobs = file.jobs;
  options.codes_folder = file.codes_folder;
  Emitted emitted = emit_kernel(function_of(*staged.module), options);
  return {std::move(emitted.files), std::move(emitted.problem)};
}

OpenKernel kernel_of(const Library& library, std::string_view name, const std::string& device) {
  Result<Kernel> kernel = device.empty() ? library.kernel(name) : library.kernel(name, device);
  if (!kernel) return {{}, kernel.error().message};
  return {std::move(kernel).value(), {}};
}

void add_device_option(const Command& command, std::string& device) {
  command.text("--device", device, "Whose code runs: cpu, opencl, cuda, vulkan, a device of their drivers as cuda:1 or cuda:H100, or one of the kernel's targets; the CPU's comes first without it");
}

OpenKernel open_kernel(const Prepared& prepared, const OpenOptions& options) {
  const auto is_for_here = [](const TargetInfo* target) { return target->device != Device::cpu || runs_here(*target); };
  if (std::ranges::none_of(prepared.targets, is_for_here))
    return {{}, fmt::format("target '{}': this machine cannot run it; it runs {}", prepared.targets[0]->name, names_of_targets_here())};
  const ScratchFolder folder;
  if (!folder.exists()) return {{}, no_scratch_folder(folder)};
  CodesFolder codes = kept_codes();
  if (!codes.problem.empty()) return {{}, std::move(codes.problem)};
  const WrittenKernel file = compile_kernel(prepared, {.directory = folder.path().string(),
                                                    .files = KernelFiles::shared,
                                                    .size = options.size,
                                                    .calls = options.calls,
                                                    .jobs = options.jobs,
                                                    .codes_folder = codes.path});
  if (!file.problem.empty()) return {{}, file.problem};
  const Result<Library> library = Library::open(file.files.back());
  if (!library) return {{}, library.error().message};
  return kernel_of(*library, prepared.graph.name, options.device);
}

}  // namespace attune
