#include "runtime/sweeps.h"

#include <algorithm>
#include <ranges>

#include "runtime/signature.h"
#include "runtime/storage.h"
#include "runtime/threads.h"

namespace attune {
namespace {

/// What the sweep's steps store for one another, in bytes.
double bytes_of_blocks(const attune_kernel_v5& kernel, const attune_sweep_v1& sweep, std::span<const std::int64_t> extents) {
  double bytes = 0;
  for (const attune_tensor_v1& tensor : stored_of(kernel)) {
    double count = static_cast<double>(bytes_of(static_cast<attune_storage>(tensor.storage)));
    bool is_its = false;
    for (const std::int32_t dim : dims_of(tensor)) {
      count *= static_cast<double>(extents[static_cast<std::size_t>(dim)]);
      is_its = is_its || std::ranges::find(blocks_of(sweep), dim) != blocks_of(sweep).end();
    }
    if (is_its) bytes += count;
  }
  return bytes;
}

/// Positions of the block, if there are so many.
std::int64_t least_of(const attune_dim_v1& block, std::span<const std::int64_t> extents) {
  std::int64_t product = 1;
  for (const std::int32_t dim : operands_of(block).subspan(1)) product = std::min(product * std::max<std::int64_t>(extents[static_cast<std::size_t>(dim)], 1), max_extent);
  return std::max(block.value, product);
}

constexpr std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool has_band(const attune_kernel_v5& kernel, const attune_sweep_v1& sweep) { return kernel.dims[sweep.blocks[0]].formula == attune_band; }

bool has_codes(const attune_sweep_v1& sweep, const UsableTarget& target, std::span<const std::int64_t> extents) {
  const auto codes = std::span(target.codes).subspan(static_cast<std::size_t>(sweep.first_step), static_cast<std::size_t>(sweep.step_count));
  return std::ranges::all_of(codes, [&](std::span<const attune_code_v3> of_step) { return choose_code(of_step, extents) != nullptr; });
}

/// The same for all blocks: of each dim some have a position less than the largest, and of a band those of each block of rows.
bool has_codes_for_all(const attune_kernel_v5& kernel, const attune_sweep_v1& sweep, const UsableTarget& target, std::span<const std::int64_t> chosen) {
  const std::span<const std::int32_t> blocks = blocks_of(sweep).subspan(has_band(kernel, sweep) ? 1 : 0);
  DimExtents extents;
  bool has_all = true;
  for (unsigned smaller = 0; smaller < 1U << blocks.size(); ++smaller) {
    std::ranges::copy(chosen, extents.begin());
    for (std::size_t i = 0; i < blocks.size(); ++i) extents[static_cast<std::size_t>(blocks[i])] -= smaller >> i & 1U;
    has_all = has_all && has_codes(sweep, target, std::span(extents).first(chosen.size()));
  }
  if (!has_band(kernel, sweep)) return has_all;
  std::ranges::copy(chosen, extents.begin());
  const std::span<std::int64_t> all = std::span(extents).first(chosen.size());
  const std::int32_t rows = blocks.back();
  const std::int64_t most = std::max<std::int64_t>(chosen[static_cast<std::size_t>(rows)], 1);  // of no rows there is none
  const std::int64_t count = rounded_up(chosen[static_cast<std::size_t>(kernel.dims[rows].operands[0])], most);
  BlockSweep first(kernel, sweep, all);  // of the other dims the first block: those of all have the same rows
  for (std::int64_t number = 0; number < count && has_all && first.next(); ++number) has_all = has_codes(sweep, target, all);
  return has_all;
}

}  // namespace

void choose_blocks(const attune_kernel_v5& kernel, const UsableTarget& target, std::span<std::int64_t> extents) {
  for (const attune_sweep_v1& sweep : sweeps_of(kernel)) {
    const bool is_narrow = has_band(kernel, sweep);
    const std::span<const std::int32_t> blocks = blocks_of(sweep).subspan(is_narrow ? 1 : 0);
    const auto whole_of = [&](std::int32_t block) { return extents[static_cast<std::size_t>(kernel.dims[block].operands[0])]; };
    for (const std::int32_t block : blocks) extents[static_cast<std::size_t>(block)] = std::min<std::int64_t>(whole_of(block), 1);
    double room = static_cast<double>(swept_bytes) / std::max(bytes_of_blocks(kernel, sweep, extents), 1.0);  // for so many positions
    for (const std::int32_t block : std::views::reverse(blocks)) {
      const std::int64_t whole = whole_of(block), least = std::min(least_of(kernel.dims[block], extents), whole);
      if (whole == 0) continue;
      std::int64_t& extent = extents[static_cast<std::size_t>(block)];
      const bool has_least = is_narrow && block == blocks.back();
      const std::int64_t most = has_least ? least : std::clamp(static_cast<std::int64_t>(std::min(room, 1e15)), least, whole);
      extent = rounded_up(whole, rounded_up(whole, most));
      if (block == blocks.back()) room *= num_threads();
      room /= static_cast<double>(extent);
    }
    const bool is_cut = std::ranges::any_of(blocks, [&](std::int32_t block) { return extents[static_cast<std::size_t>(block)] < whole_of(block); });
    if (!is_cut || has_codes_for_all(kernel, sweep, target, extents)) continue;
    for (const std::int32_t block : blocks) extents[static_cast<std::size_t>(block)] = whole_of(block);
  }
}

BlockSweep::BlockSweep(const attune_kernel_v5& kernel, const attune_sweep_v1& sweep, std::span<std::int64_t> extents) : extents_(extents) {
  for (std::size_t i = 0; i < blocks_of(sweep).size(); ++i) {
    const std::int32_t block = sweep.blocks[i];
    if (kernel.dims[block].formula == attune_band) {
      columns_ = block;
      first_column_ = sweep.starts[i];
      band_ = &kernel.dims[block];
      band_start_ = &kernel.dims[first_column_];
      continue;
    }
    const std::int64_t whole = extents[static_cast<std::size_t>(kernel.dims[block].operands[0])], largest = extents[static_cast<std::size_t>(block)];
    loops_[size_++] = {block, sweep.starts[i], whole, largest == 0 ? 1 : rounded_up(whole, largest), 0};
  }
}

bool BlockSweep::next() {
  std::size_t changed = 0;
  if (has_begun_) {
    changed = size_;
    while (changed > 0 && ++loops_[changed - 1].at == loops_[changed - 1].count) loops_[--changed].at = 0;
    if (changed == 0) return false;
    --changed;
  }
  has_begun_ = true;
  for (std::size_t i = changed; i < size_; ++i) set(loops_[i]);
  if (band_ != nullptr) set_band();
  return true;
}

/// Those of the first row or after it, and of the last or before it.
void BlockSweep::set_band() const {
  const auto extent_of = [&](std::int32_t dim) { return extents_[static_cast<std::size_t>(dim)]; };
  const auto beyond_row = [&](const attune_dim_v1& dim, std::size_t own) {
    const std::span<const std::int32_t> operands = operands_of(dim);
    return operands.size() == own ? dim.value : dim.value + extent_of(operands[own]) - extent_of(operands[own + 1]);
  };
  const Loop& rows = loops_[size_ - 1];
  const std::int64_t whole = extent_of(band_->operands[0]), first_row = extent_of(rows.start), row_count = extent_of(rows.block);
  const std::int64_t end = rows.at == 0 ? whole : std::clamp<std::int64_t>(first_row + row_count + beyond_row(*band_, 2), 0, whole);
  const std::int64_t begin = rows.at == 0 ? 0 : std::clamp<std::int64_t>(first_row + beyond_row(*band_start_, 1), 0, end);
  extents_[static_cast<std::size_t>(first_column_)] = begin;
  extents_[static_cast<std::size_t>(columns_)] = end - begin;
}

void BlockSweep::set(const Loop& loop) const {
  const std::int64_t begin = loop.whole * loop.at / loop.count, end = loop.whole * (loop.at + 1) / loop.count;
  extents_[static_cast<std::size_t>(loop.start)] = begin;
  extents_[static_cast<std::size_t>(loop.block)] = end - begin;
}

}  // namespace attune
