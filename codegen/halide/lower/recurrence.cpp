#include <stdexcept>

#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

/// A state that is carried on is no expression of one element: its stage alone computes it (codegen/halide/bodies/stage.h, RecurrenceBody).
template <>
Lowered lower(const Recurrence& op, const Site&) {
  throw std::logic_error("internal: " + std::string(op.name) + " is asked for outside of its stage");
}
template <>
Lowered lower(const RecurrenceState& op, const Site&) {
  throw std::logic_error("internal: " + std::string(op.name) + " is asked for outside of its stage");
}

}  // namespace attune
