/// A graph as text of the dialect `attn`: what `attune show --stage mlir` prints and every command reads.
#pragma once

#include <string>

#include "tools/attune/options.h"

namespace attune {

/// The module, or the problem in words.
struct MlirText {
  std::string text, problem;
};
/// Of the graph as the language says it, or of its stages.
MlirText mlir_text(const Prepared& prepared, bool is_staged);

}  // namespace attune
