#include "codegen/tensor_cores/warp.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>

namespace attune::tensor_cores {

namespace arith = mlir::arith;
namespace llvm_ops = mlir::LLVM;
namespace nvvm = mlir::NVVM;
using mlir::Value;

namespace {
constexpr int all_lanes = -1, last_lane = 31;
}

Value Code::number(std::int64_t value) const {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(static_cast<std::int32_t>(value)));
}
Value Code::real(double value) const { return arith::ConstantOp::create(builder, builder.getF32FloatAttr(static_cast<float>(value))); }
Value Code::add(Value a, Value b) const {
  return a.getType().isF32() ? builder.createOrFold<arith::AddFOp>(a, b) : builder.createOrFold<arith::AddIOp>(a, b);
}
Value Code::multiply(Value a, Value b) const {
  return a.getType().isF32() ? builder.createOrFold<arith::MulFOp>(a, b) : builder.createOrFold<arith::MulIOp>(a, b);
}
Value Code::divide(Value a, Value b) const { return builder.createOrFold<arith::DivUIOp>(a, b); }
Value Code::remainder(Value a, Value b) const { return builder.createOrFold<arith::RemUIOp>(a, b); }
Value Code::exclusive_or(Value a, Value b) const { return builder.createOrFold<arith::XOrIOp>(a, b); }
Value Code::less(Value a, Value b) const { return builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b); }
Value Code::both(Value a, Value b) const { return builder.createOrFold<arith::AndIOp>(a, b); }
Value Code::select(Value condition, Value a, Value b) const { return builder.createOrFold<arith::SelectOp>(condition, a, b); }
Value Code::greatest(Value a, Value b) const { return arith::MaxNumFOp::create(builder, a, b); }
Value Code::fused(Value a, Value b, Value c) const { return mlir::math::FmaOp::create(builder, a, b, c); }
Value Code::power_of_2(Value x) const { return instruction(builder, exp2_approx, x); }
void Code::when(Value condition, const std::function<void()>& body) const {
  auto branch = mlir::scf::IfOp::create(builder, condition, /*withElseRegion=*/false);
  const mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

Code::Values Code::either(Value condition, const std::function<Values()>& one, const std::function<Values()>& other) const {
  const auto yields = [&](const std::function<Values()>& way) {
    return [&](mlir::OpBuilder&, mlir::Location) { mlir::scf::YieldOp::create(builder, way()); };
  };
  auto branch = mlir::scf::IfOp::create(builder, condition, yields(one), yields(other));
  return {branch.getResults().begin(), branch.getResults().end()};
}

Code::Values Code::loop(const Values& start, const std::function<Value(const Values&)>& goes_on,
                        const std::function<Values(const Values&)>& body) const {
  const llvm::SmallVector<mlir::Type> types(mlir::ValueRange(start).getTypes());
  const llvm::SmallVector<mlir::Location> locations(types.size(), builder.getLoc());
  auto loop = mlir::scf::WhileOp::create(builder, types, start);
  const mlir::OpBuilder::InsertionGuard guard(builder);
  const auto arguments = [&](mlir::Region& region) {
    const auto of_block = builder.createBlock(&region, {}, types, locations)->getArguments();
    return Values(of_block.begin(), of_block.end());
  };
  const Values before = arguments(loop.getBefore());
  mlir::scf::ConditionOp::create(builder, goes_on(before), before);
  const Values after = arguments(loop.getAfter());
  mlir::scf::YieldOp::create(builder, body(after));
  return Values(loop.getResults().begin(), loop.getResults().end());
}

Value Code::behind(Value pointer, Value bytes) const {
  const Value wide = builder.createOrFold<arith::ExtUIOp>(builder.getI64Type(), bytes);
  return llvm_ops::GEPOp::create(builder, pointer.getType(), builder.getI8Type(), pointer, llvm::ArrayRef<llvm_ops::GEPArg>{wide});
}

void Code::barrier() const { nvvm::Barrier0Op::create(builder); }
void Code::warp_barrier() const {
  nvvm::SyncWarpOp::create(builder, number(all_lanes));
}
void Code::copy(Value shared, Value global, Value bytes) const {
  nvvm::CpAsyncOp::create(builder, shared, global, 16U, nvvm::LoadCacheModifierKind::CG, bytes);
}
void Code::end_copies() const { nvvm::CpAsyncCommitGroupOp::create(builder); }
void Code::wait_for_copies(int pending) const { nvvm::CpAsyncWaitGroupOp::create(builder, static_cast<std::uint32_t>(pending)); }

Value Code::exchanged(Value value, int by) const {
  if (value.getType().isInteger(64)) {
    const mlir::Type half = builder.getI32Type(), whole = builder.getI64Type();
    const Value bits = arith::ConstantOp::create(builder, builder.getI64IntegerAttr(32));
    const Value low = exchanged(arith::TruncIOp::create(builder, half, value), by);
    const Value high = exchanged(arith::TruncIOp::create(builder, half, arith::ShRUIOp::create(builder, value, bits)), by);
    const Value above = arith::ShLIOp::create(builder, arith::ExtUIOp::create(builder, whole, high), bits);
    return arith::OrIOp::create(builder, above, arith::ExtUIOp::create(builder, whole, low));
  }
  return nvvm::ShflOp::create(builder, value.getType(), number(all_lanes), value, number(by), number(last_lane), nvvm::ShflKind::bfly,
                              mlir::UnitAttr())
      .getRes();
}
Value Code::of_first_lane(Value own) const {
  return nvvm::ShflOp::create(builder, own.getType(), number(all_lanes), own, number(0), number(last_lane), nvvm::ShflKind::idx, mlir::UnitAttr())
      .getRes();
}
Value Code::in_any_lane(Value condition) const {
  return nvvm::VoteSyncOp::create(builder, builder.getI1Type(), number(all_lanes), condition, nvvm::VoteSyncKind::any);
}

Value Code::in_any_warp(Value condition, Value shared, Value warp, Value lane, int warps) const {
  const mlir::Type word = builder.getI32Type();
  const auto is_not_zero = [&](Value of) { return builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, of, number(0)); };
  const Value found = builder.createOrFold<arith::ExtUIOp>(word, in_any_lane(condition));
  const auto place = [&](Value of) { return behind(shared, multiply(of, 4)); };
  barrier();
  when(builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, number(0)),
       [&] { llvm_ops::StoreOp::create(builder, found, place(warp)); });
  barrier();
  Value all = number(0);
  for (int of = 0; of < warps; ++of) all = builder.createOrFold<arith::OrIOp>(all, llvm_ops::LoadOp::create(builder, word, place(number(of))));
  barrier();
  return is_not_zero(all);
}

std::array<Value, 4> Code::load_matrices(Value row, bool is_transposed) const {
  const mlir::Type word = builder.getI32Type(), words = llvm_ops::LLVMStructType::getLiteral(builder.getContext(), {word, word, word, word});
  const auto layout = is_transposed ? nvvm::MMALayout::col : nvvm::MMALayout::row;
  const auto shape = nvvm::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  const Value loaded = nvvm::LdMatrixOp::create(builder, words, row, 4U, layout, shape, nvvm::LdStMatrixEltType::B16);
  std::array<Value, 4> registers;
  for (std::int64_t i = 0; i < 4; ++i) registers[static_cast<std::size_t>(i)] = llvm_ops::ExtractValueOp::create(builder, loaded, i);
  return registers;
}

Value Code::read_anew(const std::string& source) const {
  auto move = llvm_ops::InlineAsmOp::create(builder, builder.getI32Type(), mlir::ValueRange{}, "mov.b32 $0, " + source + ";", "=r",
                                            /*has_side_effects=*/true, /*is_align_stack=*/false, llvm_ops::tailcallkind::TailCallKind::None,
                                            llvm_ops::AsmDialectAttr{}, mlir::ArrayAttr{});
  return move.getRes();
}

namespace {

/// Products of fragments whose registers are as NVVM's operation wants them.
Sums product_of(const Code& code, llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b, const Sums& c, nvvm::MMATypes type, std::int64_t depth) {
  Builder& builder = code.builder;
  const mlir::Type real = builder.getF32Type(), sums = llvm_ops::LLVMStructType::getLiteral(builder.getContext(), {real, real, real, real});
  const Value product =
      nvvm::MmaOp::create(builder, sums, mlir::ValueRange(a), mlir::ValueRange(b), mlir::ValueRange(llvm::ArrayRef<Value>(c)), {16, 8, depth},
                          std::nullopt, std::nullopt, std::array{type, type}, std::array{nvvm::MMALayout::row, nvvm::MMALayout::col});
  Sums result;
  for (std::int64_t i = 0; i < 4; ++i) result[static_cast<std::size_t>(i)] = llvm_ops::ExtractValueOp::create(builder, product, i);
  return result;
}

}  // namespace

Sums multiplied(const Code& code, const std::array<Value, 4>& a, const std::array<Value, 2>& b, const Sums& c) {
  return product_of(code, a, b, c, nvvm::MMATypes::tf32, 8);
}

Sums multiplied(const Code& code, Element element, const std::array<Value, 4>& a, const std::array<Value, 2>& b, const Sums& c) {
  Builder& builder = code.builder;
  const bool is_f16 = element == Element::f16;
  const auto typed = [&](const Value& word) -> Value {
    return is_f16 ? llvm_ops::BitcastOp::create(builder, mlir::VectorType::get(2, builder.getF16Type()), word) : word;
  };
  llvm::SmallVector<Value> of_a, of_b;
  for (const Value& word : a) of_a.push_back(typed(word));
  for (const Value& word : b) of_b.push_back(typed(word));
  return product_of(code, of_a, of_b, c, is_f16 ? nvvm::MMATypes::f16 : nvvm::MMATypes::bf16, 16);
}

Value packed(const Code& code, Element element, Value low, Value high) {
  Builder& builder = code.builder;
  const mlir::Type reals = mlir::VectorType::get(2, builder.getF32Type()),
                   halves = mlir::VectorType::get(2, element == Element::f16 ? mlir::Type(builder.getF16Type()) : builder.getBF16Type());
  Value pair = llvm_ops::PoisonOp::create(builder, reals);
  pair = llvm_ops::InsertElementOp::create(builder, pair, low, code.number(0));
  pair = llvm_ops::InsertElementOp::create(builder, pair, high, code.number(1));
  return llvm_ops::BitcastOp::create(builder, builder.getI32Type(), llvm_ops::FPTruncOp::create(builder, halves, pair));
}

}  // namespace attune::tensor_cores
