/// SHA-256 (FIPS 180-4), with which kernel files are told from damaged ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attune {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::span<const std::byte> data);

/// 64 hexadecimal digits.
std::string text_of(const Sha256& hash);

/// The sum that 64 hexadecimal digits, small or capital, stand for; nothing for any other text.
std::optional<Sha256> sha256_of_digits(std::string_view digits);

}  // namespace attune
