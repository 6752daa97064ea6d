#include "runtime/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/reach.h"
#include "runtime/words.h"

namespace attune {
namespace {

constexpr std::align_val_t tensor_alignment{64};  // a cache line, and the widest vector

int kept(Sizes sizes) { return static_cast<int>(std::min<std::size_t>(sizes.values.size(), max_rank)); }

/// Strides of a contiguous tensor. Extents that overflow 64 bits give senseless strides: a call refuses such extents first.
void set_contiguous(Tensor& tensor) {
  std::uint64_t stride = 1;
  for (int i = std::min(tensor.rank, max_rank) - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    tensor.strides[axis] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(std::max<std::int64_t>(tensor.extents[axis], 1));
  }
  tensor.stride_count = tensor.rank;
}

/// Copies axes `axis` to the innermost; `to` is contiguous. Gives the end of what it wrote.
std::byte* copy(const Tensor& from, int axis, const std::byte* source, std::byte* to) {
  const std::int64_t element = bytes_of(from.storage);
  if (axis == from.rank) {
    std::memcpy(to, source, static_cast<std::size_t>(element));
    return to + element;
  }
  const auto at = static_cast<std::size_t>(axis);
  if (axis == from.rank - 1 && from.strides[at] == 1) {
    std::memcpy(to, source, static_cast<std::size_t>(from.extents[at] * element));
    return to + from.extents[at] * element;
  }
  for (std::int64_t i = 0; i < from.extents[at]; ++i) to = copy(from, axis + 1, source + i * from.strides[at] * element, to);
  return to;
}

}  // namespace

Tensor::Tensor(void* data, attune_storage storage, Sizes extents, Sizes strides)
    : data(data), storage(storage), rank(static_cast<int>(extents.values.size())), stride_count(static_cast<int>(strides.values.size())) {
  std::copy_n(extents.values.begin(), kept(extents), this->extents.begin());
  std::copy_n(strides.values.begin(), kept(strides), this->strides.begin());
}

Tensor::Tensor(void* data, attune_storage storage, Sizes extents) : Tensor(data, storage, extents, Sizes({})) { set_contiguous(*this); }

Tensor::Tensor(const void* data, attune_storage storage, Sizes extents) : Tensor(const_cast<void*>(data), storage, extents) {
  is_read_only = true;
}

Tensor::Tensor(const void* data, attune_storage storage, Sizes extents, Sizes strides)
    : Tensor(const_cast<void*>(data), storage, extents, strides) {
  is_read_only = true;
}

std::int64_t Tensor::element_count() const {
  std::int64_t count = 1;
  bool is_too_large = false;
  for (int i = 0; i < std::min(rank, max_rank); ++i) {
    const std::int64_t extent = extents[static_cast<std::size_t>(i)];
    if (extent == 0) return 0;
    is_too_large = __builtin_mul_overflow(count, extent, &count) || is_too_large;
  }
  return is_too_large ? -1 : count;
}

Tensor Tensor::on_device(attune_device kind, int number, std::int64_t offset_in_bytes) const {
  Tensor there = *this;
  there.device = kind;
  there.known_elements = -1;
  const bool is_on_device = kind != attune_cpu;
  there.device_number = is_on_device ? number : 0;
  there.byte_offset = is_on_device ? offset_in_bytes : 0;
  if (!is_on_device && data != nullptr) there.data = static_cast<std::byte*>(data) + offset_in_bytes;
  return there;
}

std::string place_of(const Tensor& tensor) {
  const bool is_numbered = tensor.device == attune_opencl || tensor.device == attune_cuda;
  return is_numbered ? words(name_of(tensor.device), ":", tensor.device_number) : std::string(name_of(tensor.device));
}

std::string text_of(const Tensor& tensor) {
  std::string shape;
  for (int i = 0; i < std::min(tensor.rank, max_rank); ++i) add_to_list(shape, words(tensor.extents[static_cast<std::size_t>(i)]), " x ");
  if (tensor.rank > max_rank) add_to_list(shape, "...", " x ");
  return words(name_of(tensor.storage), " [", shape, "]");
}

namespace {

/// The sentence about a storage that abi.h does not have, or a negative rank; empty for what copies can be made of.
std::string form_problem(const Tensor& tensor) {
  if (tensor.rank < 0) return words("tensor: has ", tensor.rank, " dims; expected 0 to ", max_rank);
  if (is_known(tensor.storage)) return {};
  return words("tensor ", text_of(tensor), ": has the unknown storage ", static_cast<int>(tensor.storage), "; those of abi.h are 0 to ",
               storage_count - 1);
}

/// Whether every index of a tensor that is not empty lies in the elements that its memory is known to have.
bool is_in_memory(const Tensor& tensor) {
  if (tensor.known_elements < 0) return true;
  const std::optional<Reach> reach = checked_reach_of(tensor);
  return reach && reach->first >= 0 && reach->last < tensor.known_elements;
}

}  // namespace

Result<std::int64_t> bytes_to_allocate(const Tensor& tensor) {
  if (std::string problem = form_problem(tensor); !problem.empty()) return Error{std::move(problem)};
  if (tensor.rank > max_rank) return Error{words("tensor ", text_of(tensor), ": has ", tensor.rank, " dims; at most ", max_rank)};
  for (int i = 0; i < tensor.rank; ++i)
    if (tensor.extents[static_cast<std::size_t>(i)] < 0) return Error{words("tensor ", text_of(tensor), ": has a negative extent")};
  const std::int64_t count = tensor.element_count();
  std::int64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count, bytes_of(tensor.storage), &bytes))
    return Error{words("tensor ", text_of(tensor), ": has more bytes than 63 bits count")};
  return bytes;
}

void OwnedTensor::Release::operator()(std::byte* memory) const { ::operator delete(memory, tensor_alignment); }

Result<OwnedTensor> allocate(attune_storage storage, Sizes extents) {
  OwnedTensor owned;
  owned.view_ = Tensor(static_cast<void*>(nullptr), storage, extents);
  Tensor& view = owned.view_;
  const Result<std::int64_t> bytes = bytes_to_allocate(view);
  if (!bytes) return bytes.error();
  view.known_elements = view.element_count();
  void* memory = ::operator new(static_cast<std::size_t>(*bytes), tensor_alignment, std::nothrow);
  if (memory == nullptr) return Error{words("tensor ", text_of(view), ": there is no memory for its ", *bytes, " bytes")};
  std::memset(memory, 0, static_cast<std::size_t>(*bytes));
  owned.memory_.reset(static_cast<std::byte*>(memory));
  view.data = memory;
  return owned;
}

Result<OwnedTensor> contiguous(const Tensor& tensor) {
  if (std::string problem = form_problem(tensor); !problem.empty()) return Error{std::move(problem)};
  if (tensor.device != attune_cpu)
    return Error{words("tensor ", text_of(tensor), ": is on ", place_of(tensor), "; only what is on the cpu is copied")};
  if (tensor.stride_count != tensor.rank)
    return Error{words("tensor ", text_of(tensor), ": has ", tensor.rank, " extents and ", tensor.stride_count, " strides")};
  Result<OwnedTensor> owned =
      allocate(tensor.storage, std::span(tensor.extents.data(), static_cast<std::size_t>(std::min(tensor.rank, max_rank))));
  if (tensor.rank > max_rank) return Error{words("tensor ", text_of(tensor), ": has ", tensor.rank, " dims; at most ", max_rank)};
  if (!owned || owned->view().is_empty()) return owned;
  if (tensor.data == nullptr) return Error{words("tensor ", text_of(tensor), ": is null")};
  if (!is_in_memory(tensor))
    return Error{words("tensor ", text_of(tensor), ": reaches beyond its memory, which has ", tensor.known_elements, " elements")};
  copy(tensor, 0, static_cast<const std::byte*>(tensor.data), static_cast<std::byte*>(owned->view().data));
  return owned;
}

}  // namespace attune
