/// LLVM's assembly as an object file.
#pragma once

#include <string>
#include <string_view>

#include "codegen/steps/code_generator.h"

namespace attune {

/// The object for the target of a triple, whose places are relative (PIC); or an internal problem, which calls the assembly `what`.
CodeAnswer llvm_object(const std::string& assembly, std::string_view triple, std::string_view what);

}  // namespace attune
