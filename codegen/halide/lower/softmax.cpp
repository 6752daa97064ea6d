#include <stdexcept>

#include "codegen/halide/lower/lowered_graph.h"

namespace attune {

/// A weight is no expression of one element: row_softmax computes a row's, attention those of its tiles (codegen/halide/bodies/stage.h).
template <>
Lowered lower(const Softmax& op, const Site&) {
  throw std::logic_error("internal: " + std::string(op.name) + " is asked for outside of its stage");
}

}  // namespace attune
