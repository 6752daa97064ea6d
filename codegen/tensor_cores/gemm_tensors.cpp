#include "codegen/tensor_cores/gemm_tensors.h"

#include <mlir/Dialect/Arith/IR/Arith.h>

#include <algorithm>

namespace attune::tensor_cores {

using mlir::Value;

FlatDims::FlatDims(const Code& code, const Extents& extents, const std::vector<std::string>& dims)
    : code_(code), extents_(extents), dims_(dims), size_(code.number(1)) {
  for (const std::string& dim : dims) size_ = code.multiply(size_, extent(dim));
}

Value FlatDims::tiles(int tile) const { return code_.divide(code_.add(size_, tile - 1), tile); }

Coordinates FlatDims::at(Value index) const {
  Coordinates at;
  for (std::size_t d = dims_.size(); d-- > 0;) {
    const Value own = d == 0 ? index : code_.remainder(index, extent(dims_[d]));
    if (d > 0) index = code_.divide(index, extent(dims_[d]));
    at.insert_or_assign(dims_[d], Emitted{&code_.builder, own, index_range});
  }
  return at;
}

GemmTensors::GemmTensors(const KernelFunction& function, const KernelSteps& plan, const Step& step, const GemmStage& stage)
    : builder_(function.builder),
      code_(function.builder),
      stage_(stage),
      arguments_(function.builder, plan, step, function.function),
      graph_(
          step.graph, function.builder, [this](std::string_view label, const Coordinates& at) { return arguments_.load(label, at); },
          arguments_.extents()),
      rows_(code_, arguments_.extents(), stage.rows),
      columns_(code_, arguments_.extents(), stage.columns),
      over_(code_, arguments_.extents(), stage.over),
      batch_(code_, arguments_.extents(), stage.batch) {}

bool GemmTensors::is_by_own(const Operand& operand) const { return std::ranges::find(stage_.over, operand.dims.back()) == stage_.over.end(); }

void GemmTensors::take_product(Value number) { product_ = batch_.at(number); }

Value GemmTensors::offset(const GemmSide& side, const FlatDims& dims, Value index) const {
  return arguments_.offset(side.operand, dims.at(index));
}

void GemmTensors::load(const SharedTile& tile, const GemmSide& side, Value first_own, Value first_over, Value thread, int threads,
                       Loads loads) const {
  const FlatDims &lines = side.is_by_own ? over_ : side.own, &along = side.is_by_own ? side.own : over_;
  const Value first_line = side.is_by_own ? first_over : first_own, first_along = side.is_by_own ? first_own : first_over;
  const Value base = arguments_.offset(side.operand, product_), zero = code_.number(0);
  const auto least = [&](Value a, Value b) { return builder_.createOrFold<mlir::arith::MinSIOp>(a, b); };
  const auto greatest = [&](Value a, Value b) { return builder_.createOrFold<mlir::arith::MaxSIOp>(a, b); };
  const auto place = [&](Value line, Value at) { return code_.add(base, code_.add(offset(side, lines, line), offset(side, along, at))); };
  const auto line_of = [&](Value row) { return stage_.is_split() && side.is_by_own ? contracted_of_row(code_, row) : row; };
  if (loads != Loads::of_elements)
    return tile.copy(arguments_, side.operand.input, thread, threads, [&](Value row, Value own_chunk) -> GlobalChunk {
      const int elements = chunk_elements(side.operand.element);
      const Value line = code_.add(first_line, line_of(row)), at = code_.add(first_along, code_.multiply(own_chunk, elements));
      if (loads == Loads::of_all) return {place(line, at), {}};
      const Value left = least(greatest(builder_.createOrFold<mlir::arith::SubIOp>(along.size(), at), zero), code_.number(elements));
      return {place(line, at), code_.select(code_.less(line, lines.size()), left, zero)};
    });
  tile.load(arguments_, side.operand.input, thread, threads, [&](Value row, Value column) -> GlobalElement {
    const Value line = code_.add(first_line, line_of(row)), at = code_.add(first_along, column),
                is_there = code_.both(code_.less(line, lines.size()), code_.less(at, along.size()));
    return {place(code_.select(is_there, line, zero), code_.select(is_there, at, zero)), is_there};
  });
}

// Row 2 t + h + 8 s of 16 is element 4 t + 2 s + h.
Value contracted_of_row(const Code& code, Value row) {
  const Value own = code.multiply(code.divide(code.remainder(row, 8), 2), 4), high = code.multiply(code.divide(row, 8), 2);
  return code.add(code.add(own, high), code.remainder(row, 2));
}

Coordinates GemmTensors::place(Value row, Value column) const {
  Coordinates at = product_;
  at.merge(rows_.at(row));
  at.merge(columns_.at(column));
  return at;
}
Value GemmTensors::result(const Coordinates& at, Value sum) const {
  const Value scaled = code_.multiply(sum, code_.real(stage_.a.factor * stage_.b.factor));
  return graph_.at(stage_.result, at, {{stage_.matmul, Emitted{&builder_, scaled, {}}}}).value;
}

void GemmTensors::store(Value row, Value column, Value sum) const {
  const Coordinates at = place(row, column);
  arguments_.store(0, at, result(at, sum));
}
void GemmTensors::store(Value row, Value column, const llvm::SmallVector<Value>& sums) const {
  llvm::SmallVector<Value> results;
  for (std::size_t i = 0; i < sums.size(); ++i) results.push_back(result(place(row, code_.add(column, static_cast<std::int64_t>(i))), sums[i]));
  arguments_.store(0, place(row, column), results);
}

Value GemmTensors::has_runs(int width) const {
  if (stage_.columns.empty() || arguments_.dims_of_output(0).back() != stage_.columns.back()) return Emitted::boolean(builder_, false).value;
  const Value innermost = arguments_.extents().find(stage_.columns.back())->second.value;
  return code_.both(arguments_.has_runs(0, width), code_.less(code_.remainder(innermost, width), code_.number(1)));
}

}  // namespace attune::tensor_cores
