#include "codegen/halide/halide_generator.h"

#include <sstream>

#include "codegen/halide/halide_target.h"
#include "codegen/halide/shared_bytes.h"
#include "codegen/halide/step_code.h"

namespace attune {
namespace {

/// Halide 21 computes halves wrongly on devices: there it has no schedule for a step that stores them, and another generator may have one.
StepScheduleAnswer schedule(const CodeRequest& request) {
  if (request.target.device == Device::cpu) return schedule_of(request);
  for (const auto& numbers : {request.step.inputs, request.step.outputs})
    for (const std::size_t number : numbers)
      if (const StepTensor& tensor = request.plan.tensors[number]; tensor.element == Element::f16)
        return {{}, "target '" + std::string(request.target.name) + "': stores no f16, and '" + tensor.name + "' is f16; f32 and bf16 are right there", false};
  return schedule_of(request);
}

CodeAnswer code(const CodeRequest& request, const std::string& symbol, CodeForm form) {
  try {
    Halide::Module module = module_of(pipeline_of(request), request.target, symbol);
    if (form == CodeForm::object && request.target.device != Device::cpu)
      if (std::string problem = add_shared_bytes(module, symbol); !problem.empty()) return {{}, std::move(problem)};
    if (form == CodeForm::object) return {object_of(module), {}};
    if (form == CodeForm::assembly) return {assembly_of(module), {}};
    std::ostringstream loops;
    loops << module;
    return {loops.str(), {}};
  } catch (const Halide::Error& error) {
    return {{}, std::string("internal: Halide refuses a stage: ") + error.what()};
  }
}

}  // namespace

CodeGenerator halide_generator() { return {"halide", schedule, code}; }

}  // namespace attune
