#include "codegen/tensor_cores/warpgroup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <string>

namespace attune::tensor_cores {
namespace {

using mlir::Value;
namespace assembly = mlir::LLVM;

/// An instruction of PTX, whose results are written over the first of its operands; those of `operands` beyond them are read alone.
class Instruction {
 public:
  explicit Instruction(const Code& code) : code_(code) {}

  /// "$0", "$1" ... of results, each in the register of a value that stands there before, or of the type alone.
  std::string over(Value value) { return result(value.getType(), value); }
  std::string result(mlir::Type type, Value before = {}) {
    results_.push_back(type);
    before_.push_back(before);
    return fmt::format("${}", results_.size() - 1);
  }
  /// The place of an operand once all results are named.
  std::string operand(Value value) {
    std::size_t tied = 0;
    for (const Value& before : before_) tied += before ? 1 : 0;
    operands_.push_back(value);
    return fmt::format("${}", results_.size() + tied + operands_.size() - 1);
  }

  Code::Values emit(const std::string& text) const {
    mlir::Builder types(code_.builder.getContext());
    std::vector<std::string> constraints;
    for (const mlir::Type type : results_) constraints.push_back("=" + letter(type));
    Code::Values all;
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (before_[i]) {
        constraints.push_back(std::to_string(i));
        all.push_back(before_[i]);
      }
    for (const Value& operand : operands_) {
      constraints.push_back(letter(operand.getType()));
      all.push_back(operand);
    }
    constraints.push_back("~{memory}");
    llvm::SmallVector<mlir::Type> made;
    if (results_.size() == 1) made = {results_[0]};
    if (results_.size() > 1) made = {assembly::LLVMStructType::getLiteral(code_.builder.getContext(), results_)};
    auto call = assembly::InlineAsmOp::create(code_.builder, mlir::TypeRange(made), all, text, fmt::format("{}", fmt::join(constraints, ",")),
                                              /*has_side_effects=*/true, /*is_align_stack=*/false, assembly::tailcallkind::TailCallKind::None,
                                              assembly::AsmDialectAttr(), mlir::ArrayAttr());
    if (results_.size() < 2) return Code::Values(call->getResults());
    Code::Values values;
    for (std::size_t i = 0; i < results_.size(); ++i)
      values.push_back(assembly::ExtractValueOp::create(code_.builder, call->getResult(0), static_cast<std::int64_t>(i)));
    return values;
  }

 private:
  static std::string letter(mlir::Type type) { return type.isF32() ? "f" : type.isInteger(64) ? "l" : "r"; }

  const Code& code_;
  llvm::SmallVector<mlir::Type> results_;
  std::vector<Value> before_, operands_;
};

/// An instruction that names no register; values pass through it, so that nothing that takes them moves before it.
Code::Values passed_through(const Code& code, const std::string& text, const Code::Values& values) {
  Instruction instruction(code);
  for (const Value value : values) instruction.over(value);
  return instruction.emit(text);
}

constexpr int group_rows = 8, group_bytes = group_rows * Panels::row_bytes;  // chunks are exchanged within groups of rows
constexpr int address_unit = 16;                                             // of places and distances in descriptors, in bytes

}  // namespace

// A descriptor: bits 0-13 the place, 16-29 the leading distance, 32-45 the stride, all in units of 16 bytes, 62-63 the exchange of chunks: 1 is that
// of eight rows of 128 bytes. Places within a group of rows count before the exchange. Where columns are contracted, the stride is from one group of
// rows to the next, and the leading distance means nothing; where rows are, the stride is the same, and the leading distance goes from one panel to
// the next.
Panels::Panels(const Code& code, Value place, int rows) : code_(code), panel_bytes_(rows * row_bytes) {
  mlir::ImplicitLocOpBuilder& builder = code.builder;
  const Value address = assembly::PtrToIntOp::create(builder, builder.getI64Type(), place);  // below 2^18
  first_ = code.divide(address, mlir::arith::ConstantOp::create(builder, builder.getI64IntegerAttr(address_unit)));
}
Value Panels::descriptor(int leading_bytes, int bytes_behind) const {
  constexpr std::uint64_t exchange_of_eight = 1;
  const std::uint64_t bits = exchange_of_eight << 62 | static_cast<std::uint64_t>(group_bytes / address_unit) << 32 |
                             static_cast<std::uint64_t>(leading_bytes / address_unit) << 16 | static_cast<std::uint64_t>(bytes_behind / address_unit);
  const auto constant = mlir::IntegerAttr::get(code_.builder.getI64Type(), static_cast<std::int64_t>(bits));
  return code_.builder.createOrFold<mlir::arith::AddIOp>(first_, mlir::arith::ConstantOp::create(code_.builder, constant));
}
MatrixInMemory Panels::by_own_rows(int row, int column) const {
  return {descriptor(address_unit, column / columns * panel_bytes_ + row * row_bytes + column % columns * 2), false};
}
MatrixInMemory Panels::by_contracted_rows(int row, int column) const {
  return {descriptor(panel_bytes_, column / columns * panel_bytes_ + row * row_bytes), true};
}

WarpgroupSums joined(const std::vector<Sums>& blocks) {
  WarpgroupSums all;
  for (const Sums& block : blocks) all.append(block.begin(), block.end());
  return all;
}
std::vector<Sums> in_blocks(const WarpgroupSums& sums) {
  std::vector<Sums> blocks(sums.size() / 4);
  for (std::size_t i = 0; i < sums.size(); ++i) blocks[i / 4][i % 4] = sums[i];
  return blocks;
}

void show_to_products(const Code& code) { passed_through(code, "fence.proxy.async.shared::cta;", {}); }
Code::Values begin_products(const Code& code, const Code::Values& registers) { return passed_through(code, "wgmma.fence.sync.aligned;", registers); }
void end_products(const Code& code) { passed_through(code, "wgmma.commit_group.sync.aligned;", {}); }
Code::Values wait_for_products(const Code& code, int pending, const Code::Values& registers) {
  return passed_through(code, fmt::format("wgmma.wait_group.sync.aligned {};", pending), registers);
}

Value of_first_lane(const Code& code, Value value) {
  constexpr int all_lanes = -1, last_lane = 31;
  return mlir::NVVM::ShflOp::create(code.builder, value.getType(), code.number(all_lanes), value, code.number(0), code.number(last_lane),
                                    mlir::NVVM::ShflKind::idx, mlir::UnitAttr())
      .getRes();
}

WarpgroupSums multiplied(const Code& code, Element element, const FirstOperand& a, const MatrixInMemory& b, int columns, const WarpgroupSums& sums) {
  Instruction instruction(code);
  std::vector<std::string> of_sums, of_a;
  for (int i = 0; i < columns / 2; ++i)
    of_sums.push_back(sums.empty() ? instruction.result(code.builder.getF32Type()) : instruction.over(sums[static_cast<std::size_t>(i)]));
  const auto* in_memory = std::get_if<MatrixInMemory>(&a);
  if (in_memory == nullptr)
    for (const Value word : std::get<std::array<Value, 4>>(a)) of_a.push_back(instruction.operand(word));
  const std::string first = in_memory != nullptr ? instruction.operand(in_memory->descriptor) : fmt::format("{{{}}}", fmt::join(of_a, ", "));
  const std::string second = instruction.operand(b.descriptor), type(name_of(element));
  const std::string first_side = in_memory != nullptr ? fmt::format(", {:d}", in_memory->is_by_contracted_rows) : "";
  return instruction.emit(fmt::format("wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{} {{{}}}, {}, {}, {:d}, 1, 1{}, {:d};", columns, type, type,
                                      fmt::join(of_sums, ", "), first, second, !sums.empty(), first_side, b.is_by_contracted_rows));
}

}  // namespace attune::tensor_cores
