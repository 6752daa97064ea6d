/// The pass before stages are formed: logarithms of sums that no stage has beside its weights.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace attune {

/// Afterwards a log_sum_exp is computed in a stage that has its scores in tiles or its softmax's weights; any other is
///   m + ln sum exp(x - m), m = max(x), but no less than the lowest number
/// of reductions that are stages of their own. As one loop over the row it would look for the maximum anew for each element.
/// Stands after the passes that look for a softmax's logarithm, and before form_stages, with whose `fuse` it asks which stages there will be.
void part_log_sum_exp(mlir::ModuleOp module, bool fuse = true);

}  // namespace attune
