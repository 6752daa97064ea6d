/// What a kernel's manifest says of its tensors and dims, checked once and told in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/abi.h"
#include "runtime/result.h"

namespace attune {

/// Limits of a manifest; a call's tables have these sizes and stand on the stack.
inline constexpr int max_tensors = ATTUNE_MAX_TENSORS, max_dims = ATTUNE_MAX_DIMS, max_steps = ATTUNE_MAX_STEPS, max_stored = ATTUNE_MAX_STORED, max_views = ATTUNE_MAX_VIEWS, max_sweeps = ATTUNE_MAX_SWEEPS;
inline constexpr std::int64_t max_extent = ATTUNE_MAX_EXTENT;

inline std::span<const attune_dim_v1> dims_of(const attune_kernel_v5& kernel) {
  return {kernel.dims, static_cast<std::size_t>(kernel.dim_count)};
}
/// Of a dim whose extent is another in each block of a sweep.
constexpr bool is_of_sweeps(std::int32_t formula) { return formula >= attune_block && formula <= attune_band_start; }
/// Of an extent.
constexpr bool is_block(std::int32_t formula) { return formula == attune_block || formula == attune_band; }
constexpr bool is_start(std::int32_t formula) { return formula == attune_start || formula == attune_band_start; }
inline std::span<const attune_tensor_v1> tensors_of(const attune_kernel_v5& kernel) {
  return {kernel.tensors, static_cast<std::size_t>(kernel.tensor_count)};
}
/// What steps store for one another.
inline std::span<const attune_tensor_v1> stored_of(const attune_kernel_v5& kernel) {
  return {kernel.tensors + kernel.tensor_count, static_cast<std::size_t>(kernel.stored_count)};
}
inline std::span<const attune_view_v1> views_of(const attune_kernel_v5& kernel) {
  return {kernel.views, static_cast<std::size_t>(kernel.view_count)};
}
/// The view that a step's tensor is; none if it is a tensor of the call or is stored between steps.
inline const attune_view_v1* view_at(const attune_kernel_v5& kernel, std::int32_t tensor) {
  const std::int32_t tensors = kernel.tensor_count + kernel.stored_count;
  return tensor < tensors ? nullptr : &kernel.views[tensor - tensors];
}
inline std::span<const attune_sweep_v1> sweeps_of(const attune_kernel_v5& kernel) {
  return {kernel.sweeps, static_cast<std::size_t>(kernel.sweep_count)};
}
inline std::span<const std::int32_t> blocks_of(const attune_sweep_v1& sweep) { return {sweep.blocks, static_cast<std::size_t>(sweep.dim_count)}; }
inline std::span<const std::int32_t> starts_of(const attune_sweep_v1& sweep) { return {sweep.starts, static_cast<std::size_t>(sweep.dim_count)}; }
/// The sweep that the step is in; none if it is called once.
inline const attune_sweep_v1* sweep_at(const attune_kernel_v5& kernel, std::int32_t step) {
  for (const attune_sweep_v1& sweep : sweeps_of(kernel))
    if (sweep.first_step <= step && step < sweep.first_step + sweep.step_count) return &sweep;
  return nullptr;
}
/// The number of the tensor whose memory it is: of a view that of the whole.
inline std::int32_t memory_at(const attune_kernel_v5& kernel, std::int32_t tensor) {
  const attune_view_v1* view = view_at(kernel, tensor);
  return view == nullptr ? tensor : view->tensor;
}
inline std::span<const attune_step_v1> steps_of(const attune_kernel_v5& kernel) {
  return {kernel.steps, static_cast<std::size_t>(kernel.step_count)};
}
inline std::span<const std::int32_t> inputs_of(const attune_step_v1& step) {
  return {step.tensors, static_cast<std::size_t>(step.input_count)};
}
inline std::span<const std::int32_t> outputs_of(const attune_step_v1& step) {
  return {step.tensors + step.input_count, static_cast<std::size_t>(step.output_count)};
}
inline std::span<const std::int32_t> tensors_of(const attune_step_v1& step) {
  return {step.tensors, static_cast<std::size_t>(step.input_count + step.output_count)};
}
inline std::span<const std::int32_t> dims_of(const attune_step_v1& step) {
  return {step.dims, static_cast<std::size_t>(step.dim_count)};
}
inline std::span<const attune_code_v3> codes_of(const attune_step_v1& step) { return {step.codes, static_cast<std::size_t>(step.code_count)}; }
inline std::span<const std::int32_t> dims_of(const attune_tensor_v1& tensor) {
  return {tensor.dims, static_cast<std::size_t>(tensor.rank)};
}
inline std::span<const std::int32_t> dims_of(const attune_view_v1& view) { return {view.dims, static_cast<std::size_t>(view.rank)}; }
inline std::span<const std::int32_t> operands_of(const attune_dim_v1& dim) {
  return {dim.operands, static_cast<std::size_t>(dim.operand_count)};
}
/// Whether a dim of the tensor is a block of a sweep.
inline bool is_swept(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor) {
  for (const std::int32_t dim : dims_of(tensor))
    if (is_block(kernel.dims[dim].formula)) return true;
  return false;
}
/// Whether the dim is a block of `whole`.
inline bool is_block_of(const attune_dim_v1& dim, std::int32_t whole) { return is_block(dim.formula) && dim.operands[0] == whole; }
/// Whether the dim is the band of a block of rows.
inline bool is_band_of(const attune_dim_v1& dim, std::int32_t rows) { return dim.formula == attune_band && dim.operands[1] == rows; }
/// What the value of a slice says.
struct SlicedPositions {
  std::int64_t start, step, count;
};
constexpr SlicedPositions sliced_positions(const attune_dim_v1& dim) {
  constexpr std::int64_t low = (std::int64_t{1} << ATTUNE_SLICE_BITS) - 1;
  return {dim.value >> 2 * ATTUNE_SLICE_BITS, (dim.value >> ATTUNE_SLICE_BITS) & low, dim.value & low};
}
/// The least extent that a slice can be taken of.
constexpr std::int64_t least_sliced(const attune_dim_v1& dim) {
  const SlicedPositions p = sliced_positions(dim);
  return p.count == 0 ? p.start : p.start + (p.count - 1) * p.step + 1;
}
/// The extent of a slice of so many positions, which are not too few.
constexpr std::int64_t slice_extent(const attune_dim_v1& dim, std::int64_t operand) {
  const SlicedPositions p = sliced_positions(dim);
  return p.count == 0 ? (operand - p.start + p.step - 1) / p.step : p.count;
}
inline std::span<const attune_condition_v1> conditions_of(const attune_code_v3& code) {
  return {code.conditions, static_cast<std::size_t>(code.condition_count)};
}

/// Refuses a manifest of another ABI version, one beyond the limits, and one whose tables do not fit together.
Result<void> check_manifest(const attune_kernel_v5& kernel);

/// An output, or an input that the call updates.
inline bool is_written(const attune_tensor_v1& tensor) { return tensor.role != attune_input; }

/// "kernel 'multi_head': input 'k'"
std::string who(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor);
std::string who(const attune_kernel_v5& kernel);

/// "f16 [batch x heads x keys x 64]": a fixed dim is its number.
std::string text_of(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor);

/// "heads * depth", "tokens / 4", "keys + memory", "keys[1:]", "64"; of a free dim its name.
std::string formula_text(const attune_kernel_v5& kernel, const attune_dim_v1& dim);

/// The same with the operands' extents: "8 * 64".
std::string formula_text(const attune_kernel_v5& kernel, const attune_dim_v1& dim, std::span<const std::int64_t> extents);

/// The kernel in a few lines: its tensors, derived dims and the codes of its steps.
std::string description_of(const attune_kernel_v5& kernel);

}  // namespace attune
