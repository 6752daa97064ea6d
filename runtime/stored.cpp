#include "runtime/stored.h"

#include <algorithm>
#include <memory>
#include <string>

#include "runtime/arguments.h"
#include "runtime/block.h"
#include "runtime/storage.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// ATTUNE_MAX_ELEMENTS + 1 for any number above it. A product of two numbers up to it does not overflow.
std::int64_t elements_of(const attune_tensor_v1& tensor, std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int32_t dim : dims_of(tensor)) {
    const std::int64_t extent = extents[static_cast<std::size_t>(dim)];
    is_empty = is_empty || extent == 0;
    count = std::min(count * std::max<std::int64_t>(extent, 1), ATTUNE_MAX_ELEMENTS + 1);
  }
  return is_empty ? 0 : count;
}

/// Of a tensor without elements that of a row, which codes may read as they may an argument's (arguments.h).
std::int64_t memory_of(const attune_tensor_v1& tensor, std::int64_t elements, std::span<const std::int64_t> extents) {
  if (elements == 0) elements = std::max<std::int64_t>(extents[static_cast<std::size_t>(dims_of(tensor).back())], 1);
  return elements * bytes_of(static_cast<attune_storage>(tensor.storage));
}

/// "[batch x heads x queries x keys] has 3600000000"
std::string count_text(const attune_kernel_v5& kernel, const attune_tensor_v1& tensor, std::span<const std::int64_t> extents) {
  std::string shape;
  double count = 1;
  for (const std::int32_t dim : dims_of(tensor)) {
    add_to_list(shape, dims_of(kernel)[static_cast<std::size_t>(dim)].name, " x ");
    count *= static_cast<double>(extents[static_cast<std::size_t>(dim)]);
  }
  const bool is_counted = count < 0x1p62;
  return words("[", shape, "] has ", is_counted ? words(static_cast<std::int64_t>(count)) : "more than 2^62");
}

std::size_t description_bytes(const attune_kernel_v5& kernel) {
  std::size_t ranks = 0;
  for (const attune_tensor_v1& tensor : stored_of(kernel)) ranks += static_cast<std::size_t>(tensor.rank);
  const std::size_t bytes = stored_of(kernel).size() * sizeof(halide_buffer_t) + ranks * sizeof(halide_dimension_t);
  return round_to_block(bytes);
}

}  // namespace

std::vector<Lifetime> lifetimes_of(const attune_kernel_v5& kernel) {
  std::vector<Lifetime> lifetimes(stored_of(kernel).size());
  const auto of = [&](std::int32_t tensor) {
    const std::int32_t stored = memory_at(kernel, tensor) - kernel.tensor_count;
    return stored < 0 ? nullptr : &lifetimes[static_cast<std::size_t>(stored)];
  };
  for (std::int32_t number = 0; number < kernel.step_count; ++number) {
    const attune_step_v1& step = steps_of(kernel)[static_cast<std::size_t>(number)];
    const attune_sweep_v1* sweep = sweep_at(kernel, number);
    const auto use_of = [&](std::int32_t tensor) {
      const bool is_whole = sweep != nullptr && !is_swept(kernel, kernel.tensors[memory_at(kernel, tensor)]);
      return is_whole ? Lifetime{sweep->first_step, sweep->first_step + sweep->step_count - 1} : Lifetime{number, number};
    };
    for (const std::int32_t tensor : outputs_of(step))
      if (Lifetime* stored = of(tensor)) *stored = use_of(tensor);
    for (const std::int32_t tensor : inputs_of(step))
      if (Lifetime* stored = of(tensor)) stored->last = std::max(stored->last, use_of(tensor).last);
  }
  return lifetimes;
}

Result<void> place_stored(const attune_kernel_v5& kernel, std::span<const Lifetime> lifetimes, std::span<const std::int64_t> extents,
                          StoredPlaces& places) {
  const std::span<const attune_tensor_v1> tensors = stored_of(kernel);
  std::array<std::int64_t, max_stored> sizes;
  std::array<std::uint16_t, max_stored> largest_first;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::int64_t elements = elements_of(tensors[t], extents);
    if (elements > ATTUNE_MAX_ELEMENTS)
      return Error{words(who(kernel), ": what it stores between its stages as ", count_text(kernel, tensors[t], extents), " elements; ",
                         ATTUNE_MAX_ELEMENTS, " are the most")};
    sizes[t] = static_cast<std::int64_t>(round_to_block(static_cast<std::size_t>(memory_of(tensors[t], elements, extents)) + block_slack));
    largest_first[t] = static_cast<std::uint16_t>(t);
  }
  const std::span<std::uint16_t> order(largest_first.data(), tensors.size());
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b; });
  places.bytes = 0;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::size_t t = order[n];
    std::int64_t begin = 0;
    for (bool is_moved = true; is_moved;) {
      is_moved = false;
      for (const std::size_t other : order.first(n)) {
        const bool meets = lifetimes[t].first <= lifetimes[other].last && lifetimes[other].first <= lifetimes[t].last;
        const std::int64_t other_end = places.begin[other] + sizes[other];
        if (!meets || other_end <= begin || begin + sizes[t] <= places.begin[other]) continue;
        begin = other_end;
        is_moved = true;
      }
    }
    places.begin[t] = begin;
    places.bytes = std::max(places.bytes, begin + sizes[t]);
  }
  return {};
}

std::size_t StoredBuffers::block_bytes(const attune_kernel_v5& kernel, const StoredPlaces& places) {
  return kernel.stored_count == 0 ? 0 : description_bytes(kernel) + static_cast<std::size_t>(places.bytes);
}

StoredBuffers::StoredBuffers(const attune_kernel_v5& kernel, std::span<const std::int64_t> extents, const StoredPlaces& places, std::byte* block)
    : buffers_(reinterpret_cast<halide_buffer_t*>(block)) {
  const std::span<const attune_tensor_v1> tensors = stored_of(kernel);
  auto* shape = reinterpret_cast<halide_dimension_t*>(buffers_ + tensors.size());
  std::byte* elements = block + description_bytes(kernel);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    halide_buffer_t& buffer = *std::construct_at(buffers_ + t);
    buffer.host = reinterpret_cast<std::uint8_t*>(elements + places.begin[t]);
    buffer.type = halide_type_of(static_cast<attune_storage>(tensors[t].storage));
    buffer.dimensions = tensors[t].rank;
    buffer.dim = shape;
    for (std::int32_t i = 0; i < tensors[t].rank; ++i) std::construct_at(shape++);
    describe(kernel, t, extents);
  }
}

void StoredBuffers::describe(const attune_kernel_v5& kernel, std::size_t number, std::span<const std::int64_t> extents) {
  const attune_tensor_v1& tensor = stored_of(kernel)[number];
  const bool is_empty = elements_of(tensor, extents) == 0;
  halide_dimension_t* shape = buffers_[number].dim;
  std::int64_t stride = 1;
  for (auto dim = dims_of(tensor).rbegin(); dim != dims_of(tensor).rend(); ++dim) {
    const std::int64_t extent = extents[static_cast<std::size_t>(*dim)];
    *shape++ = halide_dimension_t(0, static_cast<std::int32_t>(extent), static_cast<std::int32_t>(stride));
    stride = is_empty ? 0 : stride * extent;
  }
}

}  // namespace attune
