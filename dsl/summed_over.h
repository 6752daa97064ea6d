/// Which dims an operation sums over.
#pragma once

#include "dsl/ops.h"

namespace attune {

/// The dims along which the result is a sum of products of one element of each operand; none of other operations.
inline Names summed_over(const AnyOp& any) {
  return std::visit(
      [](const auto& op) -> Names {
        if constexpr (requires { op.is_sum_of_products; }) return op.over;
        else return {};
      },
      any);
}

}  // namespace attune
