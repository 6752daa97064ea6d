/// One kernel: scores, weights and the state of an online softmax in the registers of a block's threads, operands in the memory that they share.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "schedules/common/opaque_condition.h"
#include "schedules/gpu/gpu.h"
#include "schedules/gpu/gpu_online_softmax_stage.h"
#include "schedules/records/tuned.h"

using Halide::Expr;
using Halide::RDom;

namespace attune {

GpuSoftmaxTiles::GpuSoftmaxTiles(const std::vector<Parameter>& parameters) {
  const auto value = [&](std::string_view name) { return static_cast<int>(value_of(parameters, name)); };
  columns = value("block_columns");
  rows = value("block_rows");
  thread_rows = value("thread_rows");
  thread_keys = value("thread_keys");
  thread_values = value("thread_values");
  over = value("over_chunk");
  staged_keys = value("value_chunk");
}

std::int64_t GpuSoftmaxTiles::shared_elements() const {
  const std::int64_t padded_rows = queries() + row_padding;
  const std::int64_t products = over * queries() + (over + row_padding) * keys(), sums = keys() * padded_rows + values() * staged_keys * columns;
  return products + sums + 2 * columns * padded_rows;
}

GpuSoftmax::GpuSoftmax(const OnlineSoftmax& body, const Extents& extents, Device device, const GpuSoftmaxTiles& tiles)
    : body_(body),
      extents_(extents),
      device_(device),
      tiles_(fitted(tiles)),
      keys_(extents.at(body.keys)),
      depth_(extents.at(body.value_depth)),
      rows_(tiles.has_splits() ? dims_of_rows(body) : std::vector{body.queries}, extents),
      grid_(blocks_of_threads()) {}

Stored GpuSoftmax::build() {
  define_operands();
  define_scores();
  define_weights();
  define_state();
  return has_states() ? stored_from_states() : stored_by_the_kernel();
}

GpuSoftmaxTiles GpuSoftmax::fitted(GpuSoftmaxTiles tiles) const {
  if (const auto depth = fixed_value(extents_.at(body_.value_depth)))
    tiles.thread_values = std::min(tiles.thread_values, up_to_multiple((std::max(*depth, 1) + tiles.columns - 1) / tiles.columns, gpu_vector));
  if (const auto over = fixed_value(Flat(body_.over, extents_).extent()))
    tiles.over = std::min(tiles.over, up_to_multiple(std::max(*over, 1), gpu_vector));
  return tiles;
}

Flat GpuSoftmax::blocks_of_threads() const {
  Extents extents = extents_;
  // Without values, too, rows have the states of which results beside the first are made.
  const Expr value_tiles = tiles_of(depth_, tiles_.values());
  extents[value_tile] = has_states() ? Halide::max(value_tiles, 1) : value_tiles;
  extents[row_tile] = tiles_of(rows_.extent(), tiles_.queries());
  std::vector<std::string> dims = tiles_.has_splits() ? dims_of_keys(body_) : body_.batch;
  if (tiles_.has_splits()) {
    extents[split] = splits();
    dims.emplace_back(split);
  }
  dims.insert(dims.end(), {value_tile, row_tile});
  return {dims, extents};
}

Coordinates GpuSoftmax::place_of(const Expr& block) const {
  Coordinates at;
  grid_.place(block, at);
  return at;
}

Coordinates GpuSoftmax::at_row(const Expr& row) const {
  Coordinates at = place_of(block_);
  const Expr index = clamped(at.at(row_tile) * tiles_.queries() + row, rows_.extent(), false);
  if (rows_.size() == 1) at[body_.queries] = index;
  else rows_.place(index, at);
  return at;
}

Expr GpuSoftmax::column_of(const Expr& element, const Expr& thread) const {
  return (element / gpu_vector) * (gpu_vector * tiles_.columns) + thread * gpu_vector + element % gpu_vector;
}

void GpuSoftmax::define_operands() {
  if (has_product()) {
    const Expr index = Expr(chunk_) * tiles_.over + Expr(in_chunk_), extent = over().extent();
    const auto staged = [&](const Expr& element) {
      return is_whole_chunks() ? element : Halide::select(opaque_condition(index < extent), element, 0.f);
    };
    Coordinates at = at_row(row_);
    over().place(clamped(index, extent, false), at);
    if (body_.query) query_(in_chunk_, row_, chunk_, block_) = staged(query_of_product(body_, at));
    at[body_.keys] = key_of(key_);
    if (body_.key) key_operand_(in_chunk_, key_, chunk_, key_block_, block_) = staged(body_.key.at(at));
  }
  Coordinates at = place_of(block_);
  at[body_.keys] = key_of(key_);
  at[body_.value_depth] = clamped(at.at(value_tile) * tiles_.values() + Expr(column_), depth_, false);
  value_(column_, key_, key_block_, block_) =
      Halide::select(opaque_condition(key_place(key_) < keys_), body_.value.at(at), 0.f);
}

bool GpuSoftmax::is_whole_chunks() const {
  const auto extent = fixed_value(over().extent());
  return extent && *extent % tiles_.over == 0;
}

Coordinates GpuSoftmax::score_coordinates() const {
  Coordinates at = at_row(row_);
  at[body_.keys] = key_of(key_in_block(number_, thread_));
  return at;
}

void GpuSoftmax::define_scores() {
  const Exprs place = {number_, thread_, row_, key_block_, block_};
  Coordinates at = score_coordinates();
  Expr raw;
  if (has_product()) {
    over_ = RDom(0, tiles_.over, 0, tiles_of(over().extent(), tiles_.over), "over");
    const Expr query = body_.query ? query_(over_.x, row_, over_.y, block_) : Expr();
    const Expr key = body_.key ? key_operand_(over_.x, key_in_block(number_, thread_), over_.y, key_block_, block_) : Expr();
    const Expr index = over_.y * tiles_.over + over_.x;
    Coordinates in_sum = at;
    over().place(clamped(index, over().extent(), false), in_sum);
    Expr term = score_term(body_, query, key, in_sum);
    if (body_.combine && !is_whole_chunks()) term = Halide::select(opaque_condition(index < over().extent()), term, 0.f);
    product_(place) = 0.f;
    product_(place) += term;
    raw = product_(place);
  } else {
    raw = raw_score(body_, at, [] { return Expr(); });
  }
  const Expr exists = key_place(key_in_block(number_, thread_)) < keys_;
  scores_(place) = Halide::select(opaque_condition(is_seen(body_, at, exists)), changed_score(body_, raw, at, is_base_2(body_)), hidden_score(body_));
}

void GpuSoftmax::define_weights() {
  const Exprs row = {thread_, row_, key_block_, block_}, place = joined({number_}, row);
  if (body_.has_softmax) define_powers();
  const Expr weight = body_.has_softmax ? weights_(place) : scores_(place);
  shared_weights_(place) = body_.weight ? body_.weight(weight, score_coordinates()) : weight;
  keys_of_block_ = RDom(0, tiles_.columns, 0, tiles_.thread_keys, "keys_of_block");
  if (has_states() && !fixed_value(depth_)) keys_of_block_.where(opaque_condition(depth_ > 0));
  const Exprs partial = joined({element_}, row);
  partial_(partial) = 0.f;
  partial_(partial) += shared_weights_(keys_of_block_.y, keys_of_block_.x, row_, key_block_, block_) *
                       value_(column_of(element_, thread_), key_in_block(keys_of_block_.y, keys_of_block_.x), key_block_, block_);
}

void GpuSoftmax::define_powers() {
  const Exprs row = {thread_, row_, key_block_, block_}, place = joined({number_}, row);
  Expr maximum = scores_(joined({0}, row));
  for (int n = 1; n < tiles_.thread_keys; ++n) maximum = larger(maximum, scores_(joined({n}, row)));
  thread_maximum_(row) = maximum;
  Expr reference = std::numeric_limits<float>::lowest();
  for (int n = 0; n < tiles_.columns; ++n) reference = larger(reference, thread_maximum_(n, row_, key_block_, block_));
  reference_(row) = reference;
  weights_(place) = power(scores_(place) - reference_(row));
}

Expr GpuSoftmax::block_of_keys(const Coordinates& blocks, const Expr& in_split) const {
  return tiles_.has_splits() ? blocks.at(split) * (tiles_.split_tile / tiles_.keys()) + in_split : in_split;
}

Expr GpuSoftmax::may_be_visible() const {
  Coordinates at;
  grid_.place_unpromised(block_, at);
  const Expr key_block = block_of_keys(at, blocks_.x), first_key = key_block * tiles_.keys();
  const Expr exists = tiles_.has_splits() ? first_key < keys_ : Expr();
  if (!body_.visibility) return exists;
  Block block;
  // Of a batch dim that the grid lacks a tile may have any rows.
  for (const std::string& dim : body_.batch) block[dim] = at.contains(dim) ? Span{at.at(dim), at.at(dim)} : Span{0, extents_.at(dim) - 1};
  const Expr first_row = at.at(row_tile) * tiles_.queries(), queries = extents_.at(body_.queries);
  if (rows_.size() == 1)
    block[body_.queries] = {first_row, Halide::min(first_row + tiles_.queries(), queries) - 1, at.at(row_tile), tiles_.queries()};
  else block[body_.queries] = {0, queries - 1};
  block[body_.keys] = {first_key, Halide::min(first_key + tiles_.keys(), keys_) - 1, key_block, tiles_.keys()};
  const Expr visible = body_.visibility(block).possibly;
  return exists.defined() ? exists && visible : visible;
}

void GpuSoftmax::define_state() {
  const Exprs row = {thread_, row_, block_};
  std::vector<Expr> none(static_cast<std::size_t>(tiles_.thread_values), 0.f);
  if (body_.has_softmax) none.emplace_back(std::numeric_limits<float>::lowest());
  if (keeps_total(body_)) none.push_back(total_of_nothing(body_));
  state_(row) = Halide::Tuple(none);
  blocks_ = RDom(0, tiles_.has_splits() ? Expr(tiles_.split_tile / tiles_.keys()) : tiles_of(keys_, tiles_.keys()), "key_blocks");
  if (const Expr visible = may_be_visible(); visible.defined()) blocks_.where(opaque_condition(visible));
  const Exprs of_block = {thread_, row_, blocks_.x, block_};
  const Halide::FuncRef before = state_(row);
  if (!body_.has_softmax) return define_sums(before, of_block);
  const int values = tiles_.thread_values;
  const Expr reference_before = before[values], reference = larger(reference_before, reference_(of_block));
  const Expr scale_before = power(reference_before - reference), scale = power(reference_(of_block) - reference);
  std::vector<Expr> after;
  for (int n = 0; n < values; ++n) after.push_back(before[n] * scale_before + partial_(joined({n}, of_block)) * scale);
  after.push_back(reference);
  Expr total = weights_(joined({0}, of_block));
  for (int n = 1; n < tiles_.thread_keys; ++n) total += weights_(joined({n}, of_block));
  after.push_back(before[values + 1] * scale_before + total * scale);
  state_(row) = Halide::Tuple(after);
  totals_(row) = state_(row)[values + 1];
}

void GpuSoftmax::define_sums(const Halide::FuncRef& before, const Exprs& of_block) {
  const Exprs row = {thread_, row_, block_};
  std::vector<Expr> after;
  for (int n = 0; n < tiles_.thread_values; ++n) after.push_back(before[n] + partial_(joined({n}, of_block)));
  if (keeps_total(body_)) {
    const auto term = [&](int n) { return term_of_total(body_, scores_(joined({n}, of_block))); };
    Expr total = term(0);
    for (int n = 1; n < tiles_.thread_keys; ++n) total = folded(body_, total, term(n));
    after.push_back(folded(body_, before[place_of_total()], total));
  }
  state_(row) = Halide::Tuple(after);
  if (keeps_total(body_)) totals_(row) = state_(row)[place_of_total()];
}

std::vector<Parameter> gpu_online_softmax_parameters(const Machine& machine, SizeClass size) {
  return with_defaults("gpu_online_softmax", machine, size,
                       {{"block_columns", {4, 8, 16}},
                        {"block_rows", {4, 8, 16, 32}},
                        {"thread_rows", {1, 2, 4, 8}},
                        {"thread_keys", {2, 4, 8}},
                        {"thread_values", {4, 8, 16}},
                        {"over_chunk", {16, 32, 64}},
                        {"value_chunk", {1, 2, 4}}});
}

std::string gpu_online_softmax_problem(const Machine& machine, const std::vector<Parameter>& values) {
  if (std::string problem = multiple_problem("gpu_online_softmax", values, "thread_keys", "value_chunk"); !problem.empty()) return problem;
  return shared_memory_problem("gpu_online_softmax", machine.device, GpuSoftmaxTiles(values).shared_elements());
}

BlockSizes gpu_online_softmax_blocks(const std::vector<Parameter>& values) {
  const GpuSoftmaxTiles tiles(values);
  return {tiles.queries(), tiles.queries(), tiles.keys(), tiles.keys()};
}

Stored gpu_online_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values) {
  return GpuSoftmax(body, extents, machine.device, GpuSoftmaxTiles(values)).build();
}

}  // namespace attune
