#include "codegen/tensor_cores/shared_tile.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

#include <algorithm>

namespace attune::tensor_cores {

using mlir::Value;
namespace arith = mlir::arith;

namespace {
constexpr int swizzled_rows = 8;
}

Value SharedTile::chunk_place(Value row, int below, Value chunk) const {
  const int pitch_bytes = pitch_ * element_bytes(element_), in_line = std::max(1, line_bytes / pitch_bytes);
  const Value exchange = code_.remainder(code_.divide(row, in_line), swizzled_rows / in_line);
  const Value swizzled = code_.exclusive_or(chunk, exchange);
  return code_.behind(code_.behind(place_, code_.add(code_.multiply(row, pitch_bytes), code_.multiply(swizzled, chunk_bytes))), below * pitch_bytes);
}

void SharedTile::each_chunk(Value thread, int threads, const std::function<void(Value row, Value chunk, Value place)>& visit) const {
  const int chunks = columns_ / elements(), all = rows_ * chunks;
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
    const int element = element_bytes(element_);
    const Value bytes = global.count ? code_.multiply(global.count, element) : Value();
    code_.copy(place, arguments.element_at(tensor, code_.builder.getIntegerType(static_cast<unsigned>(8 * element)), global.offset), bytes);
  });
}

void SharedTile::load(const StepArguments& arguments, std::size_t tensor, Value thread, int threads, const ElementAt& element_at) const {
  Builder& builder = code_.builder;
  const int chunks = columns_ / elements();
  const auto goes_on = [&](const Code::Values& at) { return code_.less(at[0], code_.number(rows_ * chunks)); };
  // A chunk after the other: the addresses of the elements of several do not stay in registers beside sums.
  code_.loop({thread}, goes_on, [&](const Code::Values& at) -> Code::Values {
    const Value row = code_.divide(at[0], chunks), chunk = code_.remainder(at[0], chunks), place = chunk_place(row, 0, chunk);
    const auto bits_at = [&](int i) {
      const GlobalElement element = element_at(row, code_.add(code_.multiply(chunk, elements()), i));
      const mlir::Type type = builder.getIntegerType(static_cast<unsigned>(8 * element_bytes(element_)));
      const Value bits = mlir::LLVM::LoadOp::create(builder, type, arguments.element_at(tensor, type, element.offset));
      return code_.select(element.is_there, type.isInteger(32) ? bits : builder.createOrFold<arith::ExtUIOp>(builder.getI32Type(), bits),
                          code_.number(0));
    };
    const auto word_at = [&](int i) -> Value {
      if (elements() == 4) return bits_at(i);
      const Value low = bits_at(2 * i), high = arith::ShLIOp::create(builder, bits_at(2 * i + 1), code_.number(16));
      return arith::OrIOp::create(builder, low, high);
    };
    Value words = mlir::LLVM::PoisonOp::create(builder, mlir::VectorType::get(4, builder.getI32Type()));
    for (int i = 0; i < 4; ++i) words = mlir::LLVM::InsertElementOp::create(builder, words, word_at(i), code_.number(i));
    mlir::LLVM::StoreOp::create(builder, words, place, chunk_bytes);
    return {code_.add(at[0], threads)};
  });
}

// Lane 8 n + r says where row r of matrix n begins (Code::load_matrices), and register n of the lanes is theirs of it. With m = n % 2 and o = n / 2:
// - of a first operand, matrix n is its rows 8 m to 8 m + 7 at chunk o of two, which are columns 8 o to 8 o + 7 of 16 bits;
// - of second operands, o says whose it is, and m which of its rows: 8 m to 8 m + 7.
// Where a fragment's registers run across the tile's rows, matrices are transposed as they are loaded.
std::array<Value, 4> SharedTile::first_operand(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk =
      code_.add(code_.divide(column, elements()), code_.exclusive_or(code_.divide(lane, 16), code_.number(beside / elements())));
  return code_.load_matrices(chunk_place(code_.add(row, code_.remainder(lane, 16)), below, chunk), false);
}
std::array<Value, 4> SharedTile::first_operand_by_columns(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk = code_.add(code_.divide(column, elements()),
                                code_.exclusive_or(code_.remainder(code_.divide(lane, 8), 2), code_.number(beside / elements())));
  const Value own_row = code_.add(code_.remainder(lane, 8), code_.multiply(code_.divide(lane, 16), 8));
  return code_.load_matrices(chunk_place(code_.add(row, own_row), below, chunk), true);
}
std::array<Value, 4> SharedTile::second_operands_by_columns(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk = code_.add(code_.divide(column, elements()),
                                code_.exclusive_or(code_.remainder(code_.divide(lane, 8), 2), code_.number(beside / elements())));
  const Value own_row = code_.add(code_.remainder(lane, 8), code_.multiply(code_.divide(lane, 16), 8));
  return code_.load_matrices(chunk_place(code_.add(row, own_row), below, chunk), false);
}
std::array<Value, 4> SharedTile::second_operands(Value row, int below, Value column, int beside, Value lane) const {
  const Value chunk =
      code_.add(code_.divide(column, elements()), code_.exclusive_or(code_.divide(lane, 16), code_.number(beside / elements())));
  return code_.load_matrices(chunk_place(code_.add(row, code_.remainder(lane, 16)), below, chunk), true);
}

std::vector<Value> SharedTile::words(Value row, int below, Value column, int beside, int count) const {
  Builder& builder = code_.builder;
  // The line's chunks are exchanged among themselves: whole lines further on are a constant of the address.
  const int line = line_bytes / element_bytes(element_), chunk = beside % line / elements();
  const Value own = code_.exclusive_or(code_.divide(column, elements()), code_.number(chunk));
  const Value place = code_.behind(code_.behind(chunk_place(row, below, own), beside / line * line_bytes),
                                   code_.multiply(code_.remainder(column, elements()), element_bytes(element_)));
  const int bytes = count * element_bytes(element_), all = bytes / 4;
  const Value loaded = mlir::LLVM::LoadOp::create(builder, mlir::VectorType::get(all, builder.getI32Type()), place, static_cast<unsigned>(bytes));
  std::vector<Value> words;
  for (int i = 0; i < all; ++i) words.push_back(mlir::LLVM::ExtractElementOp::create(builder, loaded, code_.number(i)));
  return words;
}

std::vector<Value> SharedTile::reals(Value row, int below, Value column, int beside) const {
  Builder& builder = code_.builder;
  std::vector<Value> loaded = words(row, below, column, beside, 4), reals;
  if (elements() == 4) return loaded;
  for (const Value& pair : loaded)
    for (const int half : {0, 1}) {
      if (element_ == Element::bf16) {
        reals.push_back(half == 0 ? builder.createOrFold<arith::ShLIOp>(pair, code_.number(16))
                                  : builder.createOrFold<arith::AndIOp>(pair, code_.number(-0x10000)));
        continue;
      }
      const Value halves = mlir::LLVM::BitcastOp::create(builder, mlir::VectorType::get(2, builder.getF16Type()), pair);
      const Value own = mlir::LLVM::ExtractElementOp::create(builder, halves, code_.number(half));
      const Value real = arith::ExtFOp::create(builder, builder.getF32Type(), own);
      reals.push_back(arith::BitcastOp::create(builder, builder.getI32Type(), real));
    }
  return reals;
}

}  // namespace attune::tensor_cores
