/// Tensor: a strided view of memory that someone else owns.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

#include "runtime/abi.h"
#include "runtime/result.h"
#include "runtime/storage.h"

namespace attune {

/// As many dims as a tensor of the language has at most.
inline constexpr int max_rank = 8;

/// A list of extents or strides, outermost first; it lives as long as the call that it is written in.
struct Sizes {
  std::span<const std::int64_t> values;

  Sizes(std::initializer_list<std::int64_t> list) : values(list.begin(), list.size()) {}
  template <std::ranges::contiguous_range R>
  requires std::same_as<std::ranges::range_value_t<R>, std::int64_t> Sizes(const R& range)
      : values(std::ranges::data(range), std::ranges::size(range)) {}
};

/// A contiguous range that does not own its elements, or whose owner outlives the expression.
template <class R>
concept StorableRange = std::ranges::contiguous_range<R> && std::ranges::borrowed_range<R> && Storable<std::ranges::range_value_t<R>>;

/// What is wrong with a tensor's form is said by the call that gets it: constructors refuse nothing.
struct Tensor {
  void* data = nullptr;          ///< the element at index 0 of every dim; null only where an extent is 0. On CUDA a CUdeviceptr, on OpenCL a cl_mem
  std::int64_t byte_offset = 0;  ///< on a device: where that element lies behind `data`; 0 on the CPU
  attune_storage storage = attune_f32;
  attune_device device = attune_cpu;
  int device_number = 0;             ///< among the devices of its driver; 0 on the CPU
  bool is_read_only = false;         ///< made from const data: refused as an output
  int rank = 0;                      ///< as given, also where it is above max_rank
  int stride_count = 0;              ///< as given; must be the rank
  std::int64_t known_elements = -1;  ///< how many elements the memory holds from `data` on; -1 if nobody said
  std::array<std::int64_t, max_rank> extents{};
  std::array<std::int64_t, max_rank> strides{};  ///< in elements

  Tensor() = default;
  /// `memory` becomes `data`, `shape` the extents and `steps` the strides. Contiguous without them: each stride is the product of the extents inside it.
  Tensor(void* memory, attune_storage element, Sizes shape);
  Tensor(void* memory, attune_storage element, Sizes shape, Sizes steps);
  Tensor(const void* memory, attune_storage element, Sizes shape);
  Tensor(const void* memory, attune_storage element, Sizes shape, Sizes steps);

  template <Storable T>
  Tensor(T* memory, Sizes shape) : Tensor(memory, storage_from<T>(), shape) {}
  template <Storable T>
  Tensor(T* memory, Sizes shape, Sizes steps) : Tensor(memory, storage_from<T>(), shape, steps) {}

  /// Of a vector, array or span: a call checks that the extents fit into it.
  template <StorableRange R>
  Tensor(R&& range, Sizes shape) : Tensor(std::ranges::data(range), shape) {
    known_elements = static_cast<std::int64_t>(std::ranges::size(range));
  }
  template <StorableRange R>
  Tensor(R&& range, Sizes shape, Sizes steps) : Tensor(std::ranges::data(range), shape, steps) {
    known_elements = static_cast<std::int64_t>(std::ranges::size(range));
  }

  /// The same extents and strides as a view of memory on a device, which `data` then says: `Tensor(q, {2, 8, 512, 64}).on_device(attune_cuda, 1)` of
  /// what cudaMalloc gave for device 1; on OpenCL `data` is a cl_mem. Nobody knows how many elements there are. On the CPU `data` then is that element.
  Tensor on_device(attune_device kind, int number = 0, std::int64_t offset_in_bytes = 0) const;

  /// The product of the extents; -1 if it does not fit into 63 bits.
  std::int64_t element_count() const;
  bool is_empty() const {
    bool is_empty = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank < max_rank ? rank : max_rank); ++i) is_empty = is_empty || extents[i] == 0;
    return is_empty;
  }

 private:
  template <class T>
  static constexpr attune_storage storage_from() {
    return static_cast<attune_storage>(storage_of<std::remove_cv_t<T>>);
  }
};

/// "f32 [2 x 8 x 512 x 64]"
std::string text_of(const Tensor& tensor);

/// "cpu", "cuda:1": where its memory is.
std::string place_of(const Tensor& tensor);

/// How many bytes a contiguous tensor of this form takes. Refuses a negative extent, more than max_rank extents, and more bytes than 63 bits count.
Result<std::int64_t> bytes_to_allocate(const Tensor& tensor);

/// A tensor with memory of its own, contiguous and aligned to 64 bytes.
class OwnedTensor {
 public:
  const Tensor& view() const { return view_; }
  operator const Tensor&() const { return view_; }
  template <Storable T>
  T* data() const {
    return static_cast<T*>(view_.data);
  }

 private:
  friend Result<OwnedTensor> allocate(attune_storage storage, Sizes extents);
  struct Release {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Release> memory_;
  Tensor view_;
};

/// A contiguous tensor of zeros on the CPU. Refuses negative extents, more than max_rank of them, and what memory does not hold.
Result<OwnedTensor> allocate(attune_storage storage, Sizes extents);

/// A contiguous copy of a tensor on the CPU with any strides. Refuses what allocate() refuses, other devices, null, and what reaches
/// beyond memory whose size is known.
Result<OwnedTensor> contiguous(const Tensor& tensor);

}  // namespace attune
