/// The storages of abi.h: their names, their sizes, and the C++ types that have them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "runtime/abi.h"
#include "runtime/bfloat16.h"

namespace attune {

inline constexpr int storage_count = 9;

/// False for a number that no storage has: a C++ program may put any into the enum.
constexpr bool is_known(attune_storage storage) { return static_cast<int>(storage) >= 0 && static_cast<int>(storage) < storage_count; }

constexpr std::string_view name_of(attune_storage storage) {
  constexpr std::array<std::string_view, storage_count> names = {"f32", "bf16", "f16", "f64", "i8", "u8", "i32", "i64", "boolean"};
  return is_known(storage) ? names[static_cast<std::size_t>(storage)] : "unknown";
}

/// Bytes of one element of a known storage; its address is a multiple of them.
constexpr std::int64_t bytes_of(attune_storage storage) {
  constexpr std::array<std::int64_t, storage_count> bytes = {4, 2, 2, 8, 1, 1, 4, 8, 1};
  return bytes[static_cast<std::size_t>(storage)];
}

constexpr std::string_view name_of(attune_device device) {
  constexpr std::array<std::string_view, 3> names = {"cpu", "opencl", "cuda"};
  const auto number = static_cast<unsigned>(device);
  return number < names.size() ? names[number] : "an unknown device";
}

/// The storage of a C++ type; -1 if kernels do not store it.
template <class T>
inline constexpr int storage_of = -1;
template <>
inline constexpr int storage_of<float> = attune_f32;
template <>
inline constexpr int storage_of<bfloat16> = attune_bf16;
template <>
inline constexpr int storage_of<double> = attune_f64;
template <>
inline constexpr int storage_of<std::int8_t> = attune_i8;
template <>
inline constexpr int storage_of<std::uint8_t> = attune_u8;
template <>
inline constexpr int storage_of<std::int32_t> = attune_i32;
template <>
inline constexpr int storage_of<std::int64_t> = attune_i64;
template <>
inline constexpr int storage_of<bool> = attune_boolean;

/// A C++ type that tensors can hold.
template <class T>
concept Storable = storage_of<std::remove_cv_t<T>>
>= 0;

}  // namespace attune
