/// Element types of ONNX tensors, and what stands for them in a graph and a kernel: the only list of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/type.h"

namespace attune {

struct OnnxElement {
  int number;                ///< in ONNX's TensorProto.DataType
  std::string_view name;     ///< as NumPy and case.json spell it
  std::string_view title;    ///< as ONNX spells it
  int bytes;                 ///< of an element in a file
  Kind kind;                 ///< that a graph calculates with
  std::string_view storage;  ///< of a real in a kernel, as --type spells it
  double unit = 0;           ///< of a real: half the distance from 1 to the next number, which is what rounding may change it by
};

/// Kernels store doubles as f32. Integers that the language has no kind for become wider ones.
std::span<const OnnxElement> onnx_elements();
/// The row, or nullptr.
const OnnxElement* find_element(std::string_view name);
const OnnxElement* find_element(int number);
/// "float32, float16, ..."
std::string onnx_element_names();

/// The numbers of contiguous elements in ONNX's (little-endian) order; `count` is that of the elements that the bytes hold.
std::vector<double> onnx_numbers(const OnnxElement& element, std::span<const std::byte> bytes);

}  // namespace attune
