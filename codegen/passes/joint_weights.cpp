#include "codegen/passes/joint_weights.h"

#include <llvm/ADT/SetVector.h>

#include "codegen/dialect/extents.h"
#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

/// All that reads the softmax is products over its dims with what has them.
bool are_of_products(GraphOp<JointSoftmax> weights) {
  const Names dims = weights.definition().over;
  return dims.size() > 1 && llvm::all_of(weights->getUsers(), [&](mlir::Operation* user) {
    auto product = llvm::dyn_cast<GraphOp<Matmul>>(user);
    return product && dims.without(product.definition().over).empty() && dims.without(dims_of(product->getOperand(0))).empty() &&
           dims.without(dims_of(product->getOperand(1))).empty();
  });
}

/// "rows_columns" of rows and columns.
std::string joined_name(const Names& dims) {
  std::string name;
  for (const Name dim : dims) name += (name.empty() ? "" : "_") + std::string(dim);
  return name;
}

void join(GraphOp<JointSoftmax> joint) {
  const Names dims = joint.definition().over;
  const Name keys = fresh_dim(joint->getParentOfType<mlir::func::FuncOp>(), joined_name(dims));
  const Merge merge{dims, keys};
  mlir::OpBuilder builder(joint);
  const mlir::Value weights = add_operation(Softmax{keys}, add_operation(merge, joint->getOperand(0), joint, builder), joint, builder);
  const llvm::SetVector<mlir::Operation*> products(joint->user_begin(), joint->user_end());  // each once, also where both operands are the weights
  for (mlir::Operation* user : products) {
    auto product = llvm::cast<GraphOp<Matmul>>(user);
    Matmul over_keys{product.definition().over.without(dims)};
    over_keys.over.add(keys);
    builder.setInsertionPoint(product);
    llvm::SmallVector<mlir::Value> operands;
    for (const mlir::Value operand : product->getOperands())
      operands.push_back(operand == joint->getResult(0) ? weights : add_operation(merge, operand, product, builder));
    product->getResult(0).replaceAllUsesWith(add_operation(over_keys, operands, product, builder));
    product->erase();
  }
  joint->erase();
}

}  // namespace

void joint_weights(mlir::ModuleOp module) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    llvm::SmallVector<GraphOp<JointSoftmax>> all;
    function.walk([&](GraphOp<JointSoftmax> joint) {
      if (are_of_products(joint)) all.push_back(joint);
    });
    if (!all.empty()) record_derivations(function, derivations_of(function));
    for (const GraphOp<JointSoftmax> joint : all)
      if (are_of_products(joint) && has_room_for_dim(joint)) join(joint);  // of a product of two, the other is merged by then
  }
}

}  // namespace attune
