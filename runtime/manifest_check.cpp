#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "runtime/signature.h"
#include "runtime/storage.h"
#include "runtime/sweep_check.h"
#include "runtime/tensor.h"
#include "runtime/words.h"

namespace attune {
namespace {

bool is_on_an_input(const attune_kernel_v5& kernel, std::int32_t dim) {
  for (const attune_tensor_v1& tensor : tensors_of(kernel))
    for (const std::int32_t axis : dims_of(tensor))
      if (tensor.role != attune_output && axis == dim) return true;
  return false;
}

/// What is wrong with dim `number`; empty if nothing.
std::string dim_problem(const attune_kernel_v5& kernel, std::int32_t number) {
  const attune_dim_v1& dim = dims_of(kernel)[static_cast<std::size_t>(number)];
  if (dim.name == nullptr) return "has no name";
  if (!is_table(dim.operands, dim.operand_count, max_dims)) return "has no table of operands";
  for (const std::int32_t operand : operands_of(dim)) {
    if (operand < 0 || operand >= number) return words("follows from dim ", operand, ", which does not stand before it");
    if (!is_of_sweeps(dim.formula) && changes_in_a_call(kernel, operand)) return words("follows from dim ", operand, ", which changes during a call");
  }
  const std::int32_t operands = dim.operand_count;
  switch (dim.formula) {
    case attune_free:
      return is_on_an_input(kernel, number) ? "" : "is free but on no input";
    case attune_fixed:
      return dim.value >= 0 && dim.value <= max_extent ? "" : words("is fixed to ", dim.value);
    case attune_product:
      return dim.value >= 0 && dim.value <= max_extent ? "" : words("is a product with ", dim.value);
    case attune_quotient:
      return operands == 1 && dim.value >= 1 ? "" : words("is a quotient of ", operands, " operands by ", dim.value);
    case attune_slice:
      return operands == 1 && dim.value >= 1 && sliced_positions(dim).step >= 1 ? "" : words("is a slice of ", operands, " operands by ", dim.value);
    case attune_sum:
      return operands >= 1 ? "" : "is a sum of nothing";
    case attune_band:
    case attune_band_start:
      return band_problem(kernel, dim);
    case attune_block:
      for (const std::int32_t operand : operands_of(dim))
        if (changes_in_a_call(kernel, operand)) return words("follows from dim ", operand, ", which changes during a call");
      return operands >= 1 && dim.value >= 1 ? "" : words("is a block of ", operands, " operands, of at least ", dim.value);
    case attune_start:
      return operands == 1 && dims_of(kernel)[static_cast<std::size_t>(dim.operands[0])].formula == attune_block ? "" : "is the start of what is no block";
    default:
      return words("has the unknown formula ", dim.formula);
  }
}

std::string tensor_problem(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor) {
  if (tensor.name == nullptr) return "has no name";
  if (tensor.role < attune_input || tensor.role > attune_updated) return words("has the unknown role ", tensor.role);
  if (tensor.storage < 0 || tensor.storage >= storage_count) return words("has the unknown storage ", tensor.storage);
  if (!is_table(tensor.dims, tensor.rank, max_rank)) return words("has ", tensor.rank, " dims; at most ", max_rank);
  for (const std::int32_t dim : dims_of(tensor)) {
    if (dim < 0 || dim >= kernel.dim_count) return words("has dim number ", dim, " of ", kernel.dim_count);
    if (is_start(kernel.dims[dim].formula)) return words("has dim number ", dim, ", which is a position and no extent");
  }
  return {};
}

/// A tensor of a call is whole.
std::string argument_problem(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor) {
  if (std::string problem = tensor_problem(kernel, tensor); !problem.empty()) return problem;
  for (const std::int32_t dim : dims_of(tensor))
    if (changes_in_a_call(kernel, dim)) return words("has dim number ", dim, ", which changes during a call");
  return {};
}

/// How many of `dims`, from the first on, the dim is the product of; 0 if there are not such.
std::size_t factors_of(const attune_kernel_v5& kernel, std::int32_t number, std::span<const std::int32_t> dims) {
  if (!dims.empty() && dims[0] == number) return 1;
  const attune_dim_v1& dim = dims_of(kernel)[static_cast<std::size_t>(number)];
  if (dim.formula != attune_product || dim.value != 1) return 0;
  std::size_t taken = 0;
  for (const std::int32_t operand : operands_of(dim)) {
    const std::size_t count = factors_of(kernel, operand, dims.subspan(taken));
    if (count == 0) return 0;  // each operand takes one at least, so that this ends soon
    taken += count;
  }
  return taken;
}

/// The dim is the product of these, as `merge` makes it.
bool is_product_of(const attune_kernel_v5& kernel, std::int32_t dim, std::span<const std::int32_t> parts) {
  return factors_of(kernel, dim, parts) == parts.size();
}

/// These are parts of the dim, as `split` makes them: a quotient of it, and fixed ones whose product is what it is divided by.
bool is_split_into(const attune_kernel_v5& kernel, std::int32_t number, std::span<const std::int32_t> parts) {
  std::int64_t product = 1, divisor = 0;
  for (const std::int32_t part : parts) {
    const attune_dim_v1& dim = dims_of(kernel)[static_cast<std::size_t>(part)];
    if (dim.formula == attune_fixed && dim.value <= max_extent) product = std::min(product * dim.value, max_extent + 1);  // both are below 2^31
    else if (divisor == 0 && dim.formula == attune_quotient && operands_of(dim)[0] == number) divisor = dim.value;
    else return false;
  }
  return product == divisor;
}

std::string view_problem(const attune_kernel_v5& kernel, const attune_view_v1& view) {
  const std::int32_t tensors = kernel.tensor_count + kernel.stored_count;
  if (view.tensor < 0 || view.tensor >= tensors) return words("is of tensor number ", view.tensor, " of ", tensors);
  const attune_tensor_v1& tensor = kernel.tensors[view.tensor];
  if (!is_table(view.dims, view.rank, max_rank)) return words("has ", view.rank, " dims; at most ", max_rank);
  for (const std::int32_t dim : dims_of(view))
    if (dim < 0 || dim >= kernel.dim_count) return words("has dim number ", dim, " of ", kernel.dim_count);
  if (!is_table(view.parts, tensor.rank, max_rank)) return words("has no table of the parts of '", tensor.name, "'");
  std::span<const std::int32_t> left = dims_of(view);
  for (std::int32_t axis = 0; axis < tensor.rank; ++axis) {
    const std::int32_t count = view.parts[axis];
    if (count < 1 || count > static_cast<std::int32_t>(left.size())) return words("has ", count, " parts of a dim where ", left.size(), " dims are left");
    const auto parts = left.first(static_cast<std::size_t>(count));
    const bool is_block = count == 1 && is_block_of(dims_of(kernel)[static_cast<std::size_t>(parts[0])], tensor.dims[axis]);
    if (!is_block && !is_product_of(kernel, tensor.dims[axis], parts) && !is_split_into(kernel, tensor.dims[axis], parts))
      return words("has parts whose product dim number ", tensor.dims[axis], " is not");
    left = left.subspan(parts.size());
  }
  return left.empty() ? "" : words("has ", left.size(), " dims more than '", tensor.name, "' is made of");
}

std::string code_problem(const attune_kernel_v5& kernel, const attune_code_v3& code) {
  if (code.target == nullptr || code.schedule == nullptr || code.features == nullptr || code.cpus == nullptr || code.run == nullptr)
    return "lacks a name or its function";
  if (code.device < attune_cpu || code.device > attune_vulkan) return words("is for the unknown device ", code.device);
  if (!is_table(code.conditions, code.condition_count, max_dims)) return "has no table of conditions";
  for (const attune_condition_v1& condition : conditions_of(code))
    if (condition.dim < 0 || condition.dim >= kernel.dim_count) return words("has a condition on dim number ", condition.dim);
  return {};
}

/// Which tensors there are when a step begins.
using Written = std::array<bool, max_tensors + max_stored>;

/// `is_swept`: a sweep repeats the step, which may then read the result of the blocks before.
std::string step_problem(const attune_kernel_v5& kernel, const attune_step_v1& step, bool is_swept, Written& written) {
  constexpr int most_of_step = max_tensors + max_stored + max_views;
  if (step.stage == nullptr) return "lacks the kind of its stage";
  if (step.input_count < 0 || step.input_count > most_of_step || step.output_count < 1 || step.output_count > most_of_step || step.tensors == nullptr)
    return "has no table of tensors";
  if (!is_table(step.dims, step.dim_count, max_dims)) return "has no table of dims";
  if (!is_table(step.codes, step.code_count, max_tensors) || step.code_count == 0) return words("has ", step.code_count, " codes");
  const std::int32_t tensors = kernel.tensor_count + kernel.stored_count + kernel.view_count;
  for (const std::int32_t tensor : tensors_of(step))
    if (tensor < 0 || tensor >= tensors) return words("has tensor number ", tensor, " of ", tensors);
  const auto is_in = [](std::span<const std::int32_t> tensors, std::int32_t tensor) { return std::ranges::find(tensors, tensor) != tensors.end(); };
  for (const std::int32_t tensor : inputs_of(step)) {
    const bool is_there = written[static_cast<std::size_t>(memory_at(kernel, tensor))] || (is_swept && is_in(outputs_of(step), tensor));
    if (!is_there) return words("reads tensor number ", tensor, ", which no step before it writes");
  }
  for (const std::int32_t tensor : outputs_of(step)) {
    const bool is_update = tensor < kernel.tensor_count && kernel.tensors[tensor].role == attune_updated && is_in(inputs_of(step), tensor);
    bool& is_written = written[static_cast<std::size_t>(memory_at(kernel, tensor))];
    if (is_written && !is_update) return words("writes tensor number ", tensor, ", which is an input or written before");
    is_written = true;
  }
  for (const std::int32_t dim : dims_of(step))
    if (dim < 0 || dim >= kernel.dim_count) return words("has dim number ", dim, " of ", kernel.dim_count);
  for (const attune_code_v3& code : codes_of(step))
    if (const std::string problem = code_problem(kernel, code); !problem.empty()) return words("has a code that ", problem);
  return {};
}

/// The targets of the step's codes, in their order; nothing if those of one do not stand together.
std::vector<std::string_view> targets_of(const attune_step_v1& step) {
  std::vector<std::string_view> targets;
  for (const attune_code_v3& code : codes_of(step)) {
    if (!targets.empty() && targets.back() == code.target) continue;
    if (std::ranges::find(targets, code.target) != targets.end()) return {};
    targets.emplace_back(code.target);
  }
  return targets;
}

Result<void> check_steps(const attune_kernel_v5& kernel) {
  Written written{};
  for (std::size_t t = 0; t < tensors_of(kernel).size(); ++t) written[t] = kernel.tensors[t].role != attune_output;
  const std::span<const attune_step_v1> steps = steps_of(kernel);
  for (std::size_t number = 0; number < steps.size(); ++number) {
    if (const std::string problem = step_problem(kernel, steps[number], sweep_at(kernel, static_cast<std::int32_t>(number)) != nullptr, written); !problem.empty())
      return Error{words(who(kernel), ": step ", number, " of its manifest ", problem)};
    if (const auto targets = targets_of(steps[number]); targets.empty() || targets != targets_of(steps[0]))
      return Error{words(who(kernel), ": step ", number, " of its manifest has codes for other targets than the first, or mixes them")};
  }
  const auto is_updated_by = [&](std::int32_t tensor) {
    return std::ranges::any_of(steps,
                               [&](const attune_step_v1& step) { return std::ranges::find(outputs_of(step), tensor) != outputs_of(step).end(); });
  };
  for (std::int32_t tensor = 0; tensor < kernel.tensor_count; ++tensor)
    if (kernel.tensors[tensor].role == attune_updated && !is_updated_by(tensor)) return Error{words(who(kernel), ": no step of its manifest updates tensor number ", tensor)};
  for (std::int32_t tensor = 0; tensor < kernel.tensor_count + kernel.stored_count; ++tensor)
    if (!written[static_cast<std::size_t>(tensor)]) return Error{words(who(kernel), ": no step of its manifest writes tensor number ", tensor)};
  return check_sweeps(kernel);
}

}  // namespace

Result<void> check_manifest(const attune_kernel_v5& kernel) {
  if (kernel.abi_version != ATTUNE_ABI_VERSION)
    return Error{words("kernel: its manifest is of ABI version ", kernel.abi_version, "; this runtime reads version ", ATTUNE_ABI_VERSION)};
  if (kernel.name == nullptr || kernel.variant == nullptr || kernel.parameters == nullptr || kernel.hash == nullptr)
    return Error{"kernel: its manifest lacks its name, variant, parameters or hash"};
  if (!is_table(kernel.dims, kernel.dim_count, max_dims) || !is_table(kernel.tensors, kernel.tensor_count, max_tensors) ||
      !is_table(kernel.tensors, kernel.stored_count, max_stored) || !is_table(kernel.steps, kernel.step_count, max_steps) || kernel.step_count == 0 ||
      !is_table(kernel.views, kernel.view_count, max_views) || !is_table(kernel.sweeps, kernel.sweep_count, max_sweeps))
    return Error{words(who(kernel), ": its manifest has ", kernel.dim_count, " dims, ", kernel.tensor_count, " tensors, ", kernel.stored_count,
                       " stored between steps, ", kernel.view_count, " views, ", kernel.sweep_count, " sweeps, and ", kernel.step_count, " steps; expected at most ",
                       max_dims, ", ", max_tensors, ", ", max_stored, ", ", max_views, " and ", max_sweeps, ", and 1 to ", max_steps)};
  bool has_output = false;
  for (const attune_tensor_v1& tensor : tensors_of(kernel)) {
    if (const std::string problem = argument_problem(kernel, tensor); !problem.empty())
      return Error{words(who(kernel), ": a tensor of its manifest ", problem)};
    if (has_output && tensor.role != attune_output) return Error{words(who(kernel), ": its manifest has inputs after outputs")};
    has_output = has_output || tensor.role == attune_output;
  }
  for (const attune_tensor_v1& tensor : stored_of(kernel))
    if (const std::string problem = tensor_problem(kernel, tensor); !problem.empty())
      return Error{words(who(kernel), ": what its manifest stores between steps ", problem)};
  for (std::int32_t number = 0; number < kernel.dim_count; ++number)
    if (const std::string problem = dim_problem(kernel, number); !problem.empty())
      return Error{words(who(kernel), ": dim number ", number, " of its manifest ", problem)};
  for (std::int32_t number = 0; number < kernel.view_count; ++number)
    if (const std::string problem = view_problem(kernel, kernel.views[number]); !problem.empty())
      return Error{words(who(kernel), ": view number ", number, " of its manifest ", problem)};
  return check_steps(kernel);
}

}  // namespace attune
