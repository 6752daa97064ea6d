#include "tools/onnx/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/integer_range.h"

namespace attune {

std::int64_t integer_of(double number) { return std::isnan(number) ? 0 : static_cast<std::int64_t>(std::clamp(number, -0x1p62, 0x1p62)); }

std::string shape_text(const std::vector<std::int64_t>& extents) { return fmt::format("[{}]", fmt::join(extents, " x ")); }

std::int64_t element_count(const std::vector<std::int64_t>& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count = ranges::product(count, extent);
  return count;
}

std::string full_name(const OnnxOperation& operation) {
  const bool is_own = operation.domain.empty() || operation.domain == "ai.onnx";
  return is_own ? operation.op : operation.domain + "." + operation.op;
}

bool OnnxNode::wants(std::string_view output) const { return std::ranges::find(outputs, output) != outputs.end(); }

double OnnxNode::number(std::string_view attribute, double missing) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return missing;
  const double* number = std::get_if<double>(&found->second);
  return number == nullptr ? missing : *number;
}

std::string OnnxNode::text(std::string_view attribute, std::string_view missing) const {
  const auto found = attributes.find(attribute);
  const std::string* text = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return std::string(text == nullptr ? missing : *text);
}

}  // namespace attune
