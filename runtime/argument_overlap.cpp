#include <array>
#include <cstdlib>
#include <numeric>

#include "runtime/arguments.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// A tensor's elements in bytes: runs of `run` bytes that begin at `low` plus sums of multiples of strides.
/// All lie in [low, high); strides are multiples of `step` (0: there is one run).
struct Footprint {
  std::uintptr_t low = 0, high = 0;
  std::uintptr_t run = 0, step = 0;
  bool overlaps_itself = false;
};

struct Axis {
  std::int64_t extent, stride;
};

/// Where a tensor's elements begin and end, in bytes.
struct Range {
  std::uintptr_t low = 0, high = 0;
  bool meets(const Range& other) const { return low < other.high && other.low < high; }
};

Range range_of(const Tensor& tensor, const Reach& reach) {
  if (reach.last < reach.first) return {};
  const std::int64_t element = bytes_of(tensor.storage);
  const std::uintptr_t data = address_of(tensor);
  return {data + static_cast<std::uintptr_t>(reach.first * element), data + static_cast<std::uintptr_t>((reach.last + 1) * element)};
}

Footprint footprint_of(const Tensor& tensor) {
  const std::int64_t element = bytes_of(tensor.storage);
  std::array<Axis, max_rank> axes;
  std::size_t count = 0;
  std::int64_t below = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor.rank); ++axis) {
    if (tensor.extents[axis] == 1) continue;
    const std::int64_t stride = tensor.strides[axis] * element;
    if (stride < 0) below += stride * (tensor.extents[axis] - 1);
    std::size_t place = count++;  // sorted by stride, smallest first
    for (; place > 0 && axes[place - 1].stride > std::abs(stride); --place) axes[place] = axes[place - 1];
    axes[place] = {tensor.extents[axis], std::abs(stride)};
  }

  std::int64_t run = element, span = element, step = 0;
  bool overlaps = false;
  for (std::size_t i = 0; i < count; ++i) {
    overlaps = overlaps || axes[i].stride < span;  // sufficient for distinct elements: each stride steps over all that is inside it
    const std::int64_t distance = axes[i].stride * (axes[i].extent - 1);
    if (step == 0 && axes[i].stride <= run)
      run += distance;
    else
      step = std::gcd(step, axes[i].stride);
    span += distance;
  }
  const std::uintptr_t low = address_of(tensor) + static_cast<std::uintptr_t>(below);
  return {low, low + static_cast<std::uintptr_t>(span), static_cast<std::uintptr_t>(run), static_cast<std::uintptr_t>(step), overlaps};
}

/// Of two whose ranges meet. Columns of one array interleave without sharing: modulo the common step of all strides, the runs of both are apart.
bool may_share(const Footprint& a, const Footprint& b) {
  const std::uintptr_t step = std::gcd(a.step, b.step);
  if (step == 0) return true;
  const std::uintptr_t offset = b.low >= a.low ? (b.low - a.low) % step : (step - (a.low - b.low) % step) % step;
  return offset < a.run || offset + b.run > step;
}

}  // namespace

bool overlaps_itself(const Tensor& tensor) { return dense_count(tensor) == 0 && footprint_of(tensor).overlaps_itself; }

bool overlap(const Tensor& a, const Tensor& b) {
  if (a.is_empty() || b.is_empty()) return false;
  return range_of(a, reach_of(a)).meets(range_of(b, reach_of(b))) && may_share(footprint_of(a), footprint_of(b));
}

Result<void> check_overlap(const attune_kernel_v5& kernel, Arguments arguments, std::span<const Reach> reaches) {
  Table<Range, max_tensors> ranges;
  for (std::size_t t = 0; t < arguments.size(); ++t) ranges.add(range_of(*arguments[t], reaches[t]));
  for (std::size_t out = 0; out < arguments.size(); ++out) {
    const attune_tensor_v1& output = tensors_of(kernel)[out];
    if (!is_written(output) || arguments[out]->is_empty()) continue;
    if (overlaps_itself(*arguments[out]))
      return Error{words(who(kernel, output), " is ", text_of(*arguments[out]),
                         " with strides that reach an element twice; expected one place for each")};
    // Inputs stand before outputs, but behind one that is updated, too.
    for (std::size_t t = 0; t < (output.role == attune_output ? out : arguments.size()); ++t)
      if (t != out && ranges[out].meets(ranges[t]) && is_same_memory(*arguments[out], *arguments[t]) &&
          may_share(footprint_of(*arguments[out]), footprint_of(*arguments[t])))
        return Error{words(who(kernel, output), " overlaps ", tensors_of(kernel)[t].role == attune_output ? "output '" : "input '",
                           tensors_of(kernel)[t].name, "' in memory; expected memory of its own")};
  }
  return {};
}

Result<void> check_workspace(const attune_kernel_v5& kernel, Arguments arguments, std::span<const std::byte> workspace) {
  const auto low = reinterpret_cast<std::uintptr_t>(workspace.data());
  const Range taken{low, low + workspace.size()};
  for (std::size_t t = 0; t < arguments.size(); ++t)
    if (arguments[t]->device == attune_cpu && range_of(*arguments[t], reach_of(*arguments[t])).meets(taken))
      return Error{words(who(kernel, tensors_of(kernel)[t]), " overlaps the workspace in memory; expected a workspace of its own")};
  return {};
}

}  // namespace attune
