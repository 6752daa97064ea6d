/// Storages as Halide describes them.
#pragma once

#include <HalideRuntime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/storage.h"

namespace attune {

/// How Halide describes elements of a known storage. Halide 21 computes with bfloat slowly on CPUs and wrongly on GPUs: kernels take the bits of bf16
/// as u16. boolean is u8.
inline halide_type_t halide_type_of(attune_storage storage) {
  static constexpr std::array<std::pair<halide_type_code_t, std::uint8_t>, storage_count> types = {{{halide_type_float, 32}, {halide_type_uint, 16}, {halide_type_float, 16},
                                                                                        {halide_type_float, 64}, {halide_type_int, 8}, {halide_type_uint, 8},
                                                                                        {halide_type_int, 32}, {halide_type_int, 64}, {halide_type_uint, 8}}};
  static_assert(attune_f32 == 0 && attune_boolean == 8, "the table is in the order of the storages");
  const auto [code, bits] = types[static_cast<std::size_t>(storage)];
  return {code, bits};
}

}  // namespace attune
