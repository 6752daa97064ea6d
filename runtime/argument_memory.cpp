#include <algorithm>
#include <cstdlib>

#include "runtime/arguments.h"
#include "runtime/table.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// Halide counts elements in 32 bits, with sign.
constexpr std::int64_t max_index = ATTUNE_MAX_ELEMENTS;

std::string dim_name(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor, std::size_t axis) {
  return dims_of(kernel)[static_cast<std::size_t>(tensor.dims[axis])].name;
}

/// The innermost stride is 1, outputs do not broadcast, and what the strides reach is in Halide's range.
Result<void> check_strides(const attune_kernel_v5& kernel, const attune_tensor_v1& expected, const Tensor& given) {
  const auto rank = static_cast<std::size_t>(given.rank);
  if (const std::int64_t count = given.element_count(); count < 0 || count > max_index)
    return Error{
        words(who(kernel, expected), " is ", text_of(given), ": it has more elements than ", max_index, ", which a kernel can count")};
  std::int64_t reach = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t extent = given.extents[axis], stride = given.strides[axis];
    if (extent == 1) continue;
    if (axis + 1 == rank && stride != 1)
      return Error{words(who(kernel, expected), " has stride ", stride, " along ", dim_name(kernel, expected, axis),
                         ", its innermost dim; expected 1 (contiguous() makes such a copy)")};
    if (stride == 0 && is_written(expected))
      return Error{
          words(who(kernel, expected), " has stride 0 along ", dim_name(kernel, expected, axis), " = ", extent, "; the call writes to it, so each element needs a place of its own")};
    // Halide refuses a dim whose extent * stride is larger, and reaches the sum of the distances.
    if (std::abs(std::clamp(stride, -max_index - 1, max_index + 1)) * extent > max_index || (reach += std::abs(stride) * (extent - 1)) > max_index)
      return Error{words(who(kernel, expected), " is ", text_of(given), ": with stride ", stride, " along ",
                         dim_name(kernel, expected, axis), " it reaches over more elements than ", max_index,
                         ", which a kernel can count")};
  }
  return {};
}

Result<void> check_pointer(const attune_kernel_v5& kernel, const attune_tensor_v1& expected, const Tensor& given, const Reach& reach) {
  if (given.data == nullptr)
    return Error{words(who(kernel, expected), " is null, but it is ", text_of(given), "; only a tensor with an extent of 0 may be null")};
  if (given.device == attune_cpu && given.byte_offset != 0)
    return Error{words(who(kernel, expected), " has a byte offset of ", given.byte_offset, " on the cpu, where `data` is the element at index 0; expected 0")};
  const auto bytes = static_cast<std::uintptr_t>(bytes_of(given.storage));  // a power of two: a division takes as long as the other checks
  if (const std::uintptr_t rest = address_of(given) & (bytes - 1); rest != 0)
    return Error{words(who(kernel, expected), " lies ", rest, " bytes beyond a multiple of ", bytes, "; an address of ",
                       name_of(given.storage), " is a multiple of ", bytes)};
  if (given.known_elements >= 0 && (reach.first < 0 || reach.last >= given.known_elements))
    return Error{words(who(kernel, expected), " is ", text_of(given), " and reaches elements ", reach.first, " to ", reach.last, "; its memory has ",
                       given.known_elements)};
  return {};
}

std::string place_text(const CallPlace& place) { return place.kind == attune_cpu ? "the cpu" : words(name_of(place.kind), ":", place.number); }

/// What is on a device is where the call runs.
Result<void> check_device(const attune_kernel_v5& kernel, const attune_tensor_v1& expected, const Tensor& given, const CallPlace& place) {
  if (given.device == place.kind && given.device_number == place.number) return {};
  const std::string there = place_text(place);
  return Error{words(who(kernel, expected), " is on ", place_of(given), "; this call runs on ", there, ", which takes memory of ",
                     place.kind == attune_cpu ? "" : there + " and of ", "the cpu")};
}

}  // namespace

Result<void> check_memory(const attune_kernel_v5& kernel, Arguments arguments, const CallPlace* place) {
  Table<Reach, max_tensors> reaches;
  for (std::size_t t = 0; t < arguments.size(); ++t) {
    const attune_tensor_v1& expected = tensors_of(kernel)[t];
    const Tensor& given = *arguments[t];
    if (given.device != attune_cpu && place != nullptr)
      if (Result<void> placed = check_device(kernel, expected, given, *place); !placed) return placed;
    if (given.is_read_only && is_written(expected))
      return Error{words(who(kernel, expected), " is read-only memory; expected memory to write to")};
    if (given.is_empty()) {
      reaches.add();
      continue;
    }
    const std::int64_t count = dense_count(given);
    if (count == 0)
      if (Result<void> strides = check_strides(kernel, expected, given); !strides) return strides;
    const Reach& reach = reaches.add(count == 0 ? reach_of(given) : Reach{0, count - 1});
    if (Result<void> pointer = check_pointer(kernel, expected, given, reach); !pointer) return pointer;
  }
  return check_overlap(kernel, arguments, reaches.elements());
}

Result<void> check_strides_for(const CallPlace& place, const attune_kernel_v5& kernel, Arguments arguments) {
  for (std::size_t t = 0; t < arguments.size(); ++t)
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(arguments[t]->rank); ++axis)
      if (arguments[t]->strides[axis] < 0 && arguments[t]->extents[axis] > 1)
        return Error{words(who(kernel, tensors_of(kernel)[t]), " has stride ", arguments[t]->strides[axis], " along ",
                           dim_name(kernel, tensors_of(kernel)[t], axis), "; this call runs on ", place_text(place),
                           ", which takes strides from 0 up (contiguous() makes such a copy)")};
  return {};
}

}  // namespace attune
