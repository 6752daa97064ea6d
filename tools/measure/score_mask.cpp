#include "tools/measure/score_mask.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dsl/interval_functions.h"

namespace attune {
namespace {

constexpr std::int64_t tile_side = 64;  // of what is counted element by element: a few values of 32 KiB

bool truth(double x) { return x != 0; }
Interval<bool> truth(Interval<double> x) { return {x.low != 0, x.high != 0}; }
double number(bool x) { return x ? 1.0 : 0.0; }
double number(double x) { return x; }
Interval<double> number(Interval<bool> x) { return {number(x.low), number(x.high)}; }
Interval<double> number(Interval<double> x) { return x; }

/// `op` on numbers or intervals of them; truth values are 0 and 1.
template <class Op, class N>
N apply(const std::array<N, 3>& x) {
  if constexpr (!PointwiseOp<Op>) {
    return x[0];  // other operations are steps of their own
  } else if constexpr (Op::signature == Signature::logic) {
    if constexpr (Op::arity == 1) return number(Op::apply(truth(x[0])));
    else return number(Op::apply(truth(x[0]), truth(x[1])));
  } else if constexpr (Op::signature == Signature::selection) {
    return number(Op::apply(truth(x[0]), x[1], x[2]));
  } else if constexpr (Op::arity == 1) {
    return number(Op::apply(x[0]));
  } else {
    return number(Op::apply(x[0], x[1]));
  }
}

/// Everything that a value of the kind may be.
Interval<double> anything(Kind kind, Insight insight) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  switch (kind) {
    case Kind::boolean: return {0, 1};
    case Kind::i8: return {-128, 127};
    case Kind::u8: return {0, 255};
    case Kind::i32: return {-0x1p31, 0x1p31 - 1};
    case Kind::i64: return {-0x1p63, 0x1p63};
    case Kind::real: break;
  }
  return insight == Insight::kernel ? Interval<double>{-infinity, infinity} : Interval<double>{nan, nan};
}

}  // namespace

Interval<double> ScoreMask::interval_of(const Step& step, const IndexBox& box, Insight insight, std::span<const Interval<double>> values) const {
  if (step.source == Source::constant) return Interval<double>::point(step.value);
  if (step.source == Source::index) {
    const IndexRange& range = box[step.slot];
    return {static_cast<double>(range.begin), static_cast<double>(range.end - 1)};
  }
  if (step.source == Source::operation) {
    std::array<Interval<double>, 3> x{};
    for (std::size_t i = 0; i < step.operands.size(); ++i) x[i] = values[step.operands[i]];
    return std::visit([&]<class Op>(const Op&) { return apply<Op>(x); }, step.op);
  }
  std::vector<std::size_t> walked;  // slots along which the box has several elements
  for (std::size_t slot = 0; slot < step.strides.size(); ++slot)
    if (step.strides[slot] != 0 && box[slot].size() > 1) walked.push_back(slot);
  const bool is_kept_by_blocks = step.is_stored && step.kind != Kind::real;
  const bool is_looked_up = !step.operands.empty() && has_neighbours(step, values) &&
                            std::ranges::all_of(step.single, [&](std::size_t slot) { return box[slot].size() <= 1; });
  if (!is_kept_by_blocks && !is_looked_up && (walked.size() > 1 || (insight == Insight::kernel && !walked.empty())))
    return anything(step.kind, insight);
  return range_of(step, box, walked).value_or(anything(step.kind, insight));
}

/// Whether what is gathered lies in one row of each table or in two neighbouring ones, which a kernel looks up.
bool ScoreMask::has_neighbours(const Step& step, std::span<const Interval<double>> values) {
  return std::ranges::all_of(step.operands, [&](std::size_t place) { return values[place].high - values[place].low <= 1; });
}

/// From the least to the greatest element of a box of data; nothing if one is not finite.
std::optional<Interval<double>> ScoreMask::range_of(const Step& step, const IndexBox& box, std::span<const std::size_t> walked) {
  IndexBox place = box;
  std::optional<Interval<double>> range;
  while (true) {
    std::int64_t at = 0;
    for (std::size_t slot = 0; slot < step.strides.size(); ++slot) at += step.strides[slot] * place[slot].begin;
    const double element = step.data.data[static_cast<std::size_t>(at)];
    if (!std::isfinite(element)) return {};
    range = range ? Interval<double>{std::min(range->low, element), std::max(range->high, element)} : Interval<double>::point(element);
    std::size_t n = walked.size();
    while (n > 0 && ++place[walked[n - 1]].begin == box[walked[n - 1]].end) --n, place[walked[n]].begin = box[walked[n]].begin;
    if (n == 0) return range;
  }
}

Seen ScoreMask::over(const IndexBox& box, Insight insight) const {
  if (is_empty()) return {true, true};
  std::vector<Interval<double>> values;
  values.reserve(steps_.size());
  for (const Step& step : steps_) values.push_back(interval_of(step, box, insight, values));
  return {values.back().low != 0, values.back().high != 0};
}

bool ScoreMask::may_know_whole_blocks() const {
  struct Knowable {
    bool truth, falsehood;
  };
  IndexBox least = {{0, 16}, {0, 16}};  // no schedule's blocks are smaller
  least.resize(2 + static_cast<std::size_t>(outer_.size()), {0, 1});
  std::vector<Interval<double>> values;
  std::vector<Knowable> known;
  for (const Step& step : steps_) {
    values.push_back(step.source == Source::data ? anything(step.kind, Insight::kernel) : interval_of(step, least, Insight::kernel, values));
    const bool is_looked_up = !step.operands.empty() && has_neighbours(step, values);
    const bool is_known = (step.is_stored && step.kind != Kind::real) || is_looked_up;
    const bool is_open = step.source != Source::data || is_known || (!step.has_rows && !step.has_columns);
    Knowable k{is_open, is_open};
    if (step.source == Source::operation) {
      const auto in = [&](std::size_t i) { return known[step.operands[i]]; };
      if (std::holds_alternative<And>(step.op)) k = {in(0).truth && in(1).truth, in(0).falsehood || in(1).falsehood};
      else if (std::holds_alternative<Or>(step.op)) k = {in(0).truth || in(1).truth, in(0).falsehood && in(1).falsehood};
      else if (std::holds_alternative<Not>(step.op)) k = {in(0).falsehood, in(0).truth};
      else
        for (std::size_t i = 0; i < step.operands.size(); ++i) k = {k.truth && in(i).truth, k.falsehood && in(i).falsehood};
    }
    known.push_back(k);
  }
  return is_empty() || known.back().truth;
}

/// The values of a step in a box of at most tile_side x tile_side, row by row; one row or column stands for all where the
/// step does not depend on it.
struct ScoreMask::Tile {
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(tile_side * tile_side));
  std::size_t row_stride = 0, column_stride = 0;
};

void ScoreMask::evaluate(const Step& step, const IndexBox& box, std::span<const Tile> tiles, Tile& tile) const {
  const auto rows = static_cast<std::size_t>(step.has_rows ? box[row_slot].size() : 1);
  const auto columns = static_cast<std::size_t>(step.has_columns ? box[column_slot].size() : 1);
  tile.column_stride = step.has_columns ? 1 : 0;
  tile.row_stride = step.has_rows ? columns : 0;
  const auto fill = [&](auto value) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) tile.values[r * columns + c] = value(r, c);
  };
  if (step.source == Source::constant) return fill([&](std::size_t, std::size_t) { return step.value; });
  if (step.source == Source::index)
    return fill(
        [&](std::size_t r, std::size_t c) { return static_cast<double>(box[step.slot].begin) + static_cast<double>(step.slot == row_slot ? r : c); });
  if (step.source == Source::data) {
    std::int64_t first = 0;
    for (std::size_t slot = 0; slot < step.strides.size(); ++slot) first += step.strides[slot] * box[slot].begin;
    const auto stride = [&](std::size_t slot) { return slot < step.strides.size() ? static_cast<std::size_t>(step.strides[slot]) : 0; };
    const double* data = step.data.data.data() + first;
    return fill([&](std::size_t r, std::size_t c) { return data[r * stride(row_slot) + c * stride(column_slot)]; });
  }
  const Tile& a = tiles[step.operands[0]];
  const Tile& b = step.operands.size() > 1 ? tiles[step.operands[1]] : a;
  const Tile& c = step.operands.size() > 2 ? tiles[step.operands[2]] : a;
  std::visit(
      [&]<class Op>(const Op&) {
        fill([&](std::size_t row, std::size_t column) {
          const auto at = [&](const Tile& t) { return t.values[row * t.row_stride + column * t.column_stride]; };
          return apply<Op>(std::array{at(a), at(b), at(c)});
        });
      },
      step.op);
}

std::int64_t ScoreMask::count_tile(const IndexBox& box, std::vector<Tile>& tiles) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) evaluate(steps_[i], box, tiles, tiles[i]);
  const Tile& mask = tiles.back();
  std::int64_t visible = 0;
  for (std::int64_t r = 0; r < box[row_slot].size(); ++r)
    for (std::int64_t c = 0; c < box[column_slot].size(); ++c)
      visible += mask.values[static_cast<std::size_t>(r) * mask.row_stride + static_cast<std::size_t>(c) * mask.column_stride] != 0;
  return visible;
}

Portion ScoreMask::count(const IndexBox& box) const {
  std::vector<Tile> tiles(steps_.size());
  BoxProperty visible;
  visible.known = [&](const IndexBox& part) {
    const Seen seen = over(part, Insight::ranges);
    return !seen.possibly ? 0 : seen.certainly ? 1 : -1;
  };
  visible.size = [](const IndexBox& part) {
    std::int64_t size = 1;
    for (const IndexRange& range : part) size *= range.size();
    return size;
  };
  visible.count = [&](const IndexBox& part) { return count_tile(part, tiles); };
  visible.sides.assign(box.size(), 1);
  visible.sides[row_slot] = visible.sides[column_slot] = tile_side;
  return portion_of(box, visible);
}

void ScoreMask::show_tile(const IndexBox& box, std::vector<Tile>& tiles, const Show& show) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) evaluate(steps_[i], box, tiles, tiles[i]);
  const Tile& mask = tiles.back();
  const IndexRange rows = box[row_slot], columns = box[column_slot];
  for (std::int64_t r = 0; r < rows.size(); ++r) {
    const auto is_visible = [&](std::int64_t c) {
      return mask.values[static_cast<std::size_t>(r) * mask.row_stride + static_cast<std::size_t>(c) * mask.column_stride] != 0;
    };
    for (std::int64_t c = 0, first = 0; c < columns.size(); ++c) {
      if (!is_visible(c)) first = c + 1;
      else if (c + 1 == columns.size() || !is_visible(c + 1))
        show({rows.begin + r, rows.begin + r + 1}, {columns.begin + first, columns.begin + c + 1});
    }
  }
}

void ScoreMask::show_part(const IndexBox& box, std::vector<Tile>& tiles, const Show& show) const {
  const Seen seen = over(box, Insight::ranges);
  if (!seen.possibly) return;
  if (seen.certainly) return show(box[row_slot], box[column_slot]);
  const std::size_t longer = box[row_slot].size() > box[column_slot].size() ? row_slot : column_slot;
  if (box[longer].size() <= tile_side) return show_tile(box, tiles, show);
  const std::int64_t middle = box[longer].begin + box[longer].size() / 2;
  for (const IndexRange& half : {IndexRange{box[longer].begin, middle}, IndexRange{middle, box[longer].end}}) {
    IndexBox part = box;
    part[longer] = half;
    show_part(part, tiles, show);
  }
}

void ScoreMask::each_visible(const IndexBox& box, const Show& show) const {
  std::vector<Tile> tiles(steps_.size());
  if (box[row_slot].size() > 0 && box[column_slot].size() > 0) show_part(box, tiles, show);
}

}  // namespace attune
