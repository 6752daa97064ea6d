#include <algorithm>

#include "runtime/arguments.h"
#include "runtime/words.h"

namespace attune {
namespace {

constexpr std::int64_t unbound = -1;

std::int64_t extent_at(const Tensor& tensor, std::size_t axis) { return tensor.extents[axis]; }

/// Storage, rank and the range of every extent.
Result<void> check_form(const attune_kernel_v5& kernel, const attune_tensor_v1& expected, const Tensor& given) {
  if (given.storage != expected.storage || given.rank != expected.rank) {
    if (!is_known(given.storage))
      return Error{
          words(who(kernel, expected), " has the unknown storage ", static_cast<int>(given.storage), "; expected ", text_of(kernel, expected))};
    return Error{words(who(kernel, expected), " is ", text_of(given), ", expected ", text_of(kernel, expected))};
  }
  if (given.stride_count != given.rank)
    return Error{words(who(kernel, expected), " has ", given.rank, " extents and ", given.stride_count,
                       " strides; expected as many strides as extents")};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(given.rank); ++axis)
    if (const std::int64_t extent = extent_at(given, axis); extent < 0 || extent > max_extent)
      return Error{words(who(kernel, expected), " is ", text_of(given), ": ",
                         dims_of(kernel)[static_cast<std::size_t>(expected.dims[axis])].name, " = ", extent, "; expected 0 to ",
                         max_extent)};
  return {};
}

void bind_free_dims(const attune_kernel_v5& kernel, Arguments arguments, DimExtents& extents) {
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    const attune_tensor_v1& tensor = tensors_of(kernel)[t];
    if (tensor.role == attune_output) continue;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor.rank); ++axis)
      if (std::int64_t& extent = extents[static_cast<std::size_t>(tensor.dims[axis])]; extent == unbound)
        extent = extent_at(*arguments[t], axis);
  }
}

/// The extent of a derived dim; a number above max_extent where it would be larger; unbound if a quotient leaves a rest or a slice
/// has too few positions.
std::int64_t derive(const attune_dim_v1& dim, const DimExtents& extents) {
  std::int64_t extent = dim.formula == attune_product ? dim.value : 0;
  for (const std::int32_t number : operands_of(dim)) {
    const std::int64_t operand = extents[static_cast<std::size_t>(number)];
    if (dim.formula == attune_slice) return operand >= least_sliced(dim) ? slice_extent(dim, operand) : unbound;
    if (is_block(dim.formula)) return operand;  // the whole, until a call chooses (sweeps.h)
    if (is_start(dim.formula)) return 0;
    if (dim.formula == attune_quotient) return operand % dim.value == 0 ? operand / dim.value : unbound;
    // Both factors are at most max_extent + 1: neither product nor sum overflows.
    extent = std::min(dim.formula == attune_product ? extent * operand : extent + operand, max_extent + 1);
  }
  return extent;
}

Result<void> bind_dims(const attune_kernel_v5& kernel, Arguments arguments, DimExtents& extents) {
  const std::span<const attune_dim_v1> dims = dims_of(kernel);
  for (std::size_t d = 0; d < dims.size(); ++d) extents[d] = dims[d].formula == attune_free ? unbound : dims[d].value;
  bind_free_dims(kernel, arguments, extents);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].formula <= attune_fixed) continue;
    extents[d] = derive(dims[d], extents);
    if (extents[d] == unbound && dims[d].formula == attune_slice)
      return Error{words(who(kernel), ": ", dims[d].name, " = ", formula_text(kernel, dims[d]), ": ",
                         dims[static_cast<std::size_t>(dims[d].operands[0])].name, " is ", extents[static_cast<std::size_t>(dims[d].operands[0])],
                         "; expected at least ", least_sliced(dims[d]))};
    if (extents[d] == unbound)
      return Error{words(who(kernel), ": ", dims[d].name, " = ", formula_text(kernel, dims[d]), ": ",
                         extents[static_cast<std::size_t>(dims[d].operands[0])], " is not a multiple of ", dims[d].value)};
    if (extents[d] > max_extent)
      return Error{words(who(kernel), ": ", dims[d].name, " = ", formula_text(kernel, dims[d]), ": ",
                         formula_text(kernel, dims[d], extents), " is too large; expected 0 to ", max_extent)};
  }
  return {};
}

/// The sentence about an axis whose extent is not that of its dim.
Error mismatch(const attune_kernel_v5& kernel, Arguments arguments, std::size_t tensor, std::size_t axis, const DimExtents& extents) {
  const attune_tensor_v1& expected = tensors_of(kernel)[tensor];
  const std::int32_t number = expected.dims[axis];
  const attune_dim_v1& dim = dims_of(kernel)[static_cast<std::size_t>(number)];
  std::string text =
      words(who(kernel, expected), " is ", text_of(*arguments[tensor]), ": ", dim.name, " = ", extent_at(*arguments[tensor], axis));
  const std::int64_t extent = extents[static_cast<std::size_t>(number)];
  if (dim.formula == attune_fixed) return {words(text, "; expected ", extent)};
  if (dim.formula != attune_free) {
    const std::string values = formula_text(kernel, dim, extents), value = words(extent);
    return {words(text, "; expected ", formula_text(kernel, dim), " = ", values == value ? "" : values + " = ", value)};
  }
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    const attune_tensor_v1& first = tensors_of(kernel)[t];
    if (std::ranges::find(dims_of(first), number) != dims_of(first).end())
      return {words(text, "; input '", first.name, "' is ", text_of(*arguments[t]), " and has ", dim.name, " = ", extent)};
  }
  return {words("internal: ", text, "; the dim is on no input")};
}

}  // namespace

Result<void> check_shapes(const attune_kernel_v5& kernel, Arguments arguments, DimExtents& extents) {
  for (std::size_t t = 0; t < arguments.size(); ++t)
    if (Result<void> form = check_form(kernel, tensors_of(kernel)[t], *arguments[t]); !form) return form;
  if (Result<void> bound = bind_dims(kernel, arguments, extents); !bound) return bound;
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    const attune_tensor_v1& tensor = tensors_of(kernel)[t];
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor.rank); ++axis)
      if (extent_at(*arguments[t], axis) != extents[static_cast<std::size_t>(tensor.dims[axis])])
        return mismatch(kernel, arguments, t, axis, extents);
  }
  return {};
}

}  // namespace attune
