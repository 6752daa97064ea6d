/// From a module of stages to a Halide pipeline: every stage through its template, arguments and results as buffers.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <map>
#include <string>
#include <vector>

#include "codegen/lowered_stage.h"
#include "codegen/stage.h"
#include "codegen/targets.h"
#include "schedules/choice.h"

namespace attune {

/// `pipeline` computes the function's results; its arguments are the function's, in order.
struct LoweredPipeline {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
  std::vector<LoweredStage> stages;
  std::vector<ExtentLimit> limits;  ///< of all stages: calls for which this is the better pipeline
  bool is_made_for_size = false;    ///< a stage has a schedule that is made for calls of this size alone
};

/// Lowers a function whose body is stages (after form_stages). The problem is a user's: a parameter that no schedule has,
/// a value that is not legal, a stage for which the target has no schedule.
struct PipelineAnswer {
  LoweredPipeline lowered;
  std::string problem;
};
PipelineAnswer lower_pipeline(mlir::func::FuncOp function, const TargetInfo& target, SizeClass size, const ScheduleChoice& choice);

/// One for each size of call; the first problem otherwise.
struct Pipelines {
  std::map<SizeClass, LoweredPipeline> of;
  std::string problem;
};
Pipelines lower_pipelines(mlir::func::FuncOp function, const TargetInfo& target, const ScheduleChoice& choice);

}  // namespace attune
