#include "tests/hostile/wrong_shapes.h"

#include <array>
#include <limits>

#include "runtime/storage.h"
#include "tests/hostile/ways.h"

namespace attune {
namespace {

constexpr std::int64_t most_int64 = std::numeric_limits<std::int64_t>::max(), least_int64 = std::numeric_limits<std::int64_t>::min();

/// The axes of a call's tensors with these properties; a wrong call spoils one of them.
struct Axis {
  std::size_t tensor = 0, axis = 0;
};
template <class Right>
std::vector<Axis> axes_where(PreparedCall& call, const Right& is_right) {
  std::vector<Axis> axes;
  for (std::size_t t = 0; t < call.tensors().size(); ++t)
    for (std::size_t a = 0; a < call.tensors()[t].extents.size(); ++a)
      if (is_right(call.tensors()[t], a)) axes.push_back({t, a});
  return axes;
}

bool wrong_extent(PreparedCall& call, Random& random) {
  const auto axes = axes_where(call, [](const CallTensor&, std::size_t) { return true; });
  const Axis at = random.one_of(axes);
  std::int64_t& extent = call.tensors()[at.tensor].extents[at.axis];
  extent = random.one_of(
      std::array{std::int64_t{-1}, least_int64, most_int64, (std::int64_t{1} << 30) + 1, std::int64_t{1} << 31, std::int64_t{1} << 32, -extent - 1});
  return true;
}

/// One more or less than what the other tensors say.
bool contradicting_extent(PreparedCall& call, Random& random) {
  const auto axes = axes_where(call, [&](const CallTensor& tensor, std::size_t) { return tensor.is_output; });
  const Axis at = random.one_of(axes);
  std::int64_t& extent = call.tensors()[at.tensor].extents[at.axis];
  extent += extent > 0 && random.one_in(2) ? -1 : 1;
  return true;
}

bool wrong_inner_stride(PreparedCall& call, Random& random) {
  const auto axes =
      axes_where(call, [](const CallTensor& t, std::size_t a) { return a + 1 == t.extents.size() && t.extents[a] > 1 && !t.is_empty(); });
  if (axes.empty()) return false;
  const Axis at = random.one_of(axes);
  call.tensors()[at.tensor].strides[at.axis] = random.one_of(std::array{std::int64_t{0}, std::int64_t{-1}, std::int64_t{2}, most_int64, least_int64});
  return true;
}

bool stride_beyond_counting(PreparedCall& call, Random& random) {
  const auto axes = axes_where(call, [](const CallTensor& t, std::size_t a) { return t.extents[a] > 1 && !t.is_empty(); });
  if (axes.empty()) return false;
  const Axis at = random.one_of(axes);
  call.tensors()[at.tensor].strides[at.axis] = random.one_of(
      std::array{most_int64, least_int64, least_int64 + 1, std::int64_t{1} << 31, -(std::int64_t{1} << 31), std::int64_t{1} << 62, most_int64 / 2 + 1});
  return true;
}

bool output_that_meets_itself(PreparedCall& call, Random& random) {
  const auto axes = axes_where(call, [](const CallTensor& t, std::size_t a) {
    return t.is_output && t.extents[a] > 1 && a + 1 < t.extents.size() && t.extents[a + 1] > 1 && !t.is_empty();
  });
  if (axes.empty()) return false;
  const Axis at = random.one_of(axes);
  call.tensors()[at.tensor].strides[at.axis] = random.one_of(std::array{std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}});
  return true;
}

bool other_rank(PreparedCall& call, Random& random) {
  CallTensor& tensor = call.tensors()[random.below(call.tensors().size())];
  if (random.one_in(2)) {
    tensor.extents.push_back(1);
    tensor.strides.push_back(1);
  } else {
    tensor.extents.pop_back();
    tensor.strides.pop_back();
  }
  return true;
}

bool other_storage(PreparedCall& call, Random& random) {
  CallTensor& tensor = call.tensors()[random.below(call.tensors().size())];
  const auto storage = static_cast<attune_storage>(random.below(storage_count));
  if (storage == tensor.storage) return false;
  tensor.storage = storage;
  return true;
}

constexpr std::array<Way<PreparedCall&>, 7> ways = {{
    {"wrong extent", wrong_extent},
    {"contradicting extent", contradicting_extent},
    {"wrong inner stride", wrong_inner_stride},
    {"stride beyond counting", stride_beyond_counting},
    {"output that meets itself", output_that_meets_itself},
    {"other rank", other_rank},
    {"other storage", other_storage},
}};

}  // namespace

std::string spoil_shape(PreparedCall& call, Random& random) { return spoil_one(ways, random, call); }

}  // namespace attune
