#include "codegen/tensor_cores/kernel_function.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include "codegen/tensor_cores/step_arguments.h"

namespace attune::tensor_cores {

void build_kernel(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const BlockNeeds& needs,
                  const std::function<void(const KernelFunction&)>& body) {
  namespace llvm_ops = mlir::LLVM;
  constexpr unsigned shared_memory = 3;
  constexpr std::uint64_t swizzled_bytes = 1024;  // eight rows of 128 bytes
  const mlir::OpBuilder::InsertionGuard guard(builder);
  const auto bytes = llvm_ops::LLVMArrayType::get(builder.getI8Type(), needs.is_given_by_launch ? 0U : static_cast<unsigned>(needs.shared_bytes));
  const auto linkage = needs.is_given_by_launch ? llvm_ops::Linkage::External : llvm_ops::Linkage::Internal;
  const std::string memory = name + "_shared";
  llvm_ops::GlobalOp::create(builder, bytes, /*isConstant=*/false, linkage, memory, mlir::Attribute(), swizzled_bytes,
                             shared_memory);
  std::vector<mlir::Type> arguments = argument_types(builder, plan, step);
  arguments.insert(arguments.end(), needs.more_arguments.begin(), needs.more_arguments.end());
  const auto type = llvm_ops::LLVMFunctionType::get(llvm_ops::LLVMVoidType::get(builder.getContext()), arguments);
  auto function = llvm_ops::LLVMFuncOp::create(builder, name, type);
  function->setAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(mlir::NVVM::NVVMDialect::getMaxntidAttrName(), builder.getDenseI32ArrayAttr({needs.threads}));
  // Of one block as many registers as there are: without this, ptxas spills some for a second.
  function->setAttr(mlir::NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(needs.resident));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  const mlir::Value shared = llvm_ops::AddressOfOp::create(builder, llvm_ops::LLVMPointerType::get(builder.getContext(), shared_memory), memory);
  body({builder, function, shared});
  llvm_ops::ReturnOp::create(builder, mlir::ValueRange{});
}

}  // namespace attune::tensor_cores
