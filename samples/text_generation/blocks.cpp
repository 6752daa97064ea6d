#include "samples/text_generation/blocks.h"

#include <bit>
#include <cstring>

namespace text_generation {
namespace {

constexpr std::size_t q4_1_bytes = 20, q8_0_bytes = 34;

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}
attune::float16 half_at(std::span<const std::byte> bytes, std::size_t offset) {
  return std::bit_cast<attune::float16>(number_at<std::uint16_t>(bytes, offset));
}

float real_at(const StoredTensor& tensor, std::size_t i) {
  if (tensor.type == TensorType::f32) return number_at<float>(tensor.bytes, 4 * i);
  if (tensor.type == TensorType::f16) return static_cast<float>(half_at(tensor.bytes, 2 * i));
  return std::bit_cast<float>(static_cast<std::uint32_t>(number_at<std::uint16_t>(tensor.bytes, 2 * i)) << 16);  // bf16
}

/// Its 32 elements.
void read_block(const StoredTensor& tensor, std::int64_t number, float* reals) {
  const StoredBlock block = block_of(tensor, number);
  const auto scale = static_cast<float>(block.scale), minimum = static_cast<float>(block.minimum);
  for (int i = 0; i < 32; ++i) {
    const int byte = tensor.type == TensorType::q4_1 ? block.integers[i % 16] : block.integers[i];
    const int integer = tensor.type == TensorType::q4_1 ? (i < 16 ? byte & 15 : byte >> 4) : static_cast<std::int8_t>(byte);
    reals[i] = scale * static_cast<float>(integer) + minimum;
  }
}

}  // namespace

StoredBlock block_of(const StoredTensor& tensor, std::int64_t number) {
  const bool has_minimum = tensor.type == TensorType::q4_1;
  const std::size_t begin = static_cast<std::size_t>(number) * (has_minimum ? q4_1_bytes : q8_0_bytes), header = has_minimum ? 4 : 2;
  return {half_at(tensor.bytes, begin), has_minimum ? half_at(tensor.bytes, begin + 2) : attune::float16(0.f),
          reinterpret_cast<const std::uint8_t*>(tensor.bytes.data() + begin + header)};
}

void read_reals(const StoredTensor& tensor, std::int64_t first, std::span<float> reals) {
  const auto begin = static_cast<std::size_t>(first);
  if (tensor.type == TensorType::q4_1 || tensor.type == TensorType::q8_0)
    for (std::size_t i = 0; i < reals.size(); i += 32) read_block(tensor, static_cast<std::int64_t>((begin + i) / 32), reals.data() + i);
  else
    for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = real_at(tensor, begin + i);
}

}  // namespace text_generation
