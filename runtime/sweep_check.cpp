#include "runtime/sweep_check.h"

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/words.h"

namespace attune {
namespace {

/// The numbers of the dims that a step's tensors and codes have.
std::vector<std::int32_t> all_dims_of(const attune_kernel_v5& kernel, const attune_step_v1& step) {
  std::vector<std::int32_t> dims(dims_of(step).begin(), dims_of(step).end());
  for (const std::int32_t tensor : tensors_of(step)) {
    const attune_view_v1* view = view_at(kernel, tensor);
    const std::span<const std::int32_t> own = view != nullptr ? dims_of(*view) : dims_of(kernel.tensors[tensor]);
    dims.insert(dims.end(), own.begin(), own.end());
  }
  for (const attune_code_v3& code : codes_of(step))
    for (const attune_condition_v1& condition : conditions_of(code)) dims.push_back(condition.dim);
  return dims;
}

/// What is wrong with a sweep that begins at `first_free` or behind; empty if nothing.
std::string sweep_problem(const attune_kernel_v5& kernel, const attune_sweep_v1& sweep, std::int32_t first_free) {
  if (sweep.first_step < first_free || sweep.step_count < 1 || sweep.step_count > kernel.step_count - sweep.first_step)
    return words("has ", sweep.step_count, " steps from number ", sweep.first_step, " on of ", kernel.step_count, ", of which ", first_free, " are before it");
  if (!is_table(sweep.blocks, sweep.dim_count, max_rank) || sweep.dim_count == 0 || sweep.starts == nullptr) return words("has ", sweep.dim_count, " dims; expected 1 to ", max_rank);
  for (std::size_t i = 0; i < blocks_of(sweep).size(); ++i) {
    const std::int32_t block = sweep.blocks[i], start = sweep.starts[i];
    const bool is_band = i == 0 && block >= 0 && block < kernel.dim_count && sweep.dim_count > 1 && is_band_of(kernel.dims[block], sweep.blocks[sweep.dim_count - 1]);
    if (!is_band && (block < 0 || block >= kernel.dim_count || kernel.dims[block].formula != attune_block)) return words("has dim number ", block, ", which is no block");
    if (start < 0 || start >= kernel.dim_count || kernel.dims[start].formula != (is_band ? attune_band_start : attune_start) || kernel.dims[start].operands[0] != block)
      return words("has dim number ", start, ", which is not the start of dim number ", block);
    const auto is_it = [&](const attune_sweep_v1& other) { return std::ranges::count(blocks_of(other), block) > (&other == &sweep ? 1 : 0); };
    if (std::any_of(kernel.sweeps, &sweep + 1, is_it)) return words("has dim number ", block, ", which it or one before it has already");
  }
  return {};
}

}  // namespace

std::string band_problem(const attune_kernel_v5& kernel, const attune_dim_v1& dim) {
  const bool is_band = dim.formula == attune_band;
  const std::span<const std::int32_t> operands = operands_of(dim);
  const std::size_t own = is_band ? 2 : 1;
  if (operands.size() != own && operands.size() != own + 2) return words("is a band of ", dim.operand_count, " operands");
  if (dim.value < -max_extent || dim.value > max_extent) return words("is a band by ", dim.value);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::int32_t formula = dims_of(kernel)[static_cast<std::size_t>(operands[i])].formula;
    const bool is_right = i + 1 == own ? formula == (is_band ? attune_block : attune_band) : !is_of_sweeps(formula);
    if (!is_right) return words("is a band that follows from dim ", operands[i], ", which it may not");
  }
  return {};
}

Result<void> check_sweeps(const attune_kernel_v5& kernel) {
  std::int32_t first_free = 0;
  for (const attune_sweep_v1& sweep : sweeps_of(kernel)) {
    if (const std::string problem = sweep_problem(kernel, sweep, first_free); !problem.empty()) return Error{words(who(kernel), ": a sweep of its manifest ", problem)};
    first_free = sweep.first_step + sweep.step_count;
  }
  for (std::int32_t number = 0; number < kernel.step_count; ++number) {
    const attune_sweep_v1* sweep = sweep_at(kernel, number);
    for (const std::int32_t dim : all_dims_of(kernel, kernel.steps[number])) {
      if (!changes_in_a_call(kernel, dim)) continue;
      const bool is_its = sweep != nullptr && (std::ranges::find(blocks_of(*sweep), dim) != blocks_of(*sweep).end() || std::ranges::find(starts_of(*sweep), dim) != starts_of(*sweep).end());
      if (!is_its) return Error{words(who(kernel), ": step ", number, " of its manifest has dim number ", dim, ", which none of its sweeps has")};
    }
  }
  return {};
}

}  // namespace attune
