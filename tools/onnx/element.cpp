#include "tools/onnx/element.h"

#include <bit>
#include <cstring>

#include "runtime/storage.h"

namespace attune {
namespace {

constexpr OnnxElement elements[] = {
    {1, "float32", "FLOAT", 4, Kind::real, "f32", 0x1p-24},   {11, "float64", "DOUBLE", 8, Kind::real, "f32", 0x1p-24},
    {10, "float16", "FLOAT16", 2, Kind::real, "f16", 0x1p-11}, {16, "bfloat16", "BFLOAT16", 2, Kind::real, "bf16", 0x1p-8},
    {9, "bool", "BOOL", 1, Kind::boolean, ""},                 {3, "int8", "INT8", 1, Kind::i8, ""},
    {2, "uint8", "UINT8", 1, Kind::u8, ""},                    {5, "int16", "INT16", 2, Kind::i32, ""},
    {4, "uint16", "UINT16", 2, Kind::i32, ""},                 {6, "int32", "INT32", 4, Kind::i32, ""},
    {12, "uint32", "UINT32", 4, Kind::i64, ""},                {7, "int64", "INT64", 8, Kind::i64, ""},
    {13, "uint64", "UINT64", 8, Kind::i64, ""}};

template <class T, class Read>
std::vector<double> read_all(std::span<const std::byte> bytes, Read read) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    numbers[i] = read(stored);
  }
  return numbers;
}

template <class T>
std::vector<double> read_all(std::span<const std::byte> bytes) {
  return read_all<T>(bytes, [](T x) { return static_cast<double>(x); });
}

/// Of storages that hold the bits of a number.
template <class Number>
std::vector<double> read_bits(std::span<const std::byte> bytes) {
  return read_all<std::uint16_t>(bytes, [](std::uint16_t bits) {
    Number number;
    number.bits = bits;
    return static_cast<double>(static_cast<float>(number));
  });
}

}  // namespace

std::span<const OnnxElement> onnx_elements() { return elements; }

const OnnxElement* find_element(std::string_view name) {
  for (const OnnxElement& element : elements)
    if (element.name == name) return &element;
  return nullptr;
}

const OnnxElement* find_element(int number) {
  for (const OnnxElement& element : elements)
    if (element.number == number) return &element;
  return nullptr;
}

std::string onnx_element_names() {
  std::string names;
  for (const OnnxElement& element : elements) names += (names.empty() ? "" : ", ") + std::string(element.name);
  return names;
}

std::vector<double> onnx_numbers(const OnnxElement& element, std::span<const std::byte> bytes) {
  switch (element.number) {
    case 1: return read_all<float>(bytes);
    case 11: return read_all<double>(bytes);
    case 10: return read_bits<float16>(bytes);
    case 16: return read_bits<bfloat16>(bytes);
    case 3: return read_all<std::int8_t>(bytes);
    case 9:
    case 2: return read_all<std::uint8_t>(bytes);
    case 5: return read_all<std::int16_t>(bytes);
    case 4: return read_all<std::uint16_t>(bytes);
    case 6: return read_all<std::int32_t>(bytes);
    case 12: return read_all<std::uint32_t>(bytes);
    case 7: return read_all<std::int64_t>(bytes);
    default: return read_all<std::uint64_t>(bytes);
  }
}

}  // namespace attune
