#include "tools/measure/stored_array.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/storage.h"

namespace attune {
namespace {

std::size_t element_bytes(attune_storage storage) { return static_cast<std::size_t>(attune::bytes_of(storage)); }

template <class T>
T saturated(double x) {
  if (std::isnan(x)) return 0;
  if (x <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (x >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(x);
}

template <class T>
void put(std::byte* to, T value) { std::memcpy(to, &value, sizeof value); }
template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void write(std::byte* to, double x, attune_storage storage) {
  switch (storage) {
    case attune_f32: return put(to, static_cast<float>(x));
    case attune_f64: return put(to, x);
    case attune_bf16: return put(to, bfloat16(static_cast<float>(x)).bits);
    case attune_i8: return put(to, saturated<std::int8_t>(x));
    case attune_u8: return put(to, saturated<std::uint8_t>(x));
    case attune_i32: return put(to, saturated<std::int32_t>(x));
    case attune_i64: return put(to, saturated<std::int64_t>(x));
    case attune_boolean: return put(to, static_cast<std::uint8_t>(x != 0));
    case attune_f16: return put(to, float16(static_cast<float>(x)).bits);
  }
}

double read(const std::byte* from, attune_storage storage) {
  switch (storage) {
    case attune_f32: return static_cast<double>(get<float>(from));
    case attune_f64: return get<double>(from);
    case attune_bf16: {
      bfloat16 value;
      value.bits = get<std::uint16_t>(from);
      return static_cast<double>(static_cast<float>(value));
    }
    case attune_i8: return get<std::int8_t>(from);
    case attune_u8: return get<std::uint8_t>(from);
    case attune_i32: return get<std::int32_t>(from);
    case attune_i64: return static_cast<double>(get<std::int64_t>(from));
    case attune_boolean: return get<std::uint8_t>(from);
    case attune_f16: {
      float16 value;
      value.bits = get<std::uint16_t>(from);
      return static_cast<double>(static_cast<float>(value));
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

StoredArray::StoredArray(attune_storage type, std::vector<std::int64_t> shape) : storage(type), extents(std::move(shape)) {
  bytes.resize(size() * element_bytes(storage));
}

std::size_t StoredArray::size() const {
  std::size_t count = 1;
  for (const std::int64_t extent : extents) count *= static_cast<std::size_t>(extent);
  return count;
}

StoredArray stored(const std::vector<double>& values, std::vector<std::int64_t> extents, attune_storage storage) {
  StoredArray array(storage, std::move(extents));
  for (std::size_t i = 0; i < values.size(); ++i) write(array.bytes.data() + i * element_bytes(storage), values[i], storage);
  return array;
}

std::vector<double> numbers(const StoredArray& array) {
  std::vector<double> values(array.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = read(array.bytes.data() + i * element_bytes(array.storage), array.storage);
  return values;
}

}  // namespace attune
