/// Elements of a .npy file in the order in which arrays keep them: C order, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attune {

/// The elements of an array in Fortran order, where the first extent varies fastest, in C order; data.size()
/// is the product of shape times element_bytes.
std::vector<std::byte> in_c_order(std::span<const std::byte> data, std::span<const std::int64_t> shape, std::size_t element_bytes);

/// Turns the bytes of each element round.
void swap_bytes(std::span<std::byte> data, std::size_t element_bytes);

}  // namespace attune
