#include "codegen/tensor_cores/attention_places.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

namespace attune::tensor_cores {

using mlir::Value;

void AttentionPlaces::find_thread() {
  thread_ = is_careful_ ? code_.read_anew("%tid.x") : mlir::NVVM::ThreadIdXOp::create(builder_, builder_.getI32Type()).getRes();
  lane_ = code_.remainder(thread_, 32);
  warp_ = code_.divide(thread_, 32);
  rows_ = extent(row_dims_.front()).value;
  for (std::size_t d = 1; d < row_dims_.size(); ++d) rows_ = code_.multiply(rows_, extent(row_dims_[d]).value);
  keys_ = extent(stage_.keys).value;
  blocks_ = code_.divide(code_.add(keys_, tiles_.key_tile - 1), tiles_.key_tile);
}

void AttentionPlaces::find_place() {
  find_thread();
  warp_row_ = code_.multiply(warp_, tiles_.warp_rows);
  const Value query_blocks = code_.divide(code_.add(rows_, tiles_.query_tile - 1), tiles_.query_tile);
  const auto [block, batch] = block_and_batch(query_blocks);
  set_batch(stage_.batch, batch);
  // Behind everything that places are made of: see range_of.
  first_row_ = first_query_ = code_.multiply(builder_.createOrFold<mlir::arith::SubIOp>(code_.add(query_blocks, -1), block), tiles_.query_tile);
}

void AttentionPlaces::set_batch(const std::vector<std::string>& dims, Value number) {
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    const Emitted& size = extent(*dim);
    batch_.insert_or_assign(*dim, index(code_.remainder(number, size.value)));
    number = code_.divide(number, size.value);
  }
}

std::pair<Value, Value> AttentionPlaces::block_and_batch(Value query_blocks) const {
  const Value number = is_careful_ ? code_.read_anew("%ctaid.x") : mlir::NVVM::BlockIdXOp::create(builder_, builder_.getI32Type()).getRes();
  if (stage_.masks.empty()) return {code_.remainder(number, query_blocks), code_.divide(number, query_blocks)};
  constexpr std::int64_t kept_bytes = 16 << 20;  // of keys and values, which stay in an L2 of 40 MB or more beside what else is read
  const auto least = [&](Value a, Value b) { return builder_.createOrFold<mlir::arith::MinSIOp>(a, b); };
  const auto at_least_1 = [&](Value a) { return builder_.createOrFold<mlir::arith::MaxSIOp>(a, code_.number(1)); };
  Value batches = code_.number(1);
  for (const std::string& dim : stage_.batch) batches = code_.multiply(batches, extent(dim).value);
  const Value kept = code_.divide(code_.number(kept_bytes / (element_bytes(stage_.element) * (depth_ + value_columns_))), at_least_1(keys_));
  const Value bundle = least(at_least_1(kept), batches), blocks = code_.multiply(bundle, query_blocks);
  const Value before = code_.multiply(code_.divide(number, blocks), bundle), rest = code_.remainder(number, blocks);
  const Value own = least(bundle, builder_.createOrFold<mlir::arith::SubIOp>(batches, before));
  return {code_.divide(rest, own), code_.add(before, code_.remainder(rest, own))};
}

Value AttentionPlaces::row_of(int m, int half) const {
  const Value row = code_.add(warp_row_, code_.divide(lane_, 4));
  return code_.add(code_.add(first_row_, row), m * fragment + half * column_block);
}

Coordinates AttentionPlaces::at_row(Value row) const {
  Coordinates at = batch_;
  for (std::size_t d = row_dims_.size() - 1; d > 0; --d) {
    const Value size = extent(row_dims_[d]).value;
    at.insert_or_assign(row_dims_[d], index(code_.remainder(row, size)));
    row = code_.divide(row, size);
  }
  at.insert_or_assign(row_dims_.front(), index(row));
  return at;
}

AttentionPlaces::OperandRows AttentionPlaces::rows_along(const Operand& operand, const std::string& dim, Value first, Value count) const {
  const Value offset = arguments_.offset(operand, batch_), stride = arguments_.stride(operand, dim);
  return {[this, offset, stride](Value row) { return code_.add(offset, code_.multiply(row, stride)); }, first, count};
}

AttentionPlaces::OperandRows AttentionPlaces::query_rows() const {
  const Operand& query = stage_.query;
  if (row_dims_.size() == 1) return rows_along(query, stage_.queries, first_row_, rows_);
  return {[this, &query](Value row) { return arguments_.offset(query, at_row(row)); }, first_row_, rows_};
}

void AttentionPlaces::load(const SharedTile& tile, const Operand& operand, const OperandRows& rows, std::int64_t columns,
                            const Loaders& loaders, std::int64_t first_column) const {
  const Value zero = code_.number(0);
  const int elements = chunk_elements(stage_.element);
  if (is_aligned_)
    return tile.copy(arguments_, operand.input, loaders.number, loaders.count, [&](Value row, Value own_chunk) -> GlobalChunk {
      const Value chunk = code_.add(own_chunk, first_column / elements);
      const Value wanted = code_.add(rows.first, row), is_row = code_.less(wanted, rows.count),
                  place = code_.add(rows.offset(wanted), code_.multiply(chunk, elements));
      const bool is_full = columns % fragment == 0;
      const Value is_there = is_full ? is_row : code_.both(is_row, code_.less(chunk, code_.number(columns / elements)));
      return {place, code_.select(is_there, code_.number(elements), zero)};
    });
  tile.load(arguments_, operand.input, loaders.number, loaders.count, [&](Value row, Value own_column) -> GlobalElement {
    const Value column = code_.add(own_column, first_column);
    const Value wanted = code_.add(rows.first, row), is_row = code_.less(wanted, rows.count), is_column = code_.less(column, code_.number(columns));
    return {code_.add(rows.offset(code_.select(is_row, wanted, zero)), code_.select(is_column, column, zero)), code_.both(is_row, is_column)};
  });
}

}  // namespace attune::tensor_cores
