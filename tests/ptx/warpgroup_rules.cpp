/// The products of warpgroups by the manual of PTX (ISA 8.0, "wgmma.mma_async").
#include <bit>
#include <charconv>
#include <cstring>

#include "runtime/bfloat16.h"
#include "runtime/float16.h"
#include "tests/ptx/module.h"
#include "tests/ptx/text.h"

namespace attune::ptx {
namespace {

template <class T>
float element_of(const std::byte* place) {
  T value;
  std::memcpy(&value.bits, place, sizeof value.bits);
  return static_cast<float>(value);
}

/// Of a real of 32 bits the first 10 of its fraction count.
float tf32_of(const std::byte* place) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, place, sizeof bits);
  return std::bit_cast<float>(bits & ~0x1fffU);
}

constexpr WarpgroupRule warpgroup_rules[] = {
    {"k16.f32.bf16.bf16", 16, 2, element_of<bfloat16>},
    {"k16.f32.f16.f16", 16, 2, element_of<float16>},
    {"k8.f32.tf32.tf32", 8, 4, tf32_of},
};

const WarpgroupRule* find_warpgroup_rule(std::string_view name, std::size_t& columns) {
  constexpr std::string_view begin = "wgmma.mma_async.sync.aligned.m64n";
  if (!name.starts_with(begin)) return nullptr;
  const char* const end = name.data() + name.size();
  const auto [place, error] = std::from_chars(name.data() + begin.size(), end, columns);
  if (error != std::errc() || columns % 8 != 0 || columns < 8 || columns > 256) return nullptr;
  for (const WarpgroupRule& rule : warpgroup_rules)
    if (rule.name == std::string_view(place, static_cast<std::size_t>(end - place))) return &rule;
  return nullptr;
}

}  // namespace

std::string read_product(std::string_view name, const std::vector<std::string_view>& parts, WarpgroupProduct& product) {
  product.rule = find_warpgroup_rule(name, product.columns);
  if (product.rule == nullptr) return "is none of the instructions that kernels of Attune contain";
  const bool can_transpose = product.rule->bytes == 2;
  product.is_a_in_registers = parts.size() > 1 && parts[1].starts_with('{');
  if (parts.size() != 6U + (can_transpose ? 1 : 0) + (can_transpose && !product.is_a_in_registers ? 1 : 0))
    return "has another number of operands";
  const std::size_t factors = product.is_a_in_registers ? 4 : 1;
  if (elements_of(parts, 0, 1).size() != product.columns / 2 || elements_of(parts, 1, 4).size() != factors + 2)
    return "has another number of elements";
  for (std::size_t i = 4; i < parts.size(); ++i)
    if (parts[i] != "1" && parts[i] != (i < 6 ? "-1" : "0")) return "has the number " + std::string(parts[i]) + " where it cannot be";
  product.sign = parts[4] == parts[5] ? 1 : -1;
  product.is_b_transposed = can_transpose && parts.back() == "1";
  product.is_a_transposed = can_transpose && !product.is_a_in_registers && parts[6] == "1";
  return {};
}

}  // namespace attune::ptx
