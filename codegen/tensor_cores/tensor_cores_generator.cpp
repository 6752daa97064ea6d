#include "codegen/tensor_cores/tensor_cores_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/files/cuda_image.h"
#include "codegen/tensor_cores/attention_kernel.h"
#include "codegen/tensor_cores/gemm_kernel.h"
#include "codegen/tensor_cores/launcher.h"
#include "codegen/tensor_cores/ptx.h"
#include "schedules/mma/mma.h"

namespace attune {
namespace {

namespace cores = tensor_cores;

/// Of a block, on every device of the target; more has to be asked of the driver for each kernel.
constexpr int most_shared_bytes = 48 << 10;
constexpr std::int64_t aligned_columns = 8;  // of 2 bytes

cores::AttentionTiles attention_tiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  return {value("query_tile"), value("key_tile"), value("warp_rows")};
}
cores::GemmTiles gemm_tiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  return {value("row_tile"), value("column_tile"), value("warp_rows"), value("warp_columns"), value("stages")};
}

/// Sums of 32 rows and more than 64 columns, and queries as long, do not stay in registers, nor do addresses for each pair beside those of 64: unless
/// a user says so, a warp has 16 rows then.
void keep_in_registers(std::vector<Parameter>& parameters, const cores::AttentionStage& stage) {
  constexpr std::int64_t most = 64, few_rows = 16;
  if (std::max(stage.depth, stage.value_columns) <= most && !stage.reads_for_pairs) return;
  for (Parameter& parameter : parameters)
    if (parameter.name == "warp_rows") parameter.value = few_rows;
}

StepScheduleAnswer no_schedule(std::string problem) { return {{}, std::move(problem), false}; }

/// The schedule with the parameters that are chosen for it.
StepScheduleAnswer scheduled(const CodeRequest& request, std::string_view name) {
  const ScheduleInfo info = mma_schedule(name);
  ParameterAnswer chosen = choose_parameters(info, machine_of(request.target), request.size, request.step.key, request.choice);
  return {{std::string(name), std::move(chosen.parameters), std::move(chosen.origin), std::move(chosen.file), {}, {}, false, {}},
          std::move(chosen.problem),
          true};
}
void limit_shared_bytes(StepScheduleAnswer& answer, int bytes) {
  if (answer.problem.empty() && bytes > most_shared_bytes)
    answer.problem =
        fmt::format("schedule '{}': a block shares {} bytes; at most {} are there on every device", answer.schedule.name, bytes, most_shared_bytes);
}

StepScheduleAnswer attention_schedule(const CodeRequest& request) {
  const cores::AttentionAnswer answer = cores::attention_stage(request.plan, request.step);
  if (!answer.stage) return no_schedule(answer.problem);
  // Few queries fill no tile of rows: their keys are split over blocks of threads, by Halide's schedule, which takes no f16.
  if (request.size == SizeClass::few && answer.stage->element == Element::bf16) return no_schedule("tensor cores have no schedule that splits the keys of few queries");
  StepScheduleAnswer made = scheduled(request, mma_online_softmax);
  if (!made.problem.empty()) return made;
  if (made.schedule.origin != "command line") keep_in_registers(made.schedule.parameters, *answer.stage);
  limit_shared_bytes(made, cores::shared_bytes(attention_tiles(made.schedule.parameters), answer.stage->depth, answer.stage->value_columns));
  made.schedule.blocks = mma_schedule(mma_online_softmax).blocks(made.schedule.parameters);
  return made;
}
StepScheduleAnswer gemm_schedule(const CodeRequest& request) {
  const cores::GemmAnswer answer = cores::gemm_stage(request.plan, request.step);
  if (!answer.stage) return no_schedule(answer.problem);
  StepScheduleAnswer made = scheduled(request, mma_gemm);
  if (made.problem.empty()) limit_shared_bytes(made, gemm_tiles(made.schedule.parameters).shared_bytes());
  return made;
}

StepScheduleAnswer schedule(const CodeRequest& request) {
  if (request.target.device != Device::cuda) return no_schedule({});
  if (std::holds_alternative<OnlineSoftmaxRoles>(request.step.roles)) return attention_schedule(request);
  if (std::holds_alternative<GemmRoles>(request.step.roles)) return gemm_schedule(request);
  return no_schedule({});
}

/// What is built of a step: its kernels, and how they are launched.
cores::Launch build_attention(cores::Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const cores::AttentionStage stage = *cores::attention_stage(request.plan, request.step).stage;
  const cores::AttentionTiles tiles = attention_tiles(parameters);
  cores::Launch launch{{{stage.batch, 1}, {{stage.queries}, tiles.query_tile}},
                       tiles.threads(),
                       cores::shared_bytes(tiles, stage.depth, stage.value_columns),
                       {},
                       "attention",
                       {stage.query.input, stage.key.input, stage.value.input}};
  if (stage.depth % aligned_columns == 0 && stage.value_columns % aligned_columns == 0) launch.aligned_kernel = "attention_of_aligned_rows";
  if (!launch.aligned_kernel.empty()) cores::build_attention(builder, launch.aligned_kernel, request.plan, request.step, stage, tiles, true);
  cores::build_attention(builder, launch.kernel, request.plan, request.step, stage, tiles, false);
  return launch;
}
cores::Launch build_gemm(cores::Builder& builder, const CodeRequest& request, const std::vector<Parameter>& parameters) {
  const cores::GemmStage stage = *cores::gemm_stage(request.plan, request.step).stage;
  const cores::GemmTiles tiles = gemm_tiles(parameters);
  cores::Launch launch{{{stage.batch, 1}, {stage.rows, tiles.row_tile}, {stage.columns, tiles.column_tile}},
                       tiles.threads(),
                       tiles.shared_bytes(),
                       "gemm_of_aligned_rows",
                       "gemm",
                       {stage.a.input, stage.b.input}};
  for (const auto& [operand, own] : {std::pair(&stage.a, &stage.rows), std::pair(&stage.b, &stage.columns)}) {
    const std::vector<std::string>& along = !own->empty() && own->back() == operand->dims.back() ? *own : stage.over;
    if (along.size() > 1) launch.aligned_dims.push_back(along.back());
  }
  cores::build_gemm(builder, launch.aligned_kernel, request.plan, request.step, stage, tiles, true);
  cores::build_gemm(builder, launch.kernel, request.plan, request.step, stage, tiles, false);
  return launch;
}

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

CodeAnswer code(const CodeRequest& request, const std::string& symbol, CodeForm form) {
  const std::vector<Parameter> parameters = schedule(request).schedule.parameters;
  const auto context = cores::kernel_context();
  cores::Builder builder(mlir::UnknownLoc::get(context.get()), context.get());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  const bool is_attention = std::holds_alternative<OnlineSoftmaxRoles>(request.step.roles);
  const cores::Launch launch = is_attention ? build_attention(builder, request, parameters) : build_gemm(builder, request, parameters);
  if (form == CodeForm::loops) return {printed(*module), {}};
  cores::PtxAnswer ptx = cores::ptx_of(*module);
  if (!ptx.problem.empty() || form == CodeForm::assembly) return {std::move(ptx.text), std::move(ptx.problem)};
  if (!request.has_machine_code) return cores::launcher_object(request, symbol, ptx.text, launch);
  CudaImage image = cuda_image(ptx.text);
  return image.problem.empty() ? cores::launcher_object(request, symbol, image.bytes, launch) : CodeAnswer{{}, std::move(image.problem)};
}

}  // namespace

CodeGenerator tensor_cores_generator() { return {"tensor_cores", schedule, code}; }

}  // namespace attune
