#include "codegen/tensor_cores/tensor_cores_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/files/cuda_image.h"
#include "codegen/tensor_cores/core_schedule.h"
#include "codegen/tensor_cores/ptx.h"
#include "codegen/tensor_cores/shared_tile.h"
#include "schedules/mma/mma.h"

namespace attune {
namespace {

namespace cores = tensor_cores;
using cores::CoreSchedule;

/// That a block may share: on every device of the target without asking, and on those of compute capability 9.0 if the driver is asked for it.
constexpr int shared_bytes_of_all = 48 << 10, shared_bytes_of_9_0 = 227 << 10;

StepScheduleAnswer no_schedule(std::string problem) { return {{}, std::move(problem), false}; }

/// What a user says of parameters stands.
void fit(const CodeRequest& request, const CoreSchedule& core, StepSchedule& schedule) {
  core.fit(request, schedule.parameters);
  if (schedule.origin != "command line") return;
  for (const Parameter& said : request.choice.values)
    for (Parameter& parameter : schedule.parameters)
      if (parameter.name == said.name) parameter.value = said.value;
}

/// The schedule with the parameters that are chosen for it.
StepScheduleAnswer scheduled(const CodeRequest& request, const CoreSchedule& core, const ScheduleInfo& info) {
  ParameterAnswer chosen = choose_parameters(info, machine_of(request.target), request.size, request.step.key, request.choice);
  const std::int64_t small_up_to = chosen.small_up_to;
  StepScheduleAnswer made{{std::string(core.name), std::move(chosen.parameters), std::move(chosen.origin), std::move(chosen.file), {}, {}, false, {}},
                          std::move(chosen.problem),
                          true};
  if (!made.problem.empty()) return made;
  StepSchedule& schedule = made.schedule;
  if (core.fit != nullptr) fit(request, core, schedule);
  const bool is_for_all = info.some_devices.empty();
  const int bytes = core.shared_bytes(request, schedule.parameters), most = is_for_all ? shared_bytes_of_all : shared_bytes_of_9_0;
  if (bytes > most)
    made.problem = fmt::format("schedule '{}': a block shares {} bytes; at most {} are there on {}", schedule.name, bytes, most,
                               is_for_all ? "every device" : info.some_devices);
  if (info.blocks != nullptr) schedule.blocks = info.blocks(schedule.parameters);
  schedule.is_made_for_size = info.made_for && *info.made_for == request.size;
  if (schedule.is_made_for_size) {
    const auto& roles = std::get<OnlineSoftmaxRoles>(request.step.roles);
    schedule.limits =
        limits_of_few(request.plan.before_renames(std::string(roles.queries)), request.plan.before_renames(std::string(roles.keys)), small_up_to);
  }
  schedule.devices = info.some_devices;
  return made;
}

bool is_for_stage(const CoreSchedule& core, const CodeRequest& request) { return mma_schedule(core.name).stage == request.step.kind(); }

/// Of the schedules for all devices the one that the command line names, or that is made for calls of the size unless it names another one, or that
/// is for all sizes; null if there is none for the stage.
const CoreSchedule* schedule_for_all(const CodeRequest& request) {
  const CoreSchedule* found = nullptr;
  const bool is_named = std::ranges::any_of(
      cores::core_schedules(), [&](const CoreSchedule* core) { return core->name == request.choice.name && is_for_stage(*core, request); });
  for (const CoreSchedule* core : cores::core_schedules()) {
    const ScheduleInfo info = mma_schedule(core->name);
    if (!is_for_stage(*core, request) || !info.some_devices.empty()) continue;
    if (core->name == request.choice.name) return core;
    const bool is_of_size = info.made_for && *info.made_for == request.size && !is_named;
    if (is_of_size || (!info.made_for && found == nullptr)) found = core;
  }
  return found;
}

/// Those for some devices stand beside one for all sizes, unless the command line names it.
StepScheduleAnswer schedule(const CodeRequest& request) {
  if (request.target.device != Device::cuda) return no_schedule({});
  if (std::holds_alternative<WeightedSumRoles>(request.step.roles)) return no_schedule("tensor cores compute attention with a softmax, and its weights have none");
  const CoreSchedule* for_all = schedule_for_all(request);
  if (for_all == nullptr) return no_schedule({});
  if (std::string refusal = for_all->refusal(request); !refusal.empty()) return no_schedule(std::move(refusal));
  StepScheduleAnswer answer = scheduled(request, *for_all, mma_schedule(for_all->name));
  if (!answer.problem.empty() || mma_schedule(for_all->name).made_for || for_all->name == request.choice.name) return answer;
  for (const CoreSchedule* core : cores::core_schedules()) {
    const ScheduleInfo info = mma_schedule(core->name);
    if (!is_for_stage(*core, request) || info.some_devices.empty() || !core->refusal(request).empty()) continue;
    StepScheduleAnswer made = scheduled(request, *core, info);
    if (!made.problem.empty()) return made;
    answer.schedule.beside.push_back(std::move(made.schedule));
  }
  return answer;
}

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// The kernels of a schedule: as text, or as an image and how it is launched.
struct BuiltKernels {
  cores::LaunchedImage launched;
  std::string text, problem;
};
BuiltKernels build_kernels(const CodeRequest& request, const StepSchedule& schedule, CodeForm form) {
  const auto core = std::ranges::find(cores::core_schedules(), schedule.name, &CoreSchedule::name);
  const auto context = cores::kernel_context();
  cores::Builder builder(mlir::UnknownLoc::get(context.get()), context.get());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  BuiltKernels built{{{}, (*core)->build(builder, request, schedule.parameters)}, {}, {}};
  if (form == CodeForm::loops) {
    built.text = printed(*module);
    return built;
  }
  const bool is_for_all = schedule.devices.empty();
  cores::PtxAnswer ptx = cores::ptx_of(*module, is_for_all ? cores::Gpus::from_8_0 : cores::Gpus::of_9_0);
  built.text = std::move(ptx.text);
  built.problem = std::move(ptx.problem);
  built.launched.image = built.text;
  if (!built.problem.empty() || form == CodeForm::assembly || !request.has_machine_code) return built;
  CudaImage image = cuda_image(built.text, is_for_all ? CudaArchitectures{} : only_9_0);
  built.launched.image = std::move(image.bytes);
  built.problem = std::move(image.problem);
  return built;
}

CodeAnswer code(const CodeRequest& request, const std::string& symbol, CodeForm form) {
  const StepSchedule chosen = schedule(request).schedule;
  BuiltKernels on_all = build_kernels(request, chosen, form), on_some;
  if (on_all.problem.empty() && !chosen.beside.empty()) on_some = build_kernels(request, chosen.beside.front(), form);
  for (BuiltKernels* built : {&on_all, &on_some})
    if (!built->problem.empty()) return {{}, std::move(built->problem)};
  if (form != CodeForm::object) return {on_all.text + on_some.text, {}};
  return cores::launcher_object(request, symbol, on_all.launched, chosen.beside.empty() ? nullptr : &on_some.launched);
}

}  // namespace

CodeGenerator tensor_cores_generator() { return {"tensor_cores", schedule, code}; }

}  // namespace attune
