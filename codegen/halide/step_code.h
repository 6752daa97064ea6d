/// A step's code for calls of one size on a target: its schedule, and the Halide pipeline that it makes.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

#include "codegen/steps/code_generator.h"

namespace attune {

StepScheduleAnswer schedule_of(const CodeRequest& request);

/// `pipeline` computes the tensors that the step writes; its arguments are those that it reads, then the extents of the step's dims.
struct StepPipeline {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
};

/// Of a request that schedule_of has a schedule for. Throws Halide::Error.
StepPipeline pipeline_of(const CodeRequest& request);

/// The module of the pipeline, whose function takes void** arguments as runtime/abi.h says and is called SYMBOL_argv.
Halide::Module module_of(const StepPipeline& lowered, const TargetInfo& target, const std::string& symbol);

}  // namespace attune
