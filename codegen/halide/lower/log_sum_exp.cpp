#include <stdexcept>

#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

/// Stages that have the scores or the weights compute it beside these; of others a maximum and a sum are left (codegen/passes/part_log_sum_exp.h).
template <>
Lowered lower(const LogSumExp& op, const Site&) {
  throw std::logic_error("internal: " + std::string(op.name) + " is asked for outside of its stage");
}

}  // namespace attune
