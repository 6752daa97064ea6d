#include "codegen/tensor_cores/step_arguments.h"

#include <mlir/Dialect/Arith/IR/Arith.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "codegen/tensor_cores/warp.h"

namespace attune::tensor_cores {
namespace {

constexpr unsigned global_memory = 1;

mlir::Type type_of(Builder& builder, Element element) {
  switch (element) {
    case Element::bf16:
      return builder.getBF16Type();
    case Element::f16:
      return builder.getF16Type();
    case Element::i32:
      return builder.getI32Type();
    case Element::i64:
      return builder.getI64Type();
    case Element::i8:
    case Element::u8:
    case Element::boolean:
      return builder.getI8Type();
    default:
      return builder.getF32Type();
  }
}

unsigned bytes_of(mlir::Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }

std::vector<std::size_t> tensors_of(const Step& step) {
  std::vector<std::size_t> tensors = step.inputs;
  tensors.insert(tensors.end(), step.outputs.begin(), step.outputs.end());
  return tensors;
}

/// An element as it is loaded becomes a number.
Emitted number_of(Builder& builder, Element element, mlir::Value loaded) {
  namespace arith = mlir::arith;
  switch (element) {
    case Element::f32:
    case Element::real:
      return {&builder, loaded, {}};
    case Element::bf16:
    case Element::f16:
      return {&builder, arith::ExtFOp::create(builder, builder.getF32Type(), loaded), {}};
    case Element::boolean:
      return Emitted::of(builder, arith::ExtUIOp::create(builder, builder.getI32Type(), loaded), {0, 255}) != Emitted::integer(builder, 0);
    case Element::u8:
      return Emitted::of(builder, arith::ExtUIOp::create(builder, builder.getI32Type(), loaded), {0, 255});
    case Element::i8:
      return Emitted::of(builder, loaded, {-128, 127});
    case Element::i32:
      return Emitted::of(builder, loaded, {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()});
    case Element::i64:
      return Emitted::of(builder, loaded, {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()});
  }
  return {&builder, loaded, {}};
}

}  // namespace

std::vector<mlir::Type> argument_types(Builder& builder, const KernelSteps& plan, const Step& step) {
  std::vector<mlir::Type> types;
  for (const std::size_t tensor : tensors_of(step)) {
    types.push_back(mlir::LLVM::LLVMPointerType::get(builder.getContext(), global_memory));
    for (std::size_t d = 1; d < plan.tensors[tensor].dims.size(); ++d) types.push_back(builder.getI32Type());
  }
  types.resize(types.size() + step.dims.size(), builder.getI32Type());
  return types;
}

StepArguments::StepArguments(Builder& builder, const KernelSteps& plan, const Step& step, mlir::LLVM::LLVMFuncOp function)
    : builder_(builder), input_count_(step.inputs.size()) {
  unsigned next = 0;
  for (const std::size_t number : tensors_of(step)) {
    const StepTensor& tensor = plan.tensors[number];
    // Tensors of a call lie apart, but for inputs, which nobody writes.
    function.setArgAttr(next, mlir::LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    if (tensors_.size() < input_count_) function.setArgAttr(next, mlir::LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
    Argument argument{function.getArgument(next++), {}, tensor.dims, tensor.element};
    for (std::size_t d = 1; d < tensor.dims.size(); ++d) argument.strides.push_back(function.getArgument(next++));
    argument.strides.push_back(Code(builder).number(1));
    tensors_.push_back(std::move(argument));
  }
  for (const std::string& dim : step.dims) extents_.emplace(dim, Emitted{&builder, function.getArgument(next++), extent_range});
  for (const auto& [dim, extent] : plan.known_on_devices()) extents_.insert_or_assign(dim, Emitted::integer(builder, extent));
}

mlir::Value StepArguments::offset(const Argument& tensor, const Coordinates& at) const {
  const Code code(builder_);
  mlir::Value offset = code.number(0);
  for (std::size_t d = 0; d < tensor.dims.size(); ++d) offset = code.add(offset, code.multiply(at.find(tensor.dims[d])->second.value, tensor.strides[d]));
  return offset;
}

mlir::Value StepArguments::offset(const Operand& operand, const Coordinates& at) const {
  const Code code(builder_);
  mlir::Value offset = code.number(0);
  for (const std::string& dim : operand.dims)
    if (const auto coordinate = at.find(dim); coordinate != at.end())
      offset = code.add(offset, code.multiply(coordinate->second.value, stride(operand, dim)));
  return offset;
}

mlir::Value StepArguments::stride(const Operand& operand, std::string_view dim) const {
  const Code code(builder_);
  const DimPlace& place = operand.places[static_cast<std::size_t>(std::ranges::find(operand.dims, dim) - operand.dims.begin())];
  mlir::Value stride = tensors_[operand.input].strides[place.stored];
  for (const std::string& behind : place.behind) stride = code.multiply(stride, extents_.find(behind)->second.value);
  return stride;
}

mlir::Value StepArguments::element_at(std::size_t tensor, mlir::Type type, mlir::Value offset) const {
  const mlir::Value wide = builder_.createOrFold<mlir::arith::ExtUIOp>(builder_.getI64Type(), offset);
  const mlir::Value base = tensors_[tensor].pointer;
  return mlir::LLVM::GEPOp::create(builder_, base.getType(), type, base, llvm::ArrayRef<mlir::LLVM::GEPArg>{wide});
}

std::size_t StepArguments::tensor_of(std::string_view label) {
  std::size_t number = 0;
  std::from_chars(label.data() + 1, label.data() + label.size(), number);
  return number;
}

Emitted StepArguments::load(std::string_view label, const Coordinates& at) const {
  const std::size_t number = tensor_of(label);
  const Argument& tensor = tensors_[number];
  const mlir::Type type = type_of(builder_, tensor.element);
  const mlir::Value place = element_at(number, type, offset(tensor, at));
  return number_of(builder_, tensor.element, mlir::LLVM::LoadOp::create(builder_, type, place));
}

void StepArguments::store(std::size_t output, const Coordinates& at, mlir::Value real) const {
  const std::size_t number = input_count_ + output;
  const Argument& tensor = tensors_[number];
  const mlir::Type type = type_of(builder_, tensor.element);
  const mlir::Value place = element_at(number, type, offset(tensor, at));
  const mlir::Value stored = type.isF32() ? real : mlir::arith::TruncFOp::create(builder_, type, real);
  mlir::LLVM::StoreOp::create(builder_, stored, place);
}

void StepArguments::store(std::size_t output, const Coordinates& at, const llvm::SmallVector<mlir::Value>& reals) const {
  const std::size_t number = input_count_ + output;
  const Argument& tensor = tensors_[number];
  const mlir::Type type = type_of(builder_, tensor.element);
  const auto width = static_cast<std::int64_t>(reals.size());
  mlir::Value run = mlir::LLVM::PoisonOp::create(builder_, mlir::VectorType::get(width, builder_.getF32Type()));
  for (std::int64_t i = 0; i < width; ++i)
    run = mlir::LLVM::InsertElementOp::create(builder_, run, reals[static_cast<std::size_t>(i)], Code(builder_).number(i));
  if (!type.isF32()) run = mlir::LLVM::FPTruncOp::create(builder_, mlir::VectorType::get(width, type), run);
  mlir::LLVM::StoreOp::create(builder_, run, element_at(number, type, offset(tensor, at)),
                              static_cast<unsigned>(width) * bytes_of(type));
}

mlir::Value StepArguments::has_runs(std::size_t output, int width) const {
  const Code code(builder_);
  const Argument& tensor = tensors_[input_count_ + output];
  const mlir::Type wide = builder_.getI64Type();
  const auto bytes = static_cast<std::int64_t>(width) * bytes_of(type_of(builder_, tensor.element));
  const mlir::Value address = mlir::LLVM::PtrToIntOp::create(builder_, wide, tensor.pointer);
  mlir::Value rest = mlir::arith::TruncIOp::create(
      builder_, builder_.getI32Type(), code.remainder(address, mlir::arith::ConstantOp::create(builder_, builder_.getI64IntegerAttr(bytes))));
  for (std::size_t d = 0; d + 1 < tensor.strides.size(); ++d) rest = code.add(rest, code.remainder(tensor.strides[d], width));
  return code.less(rest, code.number(1));
}

}  // namespace attune::tensor_cores
