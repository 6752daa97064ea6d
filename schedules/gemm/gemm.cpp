#include "schedules/gemm/gemm.h"

#include <algorithm>

#include "schedules/common/bf16_operand.h"
#include "schedules/gemm/gemm_product.h"
#include "schedules/records/tuned.h"

using Halide::Expr;

namespace attune {
namespace {

bool contains(const std::vector<std::string>& dims, const std::string& dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

void move_to_end(std::vector<std::string>& dims, const std::string& dim) {
  const auto found = std::find(dims.begin(), dims.end(), dim);
  if (found != dims.end()) std::rotate(found, found + 1, dims.end());
}

std::string innermost(const std::vector<std::string>& dims) { return dims.empty() ? std::string() : dims.back(); }

}  // namespace

Product product_of(const Gemm& given, const Extents& extents) {
  Product p;
  p.body = given;
  Gemm& body = p.body;
  const std::string last = innermost(body.out);
  // The sum is the same with the operands exchanged; vectors go along the columns, so these must end in the result's innermost dim.
  if (contains(body.rows, last) || (body.columns.empty() && !body.rows.empty())) {
    std::swap(body.a, body.b);
    std::swap(body.rows, body.columns);
  }
  move_to_end(body.columns, contains(body.columns, last) ? last : innermost(body.b.dims));
  move_to_end(body.over, innermost(body.b.dims));
  move_to_end(body.over, innermost(body.a.dims));
  p.extents = extents;
  p.rows = Flat(body.rows, extents);
  p.a_along_over = !body.over.empty() && lies_along(body.a, body.over.back());
  p.b_along_over = !body.over.empty() && lies_along(body.b, body.over.back());
  p.a_along_rows = body.rows.size() == 1 && lies_along(body.a, body.rows.back());
  p.b_along_columns = !body.columns.empty() && lies_along(body.b, body.columns.back());
  return p;
}

std::vector<std::string> dims_in(const std::vector<std::string>& dims, const Piece& piece) {
  std::vector<std::string> found;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(found), [&](const std::string& dim) { return contains(piece.dims, dim); });
  return found;
}

std::optional<Expr> factor_of_bf16(const Gemm& body, const Extents& extents) {
  Expr factor = 1.f;
  for (const Piece* operand : {&body.a, &body.b}) {
    const auto element = bf16_operand(*operand, vars_at(operand->dims), body.products);
    if (!element) return {};
    factor = factor * element->factor;
  }
  return factor_of_sum(factor, Flat(body.over, extents).extent());
}

Halide::RVar fused_from(Halide::Stage stage, const Halide::RDom& loops, int first) {
  Halide::RVar all(loops[first].name());
  for (int number = first + 1; number < loops.dimensions(); ++number) {
    Halide::RVar both;
    stage.fuse(all, Halide::RVar(loops[number].name()), both);
    all = both;
  }
  return all;
}

Expr finished(const Gemm& body, const Expr& sum, const Coordinates& at) { return body.finish ? body.finish(sum, at) : sum; }

std::vector<Halide::Var> result_vars(const std::vector<std::string>& dims) { return {dims.rbegin(), dims.rend()}; }

std::vector<Parameter> gemm_parameters(const Machine& machine, SizeClass size) {
  // 6 x 4 sums, 4 vectors of columns and a few broadcasts fill 32 registers; 6 x 2 fill 16. Four lanes (NEON) multiply by an element of a
  // register, so each row needs one of its own: 8 x 2.
  std::vector<std::int64_t> row_tiles{1, 2, 4, 6};
  if (machine.registers >= 32) row_tiles.insert(row_tiles.end(), {8, 10, 12, 14});
  return with_defaults("gemm", machine, size,
                       {{"packed", {0, 1}},
                        {"row_tile", std::move(row_tiles)},
                        {"column_vectors", {1, 2, 3, 4}},
                        {"row_block", {1, 2, 4, 8, 16, 32}},
                        {"prefetch", {0, 1, 2}}});
}

int gemm_registers(const Machine& machine, const std::vector<Parameter>& values) {
  const std::int64_t rows = value_of(values, "row_tile"), vectors = value_of(values, "column_vectors");
  constexpr int neon_bytes = 16;  // an element of x stands in a register of its row
  return static_cast<int>(rows * vectors + vectors + (machine.vector_bytes == neon_bytes ? rows : 1));
}

Stored gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  GemmTile tile;
  tile.rows = static_cast<int>(value_of(values, "row_tile"));
  tile.vectors = static_cast<int>(value_of(values, "column_vectors"));
  tile.sums = machine.registers / 2;
  tile.lanes = machine.vector_bytes / 4;
  tile.row_block = static_cast<int>(value_of(values, "row_block"));
  tile.prefetch = static_cast<PrefetchInto>(value_of(values, "prefetch"));
  tile.has_bf16_dot = machine.has_bf16_dot;
  const Product product = product_of(body, extents);
  return value_of(values, "packed") != 0 ? packed_gemm(product, tile) : direct_gemm(product, tile);
}

}  // namespace attune
