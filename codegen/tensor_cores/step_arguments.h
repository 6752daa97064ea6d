/// The arguments of a step's kernel on a device, and its tensors as code reads and writes them.
#pragma once

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

#include <string>
#include <vector>

#include "codegen/steps/steps.h"
#include "codegen/tensor_cores/emitted_graph.h"
#include "codegen/tensor_cores/operand.h"

namespace attune::tensor_cores {

/// A kernel takes of each tensor, those that the step reads and then those that it writes, the address and the strides of all dims but the innermost,
/// outermost first and counted in elements, whose own is 1; then the extents of the step's dims. Strides and extents are i32.
std::vector<mlir::Type> argument_types(Builder& builder, const KernelSteps& plan, const Step& step);

/// Of a function with these arguments, at whose beginning `builder` stands.
class StepArguments {
 public:
  StepArguments(Builder& builder, const KernelSteps& plan, const Step& step, mlir::LLVM::LLVMFuncOp function);

  /// Of every dim of the step: numbers where they are known, arguments elsewhere.
  const Extents& extents() const { return extents_; }
  /// The element of an input of the step's graph, whose label is "a0", "a1" ...
  Emitted load(std::string_view label, const Coordinates& at) const;
  /// Of an input by its label: the dims in memory, outermost first, and the kind of its elements.
  const std::vector<std::string>& dims_of(std::string_view label) const { return tensors_[tensor_of(label)].dims; }
  bool is_real(std::string_view label) const { return kind_of(tensors_[tensor_of(label)].element) == Kind::real; }
  bool is_boolean(std::string_view label) const { return tensors_[tensor_of(label)].element == Element::boolean; }
  /// Writes a real as the tensor stores it.
  void store(std::size_t output, const Coordinates& at, mlir::Value real) const;
  /// Writes reals that lie side by side from there on at once, where `has_runs` of as many is true: whether a tensor and its strides, but for the
  /// innermost dim, begin at multiples of so many elements, as an i1.
  void store(std::size_t output, const Coordinates& at, const llvm::SmallVector<mlir::Value>& reals) const;
  mlir::Value has_runs(std::size_t output, int width) const;
  const std::vector<std::string>& dims_of_output(std::size_t output) const { return tensors_[input_count_ + output].dims; }

  /// The tensor's address, and how far an operand's element is from there, in elements. Dims without a coordinate count as at 0.
  mlir::Value pointer(std::size_t tensor) const { return tensors_[tensor].pointer; }
  mlir::Value offset(const Operand& operand, const Coordinates& at) const;
  /// Between elements that follow one another along one of the operand's dims.
  mlir::Value stride(const Operand& operand, std::string_view dim) const;
  mlir::Value element_at(std::size_t tensor, mlir::Type type, mlir::Value offset) const;

 private:
  struct Argument {
    mlir::Value pointer;
    std::vector<mlir::Value> strides;
    std::vector<std::string> dims;
    Element element = Element::f32;
  };

  static std::size_t tensor_of(std::string_view label);
  mlir::Value offset(const Argument& tensor, const Coordinates& at) const;

  Builder& builder_;
  std::size_t input_count_ = 0;
  std::vector<Argument> tensors_;
  Extents extents_;
};

}  // namespace attune::tensor_cores
