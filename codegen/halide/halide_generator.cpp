#include "codegen/halide/halide_generator.h"

#include <sstream>

#include "codegen/halide/halide_target.h"
#include "codegen/halide/step_code.h"

namespace attune {
namespace {

CodeAnswer code(const CodeRequest& request, const std::string& symbol, CodeForm form) {
  try {
    const Halide::Module module = module_of(pipeline_of(request), request.target, symbol);
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

CodeGenerator halide_generator() { return {"halide", schedule_of, code}; }

}  // namespace attune
