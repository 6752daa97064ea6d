#include "runtime/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/arguments.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// What the sentences call a tensor, and which rank and extents it must have.
struct Role {
  std::string_view name;
  const Tensor* tensor;
  bool is_lse, is_written;
};

/// Of the storages that kernels have for reals.
bool is_stored_real(attune_storage storage) { return is_real(storage) && storage != attune_f64; }

std::string name_in_merge(const Role& role) { return words("merge_partials: ", role.name); }

/// `rows`: the result's tensor [.., value_depth], which all others fit to.
Result<void> check(const Role& role, const Tensor& rows) {
  const Tensor& given = *role.tensor;
  if (given.device != attune_cpu) return Error{words(name_in_merge(role), " is on ", place_of(given), "; expected memory of the cpu")};
  if (role.is_lse ? given.storage != attune_f32 : !is_stored_real(given.storage))
    return Error{words(name_in_merge(role), " holds ", name_of(given.storage), "; expected ", role.is_lse ? "f32" : "f32, bf16 or f16")};
  if (rows.rank < 1 || rows.rank > max_rank || rows.stride_count != rows.rank)
    return Error{words("merge_partials: out has ", rows.rank, " dims and ", rows.stride_count, " strides; expected 1 to ", max_rank, " of both")};
  const int rank = role.is_lse ? rows.rank - 1 : rows.rank;
  bool fits = given.rank == rank && given.stride_count == rank;
  for (std::size_t axis = 0; fits && axis < static_cast<std::size_t>(rank); ++axis)
    fits = given.extents[axis] == rows.extents[axis] && given.extents[axis] >= 0;
  if (!fits)
    return Error{words(name_in_merge(role), " is ", text_of(given), "; the merged result is ", text_of(rows), role.is_lse ? ", and it has all of its dims but the last" : "")};
  if (role.is_written && given.is_read_only) return Error{words(name_in_merge(role), " is read-only memory; expected memory to write to")};
  if (given.is_empty()) return {};
  if (given.data == nullptr) return Error{words(name_in_merge(role), " is null, but it is ", text_of(given), "; only a tensor with an extent of 0 may be null")};
  const std::optional<Reach> reach = checked_reach_of(given);
  if (!reach) return Error{words(name_in_merge(role), " is ", text_of(given), " with strides that reach farther than 63 bits count")};
  if (given.known_elements >= 0 && (reach->first < 0 || reach->last >= given.known_elements))
    return Error{words(name_in_merge(role), " is ", text_of(given), " and reaches elements ", reach->first, " to ", reach->last, "; its memory has ",
                       given.known_elements)};
  if (role.is_written && overlaps_itself(given))
    return Error{words(name_in_merge(role), " is ", text_of(given), " with strides that reach an element twice; expected one place for each")};
  return {};
}

/// Of two whose extents are the same.
bool is_same_view(const Tensor& a, const Tensor& b) {
  return a.data == b.data && a.storage == b.storage && std::equal(a.strides.begin(), a.strides.begin() + a.rank, b.strides.begin());
}

/// Reals along a row.
class Row {
 public:
  Row(const Tensor& tensor, std::int64_t first)
      : data_(static_cast<std::byte*>(tensor.data) + first * bytes_of(tensor.storage)),
        stride_(tensor.strides[static_cast<std::size_t>(tensor.rank) - 1]),
        storage_(tensor.storage) {}

  /// Calls `take` with the elements as what they are stored as.
  auto visit(const auto& take) const {
    if (storage_ == attune_f32) return take(reinterpret_cast<float*>(data_));
    if (storage_ == attune_bf16) return take(reinterpret_cast<bfloat16*>(data_));
    return take(reinterpret_cast<float16*>(data_));
  }

  float operator[](std::int64_t i) const {
    return visit([&]<class T>(T* elements) { return float(elements[i * stride_]); });
  }
  void store(std::int64_t i, float value) const {
    visit([&]<class T>(T* elements) { elements[i * stride_] = T(value); });
  }

 private:
  std::byte* data_;
  std::int64_t stride_;
  attune_storage storage_;
};

void merge_row(const Row& a, float lse_a, const Row& b, float lse_b, const Row& out, float& lse, std::int64_t depth) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  const bool is_empty = lse_a == nothing && lse_b == nothing;
  const float m = std::isnan(lse_a) || lse_a > lse_b ? lse_a : lse_b;
  const float w_a = lse_a == nothing ? 0 : std::exp(lse_a - m), w_b = lse_b == nothing ? 0 : std::exp(lse_b - m), s = w_a + w_b;
  const bool has_a = lse_a != nothing, has_b = lse_b != nothing;
  for (std::int64_t i = 0; i < depth; ++i) {
    const float of_a = has_a ? w_a / s * a[i] : 0, of_b = has_b ? w_b / s * b[i] : 0;
    out.store(i, of_a + of_b);
  }
  lse = is_empty ? nothing : m + std::log(s);
}

/// All rows below the axis, which begin at these elements of the six tensors.
struct Walk {
  std::array<const Tensor*, 6> tensors;  ///< a, b and the result, then their logarithms
  std::size_t rows_rank;

  void run(std::size_t axis, const std::array<std::int64_t, 6>& at) const {
    const Tensor& out = *tensors[2];
    if (axis == rows_rank) {
      const auto lse = [&](std::size_t t) -> float& { return static_cast<float*>(tensors[t]->data)[at[t]]; };
      return merge_row({*tensors[0], at[0]}, lse(3), {*tensors[1], at[1]}, lse(4), {out, at[2]}, lse(5), out.extents[rows_rank]);
    }
    std::array<std::int64_t, 6> next = at;
    for (std::int64_t i = 0; i < out.extents[axis]; ++i) {
      run(axis + 1, next);
      for (std::size_t t = 0; t < next.size(); ++t) next[t] += tensors[t]->strides[axis];
    }
  }
};

}  // namespace

Result<void> merge_partials(const Partial& a, const Partial& b, const Partial& result) {
  const std::array<Role, 6> roles = {{{"out", &result.out, false, true}, {"lse", &result.lse, true, true}, {"out of a", &a.out, false, false},
                                      {"lse of a", &a.lse, true, false}, {"out of b", &b.out, false, false}, {"lse of b", &b.lse, true, false}}};
  for (const Role& role : roles)
    if (Result<void> fits = check(role, result.out); !fits) return fits;
  for (const Role& written : std::span(roles).first(2))
    for (const Role& other : roles) {
      if (other.tensor == written.tensor || !overlap(*written.tensor, *other.tensor)) continue;
      if (other.is_lse == written.is_lse && is_same_view(*written.tensor, *other.tensor)) continue;
      return Error{words(name_in_merge(written), " overlaps ", other.name, "; expected memory of its own, or the same places")};
    }
  if (result.lse.is_empty()) return {};
  const Walk walk{{&a.out, &b.out, &result.out, &a.lse, &b.lse, &result.lse}, static_cast<std::size_t>(result.out.rank) - 1};
  walk.run(0, {});
  return {};
}

}  // namespace attune
