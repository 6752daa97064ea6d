#include <fmt/format.h>

#include <algorithm>

#include "codegen/dialect/identifier.h"
#include "codegen/output/manifest.h"
#include "runtime/abi.h"

namespace attune {
namespace {

/// The fixed extents of the tensor's dims, multiplied; at most one above what a kernel counts.
std::int64_t known_elements(const Manifest& m, const Manifest::Tensor& tensor) {
  std::int64_t elements = 1;
  for (const int number : tensor.dims) {
    const Manifest::Dim& dim = m.dims[static_cast<std::size_t>(number)];
    if (dim.formula == attune_fixed) elements = std::min(elements * dim.value, ATTUNE_MAX_ELEMENTS + 1);  // both are below 2^32
  }
  return elements;
}

std::string extent_problem(const Manifest& m, const std::string& who) {
  for (const Manifest::Dim& dim : m.dims)
    if ((dim.formula == attune_fixed || dim.formula == attune_product) && dim.value > ATTUNE_MAX_EXTENT)
      return fmt::format("{}: dim {} is {}{}; kernels count extents up to {}", who, dim.name, dim.formula == attune_product ? "a multiple of " : "", dim.value,
                         ATTUNE_MAX_EXTENT);
  for (const Manifest::Tensor& tensor : m.tensors)
    if (known_elements(m, tensor) > ATTUNE_MAX_ELEMENTS)
      return fmt::format("{}: '{}' has more elements than {} by its fixed extents; kernels count no further", who, tensor.name, ATTUNE_MAX_ELEMENTS);
  return {};
}

}  // namespace

std::string manifest_problem(const Manifest& m) {
  if (std::string problem = name_problem("kernel", m.name); !problem.empty()) return problem;
  if (std::string problem = name_problem("variant", m.variant); !problem.empty()) return problem;
  const std::string who = fmt::format("kernel '{}'", m.name);
  for (const Manifest::Tensor& tensor : m.tensors)
    if (std::string problem = name_problem(who + (tensor.role == attune_output ? ": output" : ": input"), tensor.name); !problem.empty())
      return problem;
  if (m.tensors.size() > ATTUNE_MAX_TENSORS)
    return fmt::format("{}: has {} inputs and outputs; {} are the most", who, m.tensors.size(), ATTUNE_MAX_TENSORS);
  if (m.steps.size() > ATTUNE_MAX_STEPS) return fmt::format("{}: has {} stages; {} are the most", who, m.steps.size(), ATTUNE_MAX_STEPS);
  if (m.dims.size() > ATTUNE_MAX_DIMS) return fmt::format("{}: has {} dims; {} are the most", who, m.dims.size(), ATTUNE_MAX_DIMS);
  return extent_problem(m, who);
}

}  // namespace attune
