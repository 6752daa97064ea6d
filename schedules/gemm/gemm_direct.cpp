// A product that reads its operands where they are: for few rows, where packing would cost more than it saves.
// Vectors go along the contraction if it is innermost in both operands (each sum is then a vector until the end), otherwise along the columns.
#include <algorithm>

#include "schedules/common/softmax_math.h"
#include "schedules/gemm/dot_sums.h"
#include "schedules/gemm/gemm_product.h"
#include "schedules/gemm/operand_reads.h"

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

namespace attune {
namespace {

/// Parts of an element of memory that are multiplied together: the code holds a product for each.
constexpr int most_parts = 4;

/// Tiles along the innermost columns, from one to before another.
struct ColumnTiles {
  Expr first, end;
};

/// Rows and columns of a tile in registers.
struct Tile {
  int rows;
  Tiled columns;
  ColumnTiles along;
  bool is_whole = false;  ///< none has fewer columns
  int width() const { return columns.size(); }
  Expr tiles_along() const { return Halide::Internal::simplify(Halide::max(along.end - along.first, 0)); }
  /// Of all tiles of columns that of a number among those along the innermost columns.
  Expr column_tile(const Expr& number) const {
    if (columns.outer().size() == 0) return along.first + number;
    const Expr divisor = Halide::max(tiles_along(), 1);
    return along.first + number / divisor * columns.tiles_along() + number % divisor;
  }
};

/// What an update of the result goes over: column and row in a tile, tile of rows, tile of columns in a task, task, and the batch dims; and the
/// row, number of the tile of columns and column of the product where an iteration is.
struct ResultLoops {
  RDom over;
  Expr row, number, column;
};

class DirectGemm {
 public:
  DirectGemm(const Product& product, const GemmTile& tile)
      : p_(product), body_(p_.body), tile_(tile), lanes_(tile.lanes), is_dot_(p_.b_along_over) {
    if (!is_cheap(body_.a, cheap_of_a) || (is_dot_ && !p_.a_along_over)) body_.a = copied(body_.a, body_.over, lanes_);
    if (!is_cheap(body_.b, cheap_of_b) || (!is_dot_ && !p_.b_along_columns)) body_.b = copied(body_.b, is_dot_ ? body_.over : body_.columns, lanes_);
    std::vector<std::string> over, parts;
    int part_count = 1;
    for (const std::string& dim : body_.over) {
      const int extent = fixed_value(p_.extents.at(dim)).value_or(most_parts + 1);
      const bool is_part = !is_dot_ && dim != body_.over.back() && extent > 0 && part_count * extent <= most_parts && is_in_elements(dim);
      if (is_part) part_count *= extent;
      (is_part ? parts : over).push_back(dim);
    }
    over_ = Tiled(over, p_.extents, lanes_);
    parts_ = Flat(parts, p_.extents);
  }

  /// Tiles of several rows, the last one padded; where they are no more than half of one, of half as many and twice the columns, and a single row has
  /// tiles of its own: the longer the pieces of b's rows that are read at once, the better.
  Stored result() {
    const Expr height = p_.rows.extent();
    const int rows = is_dot_ ? std::min(tile_.rows, tile_.sums / dot_columns) : tile_.rows;
    const int few = is_dot_ || body_.columns.empty() || rows < 4 ? 1 : rows / 2;
    if (rows > 1) add_rows(tile_of(rows, tile_.vectors), Halide::select(height <= few, 0, tiles_of(height, rows)));
    if (few > 1) add_wide_rows(few, 2 * tile_.vectors, Halide::select(height > 1 && height <= few, 1, 0));
    add_wide_rows(1, vectors_of_row(), rows > 1 ? Halide::select(height == 1, 1, 0) : height);
    result_.compute_root();
    return {.func = result_, .dims = body_.out, .numbers = std::move(numbers_)};
  }

 private:
  /// Along all columns.
  Tile tile_of(int rows, int vectors) const {
    const Tiled columns(body_.columns, p_.extents, is_dot_ ? dot_columns : vectors * lanes_);
    return {rows, columns, {0, columns.tiles_along()}};
  }
  /// Whether b's elements along the dim are made of the same memory, as the two integers of a byte are.
  bool is_in_elements(const std::string& dim) const;
  /// Vectors of columns in the tiles of a single row: as many chains of sums as can be.
  int vectors_of_row() const;
  /// An update of the result by so many tiles of rows, each along the tile's columns.
  void add_rows(const Tile& tile, const Expr& tiles);
  ResultLoops loops_over(const Tile& tile, const Expr& tiles);
  void schedule_last_update(const Tile& tile, const RDom& loops);
  /// The same by whole tiles of so many vectors of columns, and the columns that are left by the template's own: padding is costly.
  void add_wide_rows(int rows, int vectors, const Expr& tiles);
  void sum_columns(const Tile& tile, Func sums, const Halide::LoopLevel& level);
  /// a * b at row i of tile io, column j of the tile with number jo, and the contraction's `outer`, `index` and `part`.
  Expr product(const Tile& tile, const Expr& outer, const Expr& index, const Expr& part) const;
  /// These, and the batch dims.
  std::vector<Var> tile_vars(std::vector<Var> first) const;

  const Product p_;
  Gemm body_;
  const GemmTile tile_;
  const int lanes_;
  const bool is_dot_;
  Tiled over_;  ///< what is contracted, but for parts_
  Flat parts_;  ///< contracted dims inside of b's elements
  Var j_{"j-"}, i_{"i-"}, jo_{"jo-"}, io_{"io-"};
  Func result_{"product"};
  std::vector<OpaqueNumber> numbers_;
};

std::vector<Var> DirectGemm::tile_vars(std::vector<Var> first) const {
  for (const std::string& dim : body_.batch) first.emplace_back(dim);
  return first;
}

int DirectGemm::vectors_of_row() const {
  const int most = tile_.sums / 2;  // beside the sums: a scale and a minimum for each, where b's elements are made of them
  const std::optional<int> columns = body_.columns.empty() ? 1 : fixed_value(p_.extents.at(body_.columns.back()));
  const int count = columns ? std::max((*columns + lanes_ - 1) / lanes_, 1) : most;
  if (count <= most) return count;
  for (int vectors = most; vectors > most / 2; --vectors)
    if (columns && *columns % (vectors * lanes_) == 0) return vectors;
  return std::max(most / tile_.vectors, 1) * tile_.vectors;
}

void DirectGemm::add_wide_rows(int rows, int vectors, const Expr& tiles) {
  const std::optional<int> columns = body_.columns.empty() ? 1 : fixed_value(p_.extents.at(body_.columns.back()));
  if (columns && *columns <= vectors * lanes_) vectors = std::max((*columns + lanes_ - 1) / lanes_, 1);
  const bool is_one = columns && *columns <= vectors * lanes_;
  if (is_dot_ || is_one || vectors <= tile_.vectors) return add_rows(tile_of(rows, vectors), tiles);
  Tile wide = tile_of(rows, vectors);
  wide.is_whole = true;
  wide.along.end = Halide::Internal::simplify(wide.columns.extent() / wide.width());
  Tile narrow = tile_of(rows, tile_.vectors);
  narrow.along.first = wide.along.end * wide.width() / narrow.width();
  if (!is_const_zero(wide.along.end)) add_rows(wide, tiles);
  const Expr rest = Halide::Internal::simplify(wide.columns.extent() % wide.width());
  if (!is_const_zero(rest)) add_rows(narrow, tiles);
}

bool DirectGemm::is_in_elements(const std::string& dim) const {
  if (std::find(body_.b.dims.begin(), body_.b.dims.end(), dim) == body_.b.dims.end()) return false;
  return !is_read_along(body_.b.at(vars_at(body_.b.dims)), dim);
}

Expr DirectGemm::product(const Tile& tile, const Expr& outer, const Expr& index, const Expr& part) const {
  Coordinates at = vars_at(body_.batch);
  over_.place_outer(outer, within(index, over_.extent()), at);
  parts_.place(part, at);
  p_.rows.place(clamped(io_ * tile.rows + i_, p_.rows.extent(), false), at);
  const Expr column_tile = tile.column_tile(jo_), column = tile.columns.first(column_tile) + j_, columns = tile.columns.extent();
  tile.columns.place(column_tile, tile.is_whole ? within(column, columns) : clamped(column, columns, !is_dot_), at);
  return Halide::cast<float>(body_.a.at(at)) * Halide::cast<float>(body_.b.at(at));
}

void DirectGemm::sum_columns(const Tile& tile, Func sums, const Halide::LoopLevel& level) {
  const bool has_parts = parts_.size() > 0;
  Halide::Region ranges{{0, over_.extent()}, {0, over_.outer().extent()}};
  if (has_parts) ranges.emplace_back(0, parts_.extent());
  RDom k(ranges, "k");
  sums(tile_vars({j_, i_, jo_, io_})) = 0.f;
  sums(tile_vars({j_, i_, jo_, io_})) += product(tile, k[1], k[0], has_parts ? Expr(k[2]) : Expr(0));
  Var vector("vector-"), lane("lane-");
  sums.compute_at(level).bound_extent(j_, tile.width()).bound_extent(i_, tile.rows);
  sums.split(j_, vector, lane, lanes_).vectorize(lane).unroll(vector).unroll(i_);
  std::vector<Halide::VarOrRVar> order{lane, vector, i_};
  if (has_parts) order.emplace_back(RVar(k[2].name()));
  if (!body_.over.empty()) order.insert(order.end(), {RVar(k[0].name()), RVar(k[1].name())});  // the update has no loops that it does not use
  sums.update().split(j_, vector, lane, lanes_).reorder(order);
  sums.update().vectorize(lane).unroll(vector).unroll(i_);
  if (has_parts) sums.update().unroll(RVar(k[2].name()));
}

void DirectGemm::add_rows(const Tile& tile, const Expr& tiles) {
  Func sums("sums");
  Halide::LoopLevel level;
  if (is_dot_) {
    const auto term = [&](const Expr& outer, const Expr& index) { return product(tile, outer, index, 0); };
    sum_dots(sums, {tile.width(), tile.rows, lanes_, j_, i_, tile_vars({jo_, io_})}, over_, term, level);
  } else {
    sum_columns(tile, sums, level);
  }

  const ResultLoops loops = loops_over(tile, tiles);
  Coordinates at;
  // By the number, which loops alone make: of a quotient and a remainder bounds inference would ask for all tiles along the columns.
  std::vector<Expr> sum{loops.over[0], loops.over[1], loops.number, loops.over[2]};
  for (std::size_t n = 0; n < body_.batch.size(); ++n) {
    at[body_.batch[n]] = within(loops.over[5 + static_cast<int>(n)], p_.extents.at(body_.batch[n]));
    sum.push_back(at[body_.batch[n]]);
  }
  p_.rows.place(loops.row, at);
  tile.columns.place(tile.column_tile(loops.number), within(loops.column, tile.columns.extent()), at);
  const Expr element = finished(body_, sums(sum), at);
  if (!result_.defined()) result_(result_vars(body_.out)) = Halide::undef(element.type());
  result_(innermost_first(body_.out, at)) = element;
  level.set(Halide::LoopLevel(result_, RVar(loops.over[2].name())));
  schedule_last_update(tile, loops.over);
}

ResultLoops DirectGemm::loops_over(const Tile& tile, const Expr& tiles) {
  const Tiled& columns = tile.columns;
  const int rows = tile.rows, width = tile.width();
  const Expr column_tiles = columns.outer().extent() * tile.tiles_along();
  const auto told = [&](const Expr& value) { return opaque(value, numbers_); };
  const Expr most = pieces_of(multiplications_per_task, {p_.rows.extent(), over_.extent(), over_.outer().extent(), parts_.extent(), width});
  const Expr blocks = told(tiles_of(column_tiles, most)), breadth = told(tiles_of(column_tiles, blocks));
  Halide::Region ranges{{0, width}, {0, rows}, {0, tiles}, {0, breadth}, {0, Halide::select(tiles == 0, 0, blocks)}};
  for (const std::string& dim : body_.batch) ranges.emplace_back(0, p_.extents.at(dim));
  RDom loops(ranges, "loops_" + std::to_string(rows) + "_" + std::to_string(width));
  const Expr row = loops[2] * rows + loops[1], number = loops[4] * breadth + loops[3];
  const Expr column = columns.first(tile.column_tile(number)) + loops[0];
  loops.where(number < column_tiles);
  loops.where(row < p_.rows.extent());
  if (!tile.is_whole) loops.where(Halide::likely(column < columns.extent()));
  return {loops, row, number, column};
}

/// A task is a part of a row of tiles, of any index of the batch; a tile's rows and columns are unrolled and in vectors.
void DirectGemm::schedule_last_update(const Tile& tile, const RDom& loops) {
  const auto loop = [&](int number) { return RVar(loops[number].name()); };
  Halide::Stage stage = result_.update(result_.num_update_definitions() - 1);
  RVar vector("vector-"), lane("lane-");
  stage.allow_race_conditions().split(loop(0), vector, lane, std::min(tile.width(), lanes_));
  const RVar task = fused_from(stage, loops, 4);
  stage.reorder(lane, vector, loop(1), loop(2), loop(3), task).vectorize(lane).unroll(vector).parallel(task);
}

}  // namespace

Stored direct_gemm(const Product& product, const GemmTile& tile) { return DirectGemm(product, tile).result(); }

}  // namespace attune
