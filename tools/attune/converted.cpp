#include "tools/attune/converted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "runtime/storage.h"

namespace attune {
namespace {

/// The storage of a file's reals, if it holds reals for this storage. Numbers of u16 may be bits of bf16 or integers: they are bits where bf16 is
/// taken, and by the interpreter, whose f64 stands for every real.
std::optional<attune_storage> real_storage(NpyType type, attune_storage taken) {
  switch (type) {
    case NpyType::f32: return attune_f32;
    case NpyType::f64: return attune_f64;
    case NpyType::f16: return attune_f16;
    case NpyType::u16: return taken == attune_f64 || taken == attune_bf16 ? std::optional(attune_bf16) : std::nullopt;
    default: return std::nullopt;
  }
}

template <class T>
std::vector<std::int64_t> widened(const NpyArray& file) {
  const auto values = *file.values<T>();
  return {values.begin(), values.end()};
}

/// Integers, the problem in words, or nothing if the file holds none. Those of u64 beyond 2^63 - 1 are beyond every kernel's.
std::optional<std::variant<std::vector<std::int64_t>, std::string>> integers_of(const NpyArray& file) {
  switch (file.type) {
    case NpyType::i8: return widened<std::int8_t>(file);
    case NpyType::i16: return widened<std::int16_t>(file);
    case NpyType::i32: return widened<std::int32_t>(file);
    case NpyType::i64: return widened<std::int64_t>(file);
    case NpyType::u8: return widened<std::uint8_t>(file);
    case NpyType::u16: return widened<std::uint16_t>(file);
    case NpyType::u32: return widened<std::uint32_t>(file);
    case NpyType::boolean: return widened<bool>(file);
    case NpyType::u64: {
      const auto values = *file.values<std::uint64_t>();
      const auto large = std::ranges::find_if(values, [](std::uint64_t x) { return !std::in_range<std::int64_t>(x); });
      if (large != values.end()) return fmt::format("element {} is {}; kernels take integers up to 2^63 - 1", large - values.begin(), *large);
      return widened<std::uint64_t>(file);
    }
    default: return std::nullopt;
  }
}

/// The least and the greatest integer that the storage holds.
std::pair<std::int64_t, std::int64_t> range_of(attune_storage storage) {
  const auto all_of = []<class T>(T) { return std::pair<std::int64_t, std::int64_t>{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}; };
  switch (storage) {
    case attune_boolean: return {0, 1};
    case attune_i8: return all_of(std::int8_t{});
    case attune_u8: return all_of(std::uint8_t{});
    case attune_i32: return all_of(std::int32_t{});
    default: return all_of(std::int64_t{});
  }
}

template <class T>
std::vector<std::byte> packed(const std::vector<std::int64_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

/// Not by way of doubles, which do not hold all integers of 64 bits.
std::vector<std::byte> as_bytes(const std::vector<std::int64_t>& values, attune_storage storage) {
  switch (storage) {
    case attune_i32: return packed<std::int32_t>(values);
    case attune_i64: return packed<std::int64_t>(values);
    default: return packed<std::int8_t>(values);  // u8 and booleans have the same bits
  }
}

Converted to_integers(const std::vector<std::int64_t>& values, const NpyArray& file, attune_storage storage, const std::string& taker) {
  const auto [least, greatest] = range_of(storage);
  const auto outside = std::ranges::find_if(values, [&](std::int64_t x) { return x < least || x > greatest; });
  if (outside != values.end())
    return {{}, {}, fmt::format("element {} is {}; {} takes {}, from {} to {}", outside - values.begin(), *outside, taker, name_of(storage), least, greatest)};
  Converted converted{StoredArray(storage, file.shape), {}, {}};
  converted.array.bytes = as_bytes(values, storage);
  return converted;
}

/// Integers as reals: each as it is or not at all, for nobody expects 16777217 to become 16777216.
Converted to_reals(const std::vector<std::int64_t>& integers, const NpyArray& file, attune_storage storage, const std::string& taker) {
  std::vector<double> values(integers.begin(), integers.end());
  Converted converted{stored(values, file.shape, storage), {}, {}};
  values = numbers(converted.array);
  constexpr double beyond = 0x1p63;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] >= -beyond && values[i] < beyond) || static_cast<std::int64_t>(values[i]) != integers[i])
      return {{}, {}, fmt::format("element {} is {}; {} takes {}, which has no such number", i, integers[i], taker, name_of(storage))};
  return converted;
}

Converted rounded(const std::vector<double>& values, const NpyArray& file, attune_storage storage, const std::string& taker) {
  Converted converted{stored(values, file.shape, storage), {}, {}};
  const std::vector<double> kept = numbers(converted.array);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && !std::isfinite(kept[i]))
      return {{}, {}, fmt::format("element {} is {}; {} takes {}, where that is infinite", i, values[i], taker, name_of(storage))};
    changed += kept[i] != values[i] && !std::isnan(values[i]) ? 1 : 0;
  }
  if (changed > 0) converted.note = fmt::format("{} of {} numbers are rounded to {} for {}", changed, values.size(), name_of(storage), taker);
  return converted;
}

}  // namespace

NpyType npy_type_of(attune_storage storage) {
  switch (storage) {
    case attune_bf16: return NpyType::u16;
    case attune_f16: return NpyType::f16;
    case attune_f64: return NpyType::f64;
    case attune_i8: return NpyType::i8;
    case attune_u8: return NpyType::u8;
    case attune_i32: return NpyType::i32;
    case attune_i64: return NpyType::i64;
    case attune_boolean: return NpyType::boolean;
    case attune_f32: break;
  }
  return NpyType::f32;
}

Converted convert(const NpyArray& file, attune_storage storage, const std::string& taker) {
  if (file.type == npy_type_of(storage)) {
    Converted same{StoredArray(storage, file.shape), {}, {}};
    same.array.bytes = file.data;
    return same;
  }
  const Converted refused{{}, {}, fmt::format("holds {}; {} takes {}", name_of(file.type), taker, name_of(npy_type_of(storage)))};
  if (const auto reals = is_real(storage) ? real_storage(file.type, storage) : std::nullopt) {
    StoredArray array(*reals, file.shape);
    array.bytes = file.data;
    return rounded(numbers(array), file, storage, taker);
  }
  // A truth value as a real is more likely a mask where a bias is taken than a number; u16 is more likely bf16 than integers.
  if (is_real(storage) && (file.type == NpyType::boolean || file.type == NpyType::u16)) return refused;
  const auto integers = integers_of(file);
  if (!integers) return refused;
  if (const auto* problem = std::get_if<std::string>(&*integers)) return {{}, {}, *problem};
  const auto& values = std::get<std::vector<std::int64_t>>(*integers);
  return is_real(storage) ? to_reals(values, file, storage, taker) : to_integers(values, file, storage, taker);
}

}  // namespace attune
