/// SHA-256 (FIPS 180-4), with which kernel files are told from damaged ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace attune {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::span<const std::byte> data);

/// 64 hexadecimal digits.
std::string text_of(const Sha256& hash);

}  // namespace attune
