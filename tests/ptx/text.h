/// The text of a statement of PTX in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace attune::ptx {

inline constexpr std::string_view blanks = " \t\r\n";

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// The parts between commas that stand outside of braces and brackets.
std::vector<std::string_view> parts_of(std::string_view text);

/// The parts of parts that stand in braces, and those that do not, one after the other: "{%r1, %r2}, %r3" are three.
std::vector<std::string_view> elements_of(const std::vector<std::string_view>& parts, std::size_t first, std::size_t end);

/// "%rd1" and 16 of "[%rd1+16]"; without an offset that stays what it is. Empty if it is no place.
std::string_view place_of(std::string_view text, std::int64_t& offset);

/// "b32" is four bytes; 0 if it is no type.
int bytes_of(std::string_view type);

}  // namespace attune::ptx
