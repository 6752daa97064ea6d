#include "codegen/output/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "codegen/dialect/identifier.h"
#include "dsl/graph.h"
#include "runtime/storage.h"

namespace attune {
namespace {

constexpr std::array formula_names = {"free", "fixed", "product", "quotient", "sum", "slice", "block", "start", "band", "band_start"};
static_assert(formula_names.size() == attune_band_start + 1);

std::string_view word_for(attune_role role) { return role == attune_output ? "output" : role == attune_updated ? "updated" : "input"; }

std::string shape(const Manifest& m, const Manifest::Tensor& tensor) {
  std::string text;
  for (const int dim : tensor.dims) text += (text.empty() ? "" : " x ") + m.dims[static_cast<std::size_t>(dim)].name;
  return "[" + text + "]";
}

/// Parameters are text of the graph's author: names are checked (manifest_problem), they are not.
std::string title(const Manifest& m) {
  return m.variant + (m.parameters.empty() ? "" : " (" + comment_text(m.parameters) + ")");
}

/// A name for a variable of the function that no parameter hides.
std::string free_name(const Manifest& m, std::string name) {
  while (std::ranges::find(m.tensors, name, &Manifest::Tensor::name) != m.tensors.end()) name += '_';
  return name;
}

std::string description(const Manifest& m, const char* prefix) {
  std::string text;
  for (const auto& t : m.tensors)
    text += fmt::format("{}{} {}: {} {}\n", prefix, word_for(t.role), t.name, name_of(static_cast<attune_storage>(t.storage)), shape(m, t));
  for (const auto& d : m.dims) {
    if (d.formula == attune_free || d.formula >= attune_block) continue;
    std::string operands;
    for (const int operand : d.operands) operands += (operands.empty() ? "" : ", ") + m.dims[static_cast<std::size_t>(operand)].name;
    if (d.formula == static_cast<int>(Formula::fixed))
      text += fmt::format("{}{} = {}\n", prefix, d.name, d.value);
    else if (d.formula == static_cast<int>(Formula::slice))
      text += fmt::format("{}{} = {}\n", prefix, d.name, written(Steps::of(d.value), operands).view());
    else
      text += fmt::format("{}{} = {} of {}{}\n", prefix, d.name, formula_names[static_cast<std::size_t>(d.formula)], operands,
                          d.value == 1 ? "" : fmt::format(" and {}", d.value));
  }
  return text;
}

nlohmann::ordered_json json_of(const Manifest& m, const Manifest::Tensor& t) {
  auto dims = nlohmann::ordered_json::array();
  for (const int dim : t.dims) dims.push_back(m.dims[static_cast<std::size_t>(dim)].name);
  nlohmann::ordered_json tensor = {{"name", t.name}, {"type", name_of(static_cast<attune_storage>(t.storage))}, {"dims", std::move(dims)}};
  if (t.role == attune_updated) tensor["updated"] = true;
  return tensor;
}

}  // namespace

std::string c_header(const Manifest& m) {
  return fmt::format(
      "/* Kernel {0}: {1}, made by attune compile.\n{2}   Tensors are row-major with the last dim innermost; attune_link (runtime/attune.h) makes it callable. */\n"
      "#ifndef ATTUNE_KERNEL_H_{0}\n#define ATTUNE_KERNEL_H_{0}\n\n#include \"runtime/abi.h\"\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "extern const struct attune_kernel_v5 {3};\n\n#ifdef __cplusplus\n}}\n#endif\n#endif\n",
      m.name, title(m), description(m, "   "), manifest_symbol(m));
}

std::string cpp_header(const Manifest& m) {
  std::string parameters, arguments;
  for (const auto& t : m.tensors) {
    parameters += fmt::format("{}const ::attune::Tensor& {}", parameters.empty() ? "" : ", ", t.name);
    arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", t.name);
  }
  return fmt::format(
      "/// Kernel {0}: {1}, made by attune compile.\n{2}#pragma once\n\n#include \"{0}.h\"\n#include \"runtime/kernel.h\"\n\n"
      "namespace attune::kernels {{\n\n/// Checks the arguments and computes; the sentence says what is wrong with them.\n"
      "inline ::attune::Result<void> {0}({3}) {{\n  static const ::attune::Result<::attune::Kernel> {6} = ::attune::Kernel::from(::{4});\n"
      "  if (!{6}) return {6}.error();\n  return (*{6})({5});\n}}\n\n}}  // namespace attune::kernels\n",
      m.name, title(m), description(m, "/// "), parameters, manifest_symbol(m), arguments, free_name(m, "kernel"));
}

std::string json_sidecar(const Manifest& m) {
  using nlohmann::ordered_json;
  ordered_json root = {{"name", m.name}, {"variant", m.variant}, {"parameters", m.parameters}, {"hash", m.hash}};
  for (const auto& d : m.dims) {
    ordered_json dim = {{"name", d.name}, {"formula", formula_names[static_cast<std::size_t>(d.formula)]}};
    if (!d.operands.empty()) {
      dim["operands"] = ordered_json::array();
      for (const int operand : d.operands) dim["operands"].push_back(m.dims[static_cast<std::size_t>(operand)].name);
    }
    if (d.formula != static_cast<int>(Formula::free)) dim["value"] = d.value;
    root["dims"].push_back(std::move(dim));
  }
  for (const auto& t : m.tensors) root[t.role == attune_output ? "outputs" : "inputs"].push_back(json_of(m, t));
  root["stored"] = ordered_json::array();
  for (const auto& t : m.stored) root["stored"].push_back(json_of(m, t));
  for (const auto& s : m.steps) {
    ordered_json step = {{"stage", s.stage}, {"reads", ordered_json::array()}, {"writes", ordered_json::array()}, {"codes", ordered_json::array()}};
    for (const int tensor : s.inputs) step["reads"].push_back(m.tensor(tensor).name);
    for (const int tensor : s.outputs) step["writes"].push_back(m.tensor(tensor).name);
    for (const auto& c : s.codes) {
      ordered_json code = {{"target", c.target}, {"schedule", c.schedule}, {"features", c.features}, {"cpus", c.cpus}};
      for (const auto& k : c.conditions)
        code["conditions"].push_back({{"dim", m.dims[static_cast<std::size_t>(k.dim)].name}, {"minimum", k.minimum}, {"maximum", k.maximum}});
      step["codes"].push_back(std::move(code));
    }
    root["steps"].push_back(std::move(step));
  }
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";  // bytes that are no UTF-8 become U+FFFD
}

}  // namespace attune
