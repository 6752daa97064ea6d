// Sums of a packed product in tile registers: 16 rows by 16 columns, of blocks of 32 contracted elements of bf16.
#include "codegen/halide/rewrites/bf16_dots.h"
#include "schedules/common/matrix_loops.h"
#include "schedules/gemm/gemm_packed.h"

using Halide::Expr;
using Halide::RVar;
using Halide::Var;

namespace attune {

void PackedGemm::define_matrix_sums() {
  const std::vector<Expr> sum = sum_of(i_);
  main_ = Halide::RDom({{0, tile_.lanes}, {0, blocks()}, {0, outer_places()}}, "main");
  matrix_sums_(sum) = 0.f;
  matrix_sums_(sum) = bf16_dot(matrix_sums_(sum), row_panel_(with_batch(std::vector<Expr>{main_[0], i_, main_[1], main_[2], io_}, body_.a)),
                              column_element(main_[0], main_[1], main_[2]));
  sums_(sum) = matrix_sums_(sum);
}

void PackedGemm::schedule_matrix_sums() {
  for (Halide::Func* f : {&sums_, &matrix_sums_})
    f->compute_at(result_, RVar(loops_[io_loop_].name())).bound_extent(j_, width_).bound_extent(i_, tile_.rows).bound_extent(jo_, 1).bound_extent(io_, 1).bound_extent(slice_, 1);
  sums_.reorder(in_tiles(sums_, j_, i_));
  matrix_sums_.store_in(Halide::MemoryType::AMXTile).reorder(in_tiles(matrix_sums_, j_, i_));
  sum_in_tiles(matrix_sums_.update(), j_, i_, {RVar(main_[0].name())}, {RVar(main_[1].name()), RVar(main_[2].name())});
}

}  // namespace attune
