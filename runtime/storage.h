/// The storages of abi.h: their names, their sizes, and the C++ types that have them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "runtime/abi.h"
#include "runtime/bfloat16.h"
#include "runtime/float16.h"

namespace attune {

inline constexpr int storage_count = 9;

/// False for a number that no storage has: a C++ program may put any into the enum.
constexpr bool is_known(attune_storage storage) { return static_cast<int>(storage) >= 0 && static_cast<int>(storage) < storage_count; }

struct StorageInfo {
  std::string_view name;
  std::int64_t bytes;   ///< of one element; its address is a multiple of them
  double rounding = 0;  ///< of reals: storing x moves it by rounding |x| at most, or by half of `least`
  double least = 0;     ///< the least positive number, which is the distance of subnormal ones
  double greatest = 0;  ///< the greatest that is finite; what rounds to more is stored as infinite
};

/// In the order of the storages' numbers.
inline constexpr std::array<StorageInfo, storage_count> storage_table = {{{"f32", 4, 0x1p-24, 0x1p-149, 0x1.fffffep127},
                                                                         {"bf16", 2, 0x1p-8, 0x1p-133, 0x1.fep127},
                                                                         {"f16", 2, 0x1p-11, 0x1p-24, 65504},
                                                                         {"f64", 8, 0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023},
                                                                         {"i8", 1},
                                                                         {"u8", 1},
                                                                         {"i32", 4},
                                                                         {"i64", 8},
                                                                         {"boolean", 1}}};
static_assert(attune_f32 == 0 && attune_boolean == storage_count - 1);

/// Of a known storage.
constexpr const StorageInfo& info_of(attune_storage storage) { return storage_table[static_cast<std::size_t>(storage)]; }

constexpr std::string_view name_of(attune_storage storage) { return is_known(storage) ? info_of(storage).name : "unknown"; }
constexpr std::int64_t bytes_of(attune_storage storage) { return info_of(storage).bytes; }
constexpr bool is_real(attune_storage storage) { return info_of(storage).rounding > 0; }

constexpr std::string_view name_of(attune_device device) {
  constexpr std::array<std::string_view, 4> names = {"cpu", "opencl", "cuda", "vulkan"};
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
inline constexpr int storage_of<float16> = attune_f16;
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
