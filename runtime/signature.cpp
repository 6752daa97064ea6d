#include "runtime/signature.h"

#include <string_view>

#include "runtime/storage.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// The formula with `operand(number)` in the place of each operand.
template <class OperandText>
std::string write_formula(const attune_dim_v1& dim, const OperandText& operand) {
  std::string text;
  if (dim.formula == attune_fixed) return words(dim.value);
  if (dim.formula == attune_free) return dim.name;
  if (dim.formula == attune_product && dim.value != 1) text = words(dim.value);
  for (const std::int32_t number : operands_of(dim)) add_to_list(text, operand(number), dim.formula == attune_sum ? " + " : " * ");
  if (dim.formula == attune_slice) {
    const SlicedPositions p = sliced_positions(dim);
    return words(text, "[", p.start, ":", p.count > 0 ? words(least_sliced(dim)) : "", p.step > 1 ? words(":", p.step) : "", "]");
  }
  if (is_block(dim.formula)) return words("a block of ", operand(operands_of(dim)[0]));
  if (is_start(dim.formula)) return words("where ", text, " begins");
  return dim.formula == attune_quotient ? words(text, " / ", dim.value) : text;
}

std::string conditions_text(const attune_kernel_v5& kernel, const attune_code_v3& code) {
  std::string text;
  for (const attune_condition_v1& condition : conditions_of(code)) {
    const std::string_view dim = dims_of(kernel)[static_cast<std::size_t>(condition.dim)].name;
    const bool has_minimum = condition.minimum > 0, has_maximum = condition.maximum < max_extent;
    if (has_minimum || has_maximum)
      add_to_list(text,
                  words(has_minimum ? words(condition.minimum, " <= ") : "", dim, has_maximum ? words(" <= ", condition.maximum) : ""));
  }
  return text;
}

/// "q, k -> scores"; what is stored between steps has names of its own.
std::string step_text(const attune_kernel_v5& kernel, const attune_step_v1& step) {
  const auto names = [&](std::span<const std::int32_t> tensors) {
    std::string text;
    for (const std::int32_t tensor : tensors) add_to_list(text, kernel.tensors[memory_at(kernel, tensor)].name);
    return text;
  };
  return words(names(inputs_of(step)), " -> ", names(outputs_of(step)));
}

}  // namespace

std::string who(const attune_kernel_v5& kernel) { return words("kernel '", kernel.name, "'"); }

std::string who(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor) {
  return words("kernel '", kernel.name, tensor.role == attune_output ? "': output '" : "': input '", tensor.name, "'");
}

std::string text_of(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor) {
  std::string shape;
  for (const std::int32_t number : dims_of(tensor)) {
    const attune_dim_v1& dim = dims_of(kernel)[static_cast<std::size_t>(number)];
    add_to_list(shape, dim.formula == attune_fixed ? words(dim.value) : dim.name, " x ");
  }
  return words(name_of(static_cast<attune_storage>(tensor.storage)), " [", shape, "]");
}

std::string formula_text(const attune_kernel_v5& kernel, const attune_dim_v1& dim) {
  return write_formula(dim, [&](std::int32_t number) { return dims_of(kernel)[static_cast<std::size_t>(number)].name; });
}

std::string formula_text(const attune_kernel_v5&, const attune_dim_v1& dim, std::span<const std::int64_t> extents) {
  return write_formula(dim, [&](std::int32_t number) { return words(extents[static_cast<std::size_t>(number)]); });
}

std::string description_of(const attune_kernel_v5& kernel) {
  std::string text = words(who(kernel), ": ", kernel.variant, *kernel.parameters != 0 ? words(" (", kernel.parameters, ")") : "", "\n");
  for (const attune_tensor_v1& tensor : tensors_of(kernel))
    text += words(tensor.role == attune_output    ? "  output "
                  : tensor.role == attune_updated ? "  updated "
                                                  : "  input  ",
                  tensor.name, ": ", text_of(kernel, tensor), "\n");
  for (const attune_dim_v1& dim : dims_of(kernel))
    if (dim.formula != attune_free && !is_of_sweeps(dim.formula)) text += words("  ", dim.name, " = ", formula_text(kernel, dim), "\n");
  for (const attune_sweep_v1& sweep : sweeps_of(kernel)) {
    std::string swept;
    for (const std::int32_t block : blocks_of(sweep))
      if (kernel.dims[block].formula == attune_block) add_to_list(swept, dims_of(kernel)[static_cast<std::size_t>(kernel.dims[block].operands[0])].name);
    text += words("  steps ", sweep.first_step + 1, " to ", sweep.first_step + sweep.step_count, " for one block of ", swept, " after the other\n");
  }
  for (const attune_step_v1& step : steps_of(kernel)) {
    if (kernel.step_count > 1) text += words("  step ", step.stage, ": ", step_text(kernel, step), "\n");
    for (const attune_code_v3& code : codes_of(step)) {
      const std::string conditions = conditions_text(kernel, code);
      text += words(kernel.step_count > 1 ? "    code " : "  code ", code.target, conditions.empty() ? "" : words(" where ", conditions), ": ",
                    code.schedule, "\n");
    }
  }
  return text;
}

}  // namespace attune
