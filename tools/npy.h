/// Reads and writes .npy files: the arrays that numpy.save writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/result.h"

namespace attune {

/// How an element is stored; f16 and bf16 travel as their bits in `f16` and `u16`.
enum class NpyType { f32, f64, f16, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

/// "f32", "boolean", ...
std::string_view name_of(NpyType type);
std::size_t bytes_of(NpyType type);

/// The element type that a C++ type is stored as.
template <class T>
constexpr NpyType npy_type() {
  if constexpr (std::is_same_v<T, float>)
    return NpyType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return NpyType::f64;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return NpyType::i8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return NpyType::i16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return NpyType::i32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return NpyType::i64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return NpyType::u8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return NpyType::u16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return NpyType::u32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return NpyType::u64;
  else {
    static_assert(std::is_same_v<T, bool>, "no .npy type stores this C++ type");
    return NpyType::boolean;
  }
}

/// An array in C order: the last extent varies fastest. data.size() is the product of shape times bytes_of(type).
struct NpyArray {
  NpyType type = NpyType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;

  /// The array with these elements; shape's product is values.size().
  template <class T>
  static NpyArray of(std::vector<std::int64_t> shape, std::span<const T> values) {
    NpyArray array{npy_type<T>(), std::move(shape), std::vector<std::byte>(values.size_bytes())};
    if (!array.data.empty()) std::memcpy(array.data.data(), values.data(), array.data.size());
    return array;
  }

  /// The elements, or nothing if they are stored as another type.
  template <class T>
  std::optional<std::span<const T>> values() const {
    if (type != npy_type<T>()) return std::nullopt;
    return std::span<const T>(reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T));
  }

  std::int64_t size() const { return static_cast<std::int64_t>(data.size() / bytes_of(type)); }
};

/// The array in a file of version 1 or 2. Elements in Fortran order or big-endian are put in order; everything else is refused, also a file
/// that is longer or shorter than its header says and a boolean that is neither 0 nor 1.
Result<NpyArray> read_npy(const std::filesystem::path& path);

/// The same from the bytes of a file; errors begin with `file '<name>'`.
Result<NpyArray> parse_npy(std::span<const std::byte> bytes, std::string_view name);

/// Replaces the file in one step, as write_whole() does.
Result<void> write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace attune
