#include "schedules/gemm/narrow_gemm.h"

#include "schedules/gemm/dot_sums.h"
#include "schedules/gemm/gemm_product.h"
#include "schedules/gemm/operand_reads.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

constexpr std::string_view narrow_gemm_name = "narrow_gemm";

class NarrowGemm {
 public:
  NarrowGemm(const Product& product, int rows, int lanes)
      : p_(product), body_(p_.body), rows_(rows), lanes_(lanes), over_(body_.over, p_.extents, lanes), columns_(body_.columns, p_.extents, dot_columns) {
    if (!is_cheap(body_.a, cheap_of_a) || !p_.a_along_over) body_.a = copied(body_.a, body_.over, lanes_);
    if (!is_cheap(body_.b, cheap_of_b) || !p_.b_along_over) body_.b = copied(body_.b, body_.over, lanes_);
  }

  Stored result() {
    Func sums("sums");
    std::vector<Var> others{jo_, io_};
    for (const std::string& dim : body_.batch) others.emplace_back(dim);
    Halide::LoopLevel level;
    sum_dots(sums, {dot_columns, rows_, lanes_, j_, i_, others}, over_, [&](const Expr& outer, const Expr& index) { return product(outer, index); }, level);
    store(sums, level);
    return {.func = result_, .dims = body_.out, .numbers = std::move(numbers_)};
  }

 private:
  Expr product(const Expr& outer, const Expr& index) const {
    Coordinates at = vars_at(body_.batch);
    over_.place_outer(outer, within(index, over_.extent()), at);
    p_.rows.place(clamped(io_ * rows_ + i_, p_.rows.extent(), false), at);
    columns_.place(jo_, clamped(columns_.first(jo_) + j_, columns_.extent(), false), at);
    return Halide::cast<float>(body_.a.at(at)) * Halide::cast<float>(body_.b.at(at));
  }

  /// A task is a block of rows, of any index of the batch; all their columns follow one another, while a tile's rows are in the first-level cache.
  void store(const Func& sums, Halide::LoopLevel& level) {
    const Expr row_tiles = tiles_of(p_.rows.extent(), rows_), column_tiles = columns_.tiles();
    const auto told = [&](const Expr& value) { return opaque(value, numbers_); };
    const Expr most = pieces_of(multiplications_per_task, {over_.extent(), over_.outer().extent(), column_tiles, dot_columns * rows_});
    const Expr blocks = told(tiles_of(row_tiles, most)), height = told(tiles_of(row_tiles, blocks));
    Halide::Region ranges{{0, dot_columns}, {0, rows_}, {0, column_tiles}, {0, height}, {0, blocks}};
    for (const std::string& dim : body_.batch) ranges.emplace_back(0, p_.extents.at(dim));
    RDom loops(ranges, "loops");
    const Expr row_tile = loops[4] * height + loops[3], row = row_tile * rows_ + loops[1], column = columns_.first(loops[2]) + loops[0];
    loops.where(row_tile < row_tiles);
    loops.where(row < p_.rows.extent());
    loops.where(Halide::likely(column < columns_.extent()));
    Coordinates at;
    std::vector<Expr> sum{loops[0], loops[1], loops[2], within(row_tile, row_tiles)};
    for (std::size_t n = 0; n < body_.batch.size(); ++n) {
      at[body_.batch[n]] = within(loops[5 + static_cast<int>(n)], p_.extents.at(body_.batch[n]));
      sum.push_back(at[body_.batch[n]]);
    }
    p_.rows.place(row, at);
    columns_.place(loops[2], within(column, columns_.extent()), at);
    const Expr element = finished(body_, sums(sum), at);
    result_(result_vars(body_.out)) = Halide::undef(element.type());
    result_(innermost_first(body_.out, at)) = element;

    const auto loop = [&](int number) { return RVar(loops[number].name()); };
    level.set(Halide::LoopLevel(result_, loop(2)));
    result_.compute_root();
    Halide::Stage stage = result_.update().allow_race_conditions();
    const RVar task = fused_from(stage, loops, 4);
    stage.reorder(loop(0), loop(1), loop(2), loop(3), task).vectorize(loop(0)).parallel(task);
  }

  const Product p_;
  Gemm body_;
  const int rows_, lanes_;
  const Tiled over_, columns_;
  Var j_{"j-"}, i_{"i-"}, jo_{"jo-"}, io_{"io-"};
  Func result_{"product"};
  std::vector<OpaqueNumber> numbers_;
};

}  // namespace

std::string narrow_gemm_refusal(const Gemm& body, const Extents& extents, const Machine&) {
  return product_of(body, extents).a_along_over ? "" : "rows that do not lie along the contraction would be copied";
}

std::vector<Parameter> narrow_gemm_parameters(const Machine& machine, SizeClass size) {
  return with_defaults(narrow_gemm_name, machine, size, {{"row_tile", {1, 2, 4, 6}}});
}

int narrow_gemm_registers(const Machine&, const std::vector<Parameter>& values) {
  return static_cast<int>(value_of(values, "row_tile")) * dot_columns + dot_columns + 1;  // sums, columns and an element of a row
}

Stored narrow_gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  return NarrowGemm(product_of(body, extents), static_cast<int>(value_of(values, "row_tile")), machine.vector_bytes / 4).result();
}

}  // namespace attune
