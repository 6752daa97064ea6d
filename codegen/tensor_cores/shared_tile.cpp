#include "codegen/tensor_cores/shared_tile.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

#include <algorithm>

namespace attune::tensor_cores {

using mlir::Value;
namespace arith = mlir::arith;

namespace {
constexpr int swizzled_rows = 8, line_elements = 64;  // of the 128 bytes of all banks
}

Value SharedTile::chunk_place(Value row, int below, Value chunk) const {
  const int in_line = std::max(1, line_elements / pitch_);
  const Value exchange = code_.remainder(code_.divide(row, in_line), swizzled_rows / in_line);
  const Value swizzled = code_.exclusive_or(chunk, exchange);
  return code_.behind(code_.behind(place_, code_.add(code_.multiply(row, 2 * pitch_), code_.multiply(swizzled, chunk_bytes))), below * 2 * pitch_);
}

void SharedTile::each_chunk(Value thread, int threads, const std::function<void(Value row, Value chunk, Value place)>& visit) const {
  const int chunks = columns_ / chunk_elements, all = rows_ * chunks;
  const bool has_columns = threads % (chunks * swizzled_rows) == 0;  // a thread has one chunk of all its rows, at one place
  const Value first_row = code_.divide(thread, chunks), own_chunk = code_.remainder(thread, chunks);
  for (int done = 0; done < all; done += threads) {
    const Value number = code_.add(thread, done);
    const auto visit_own = [&] {
      if (has_columns) return visit(code_.add(first_row, done / chunks), own_chunk, chunk_place(first_row, done / chunks, own_chunk));
      const Value row = code_.divide(number, chunks), chunk = code_.remainder(number, chunks);
      visit(row, chunk, chunk_place(row, 0, chunk));
    };
    if (done + threads <= all)
      visit_own();
    else
      code_.when(code_.less(number, code_.number(all)), visit_own);
  }
}

void SharedTile::copy(const StepArguments& arguments, std::size_t tensor, Value thread, int threads, const ChunkAt& chunk_at) const {
  each_chunk(thread, threads, [&](Value row, Value chunk, Value place) {
    const GlobalChunk global = chunk_at(row, chunk);
    code_.copy(place, arguments.element_at(tensor, code_.builder.getI16Type(), global.offset), code_.multiply(global.count, 2));
  });
}

void SharedTile::load(const StepArguments& arguments, std::size_t tensor, Value thread, int threads, const ElementAt& element_at) const {
  Builder& builder = code_.builder;
  const int chunks = columns_ / chunk_elements;
  const auto goes_on = [&](const Code::Values& at) { return code_.less(at[0], code_.number(rows_ * chunks)); };
  // A chunk after the other: the addresses of the elements of several do not stay in registers beside sums.
  code_.loop({thread}, goes_on, [&](const Code::Values& at) -> Code::Values {
    const Value row = code_.divide(at[0], chunks), chunk = code_.remainder(at[0], chunks), place = chunk_place(row, 0, chunk);
    const auto bits_at = [&](int i) {
      const GlobalElement element = element_at(row, code_.add(code_.multiply(chunk, chunk_elements), i));
      const Value half =
          mlir::LLVM::LoadOp::create(builder, builder.getI16Type(), arguments.element_at(tensor, builder.getI16Type(), element.offset));
      return code_.select(element.is_there, builder.createOrFold<arith::ExtUIOp>(builder.getI32Type(), half), code_.number(0));
    };
    Value words = mlir::LLVM::PoisonOp::create(builder, mlir::VectorType::get(4, builder.getI32Type()));
    for (int i = 0; i < 4; ++i) {
      const Value low = bits_at(2 * i), high = arith::ShLIOp::create(builder, bits_at(2 * i + 1), code_.number(16));
      words = mlir::LLVM::InsertElementOp::create(builder, words, arith::OrIOp::create(builder, low, high), code_.number(i));
    }
    mlir::LLVM::StoreOp::create(builder, words, place, chunk_bytes);
    return {code_.add(at[0], threads)};
  });
}

// Lane 8 n + r says where row r of matrix n begins (Code::load_matrices), and register n of the lanes is theirs of it. With m = n % 2 and o = n / 2:
// - of a first operand, matrix n is its rows 8 m to 8 m + 7 at columns 8 o to 8 o + 7;
// - of second operands, o says whose it is, and m which of its rows: 8 m to 8 m + 7.
// Where a fragment's registers run across the tile's rows, matrices are transposed as they are loaded.
std::array<Value, 4> SharedTile::first_operand(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk =
      code_.add(code_.divide(column, chunk_elements), code_.exclusive_or(code_.divide(lane, 16), code_.number(beside / chunk_elements)));
  return code_.load_matrices(chunk_place(code_.add(row, code_.remainder(lane, 16)), below, chunk), false);
}
std::array<Value, 4> SharedTile::first_operand_by_columns(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk = code_.add(code_.divide(column, chunk_elements),
                                code_.exclusive_or(code_.remainder(code_.divide(lane, 8), 2), code_.number(beside / chunk_elements)));
  const Value own_row = code_.add(code_.remainder(lane, 8), code_.multiply(code_.divide(lane, 16), 8));
  return code_.load_matrices(chunk_place(code_.add(row, own_row), below, chunk), true);
}
std::array<Value, 4> SharedTile::second_operands_by_columns(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk = code_.add(code_.divide(column, chunk_elements),
                                code_.exclusive_or(code_.remainder(code_.divide(lane, 8), 2), code_.number(beside / chunk_elements)));
  const Value own_row = code_.add(code_.remainder(lane, 8), code_.multiply(code_.divide(lane, 16), 8));
  return code_.load_matrices(chunk_place(code_.add(row, own_row), below, chunk), false);
}
std::array<Value, 4> SharedTile::second_operands(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk =
      code_.add(code_.divide(column, chunk_elements), code_.exclusive_or(code_.divide(lane, 16), code_.number(beside / chunk_elements)));
  return code_.load_matrices(chunk_place(code_.add(row, code_.remainder(lane, 16)), below, chunk), true);
}

}  // namespace attune::tensor_cores
