#include "schedules/gemm/gemm_cut.h"

#include "schedules/common/tiles.h"

using Halide::Expr;

namespace attune {
namespace {

/// What the packed rows of a span may occupy: each part of the columns reads them once more, and every span packs all columns once more. Less than
/// what malloc keeps for the next call (32 MB, then every call would pay for fresh pages: 12 % of a product of 3000 x 1000 over 4096).
constexpr int row_span_bytes = 24 * 1024 * 1024;
/// What the rows of one task may occupy.
constexpr int row_block_bytes = 512 * 1024;
/// As many tasks give every thread some and keep the last ones short; columns are cut once rows and batch are too few for it.
constexpr int wanted_tasks = 16;
/// What a part's panels of columns may occupy: half of a second-level cache of 1 MB, in which they are still when tasks read them.
constexpr int column_panel_bytes = 512 * 1024;
/// Panels that fill more than half of it come from the next cache anyway: so many a part, for each part reads the rows again.
constexpr int long_panels_a_part = 4;
/// Elements of a slice of a contraction whose panels are longer than that, and what a slice of a task's rows may occupy beside a panel's slice in a
/// second-level cache of 1 MB. On Emerald Rapids 512 x 3072 x 768 takes 0.81 of the time of whole panels, 512 x 4096 x 4096 0.80, 256 x 8192 x 1024
/// 0.55; slices of 512 and of 768 take as long, those of 384 kB of rows 3 % longer.
constexpr int slice_elements = 1024;
constexpr int row_slice_bytes = 768 * 1024;

}  // namespace

PackedCut cut_packed(const PackedTiles& tiles, std::vector<OpaqueNumber>& numbers) {
  const auto number = [&](const Expr& value) { return opaque(value, numbers); };
  const Expr tile_bytes = tiles.over * 4;  // of one row or column
  const Expr row_bytes = tile_bytes * tiles.rows, column_bytes = tile_bytes * tiles.columns;
  const Expr is_sliced = tiles.can_slice ? column_bytes > column_panel_bytes : Expr(false);
  PackedCut c;
  c.slices = number(select(is_sliced, tiles_of(tiles.blocks, slice_elements / tiles.lanes), 1));
  c.slice = number(tiles_of(tiles.blocks, c.slices));
  c.outer_slices = number(select(is_sliced, tiles_of(tiles.outer, Halide::max(slice_elements / tiles.lanes / Halide::max(c.slice, 1), 1)), 1));
  c.outer_slice = number(tiles_of(tiles.outer, c.outer_slices));
  c.spans = number(tiles_of(tiles.row_tiles, Halide::max(row_span_bytes / row_bytes / tiles.own_products, 1)));
  c.span = number(tiles_of(tiles.row_tiles, c.spans));
  // Slices of panels come from the third-level cache for each task: it has as many rows as the second-level one holds.
  const Expr slice_bytes = Halide::max(c.slice * c.outer_slice, 1) * tiles.lanes * 4 * tiles.rows;
  const Expr most_rows = select(is_sliced, Halide::max(row_slice_bytes / slice_bytes, 1), Halide::clamp(row_block_bytes / row_bytes, 1, tiles.row_block));
  c.height = number(Halide::clamp(select(is_sliced, c.span, c.span * tiles.products / wanted_tasks), 1, most_rows));
  c.row_blocks = number(tiles_of(c.span, c.height));
  const Expr panels = Halide::select(column_bytes > column_panel_bytes / 2, long_panels_a_part, column_panel_bytes / column_bytes);
  c.parts = number(tiles_of(tiles.column_tiles, panels));
  c.part = number(tiles_of(tiles.column_tiles, c.parts));
  c.column_blocks = number(Halide::clamp(wanted_tasks / (c.row_blocks * tiles.products), 1, c.part));
  c.breadth = number(tiles_of(c.part, c.column_blocks));
  return c;
}

}  // namespace attune
