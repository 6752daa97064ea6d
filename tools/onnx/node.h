/// Nodes and graphs of ONNX, as files hold them: what the readers of case folders and models give and the operators take.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/onnx/element.h"

namespace attune {

/// A tensor's type and extents, outermost first; of a constant also its numbers.
struct OnnxTensor {
  const OnnxElement* element = nullptr;
  std::vector<std::int64_t> extents;
  std::vector<double> values;
  std::string problem;  ///< why there are no numbers, of a constant that is kept elsewhere

  std::int64_t extent(std::size_t axis) const { return extents[axis]; }
  std::size_t rank() const { return extents.size(); }
};

/// Rounded towards zero; what is beyond 2^62 gives 2^62 with its sign (lists end at the greatest integer, which doubles
/// do not hold), NaN 0.
std::int64_t integer_of(double number);
/// "[2 x 3 x 4 x 8]"
std::string shape_text(const std::vector<std::int64_t>& extents);
/// The product; of no extents 1. The greatest integer where it is greater.
std::int64_t element_count(const std::vector<std::int64_t>& extents);

struct OnnxSubgraph;
/// A number, a text, several numbers, a tensor or a graph.
using OnnxAttribute = std::variant<double, std::string, std::vector<double>, OnnxTensor, std::shared_ptr<const OnnxSubgraph>>;
using OnnxAttributes = std::map<std::string, OnnxAttribute, std::less<>>;

/// A node of a model: its inputs and outputs by their names there, empty where one is left out.
struct OnnxOperation {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;
  OnnxAttributes attributes;
};

/// The operator as a sentence names it: with its domain, where that is none of ONNX's own.
std::string full_name(const OnnxOperation& operation);

/// A tensor that is declared: an extent below 0 is symbolic, with the name beside it.
struct OnnxDeclared {
  std::string name;
  OnnxTensor tensor;
  std::vector<std::string> symbols;  ///< of each axis; empty where it has a number
};

struct OnnxSubgraph {
  std::string name;
  std::vector<OnnxOperation> operations;
  std::vector<OnnxDeclared> inputs, outputs, values;
  std::map<std::string, OnnxTensor, std::less<>> constants;
};

/// A node that stands alone, by the formal names of its operator: what inputs are, which outputs are wanted.
struct OnnxNode {
  std::string op, domain;
  std::int64_t opset = 0;
  OnnxAttributes attributes;
  std::map<std::string, OnnxTensor, std::less<>> inputs;
  std::vector<std::string> outputs;

  bool has(std::string_view input) const { return inputs.find(input) != inputs.end(); }
  bool wants(std::string_view output) const;
  /// A numeric attribute, or `missing` if it is not set.
  double number(std::string_view attribute, double missing = 0) const;
  std::int64_t integer(std::string_view attribute, std::int64_t missing = 0) const {
    return integer_of(number(attribute, static_cast<double>(missing)));
  }
  /// An attribute that is a text, or `missing` if it is not set.
  std::string text(std::string_view attribute, std::string_view missing) const;
  bool is_set(std::string_view attribute) const { return attributes.find(attribute) != attributes.end(); }
};

}  // namespace attune
