/// Text: a message that constexpr code writes and a template argument can carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attune {

/// At most `capacity` characters; what does not fit is cut off.
struct Text {
  static constexpr std::size_t capacity = 400;
  char chars[capacity]{};
  std::size_t length = 0;

  constexpr Text() = default;
  constexpr explicit(false) Text(std::string_view s) { *this << s; }
  constexpr explicit(false) Text(const char* s) { *this << std::string_view(s); }

  constexpr Text& operator<<(std::string_view s) {
    for (char c : s)
      if (length < capacity) chars[length++] = c;
    return *this;
  }
  constexpr Text& operator<<(const char* s) { return *this << std::string_view(s); }
  constexpr Text& operator<<(const Text& t) { return *this << t.view(); }
  constexpr Text& operator<<(std::int64_t v) {
    if (v < 0) *this << "-";
    char digits[20]{};
    int n = 0;
    do {
      const std::int64_t digit = v % 10;
      digits[n++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
    } while (v /= 10);
    while (n > 0) *this << std::string_view(&digits[--n], 1);
    return *this;
  }
  constexpr Text& operator<<(int v) { return *this << static_cast<std::int64_t>(v); }
  /// Up to six decimal places, enough to recognise a literal in a message.
  constexpr Text& operator<<(double v) {
    if (v != v) return *this << "NaN";
    if (v < 0) {
      *this << "-";
      v = -v;
    }
    if (v > 1.7976931348623157e308) return *this << "inf";
    if (v >= 9e15) return in_powers_of_ten(v);
    std::int64_t whole = static_cast<std::int64_t>(v);
    std::int64_t parts = static_cast<std::int64_t>((v - static_cast<double>(whole)) * 1e6 + 0.5);
    if (parts == 1000000) {
      ++whole;
      parts = 0;
    }
    *this << whole;
    if (parts == 0) return *this;
    *this << ".";
    for (std::int64_t scale = 100000; parts > 0; scale /= 10) {
      *this << parts / scale;
      parts %= scale;
    }
    return *this;
  }

  /// "9.223372e18"
  constexpr Text& in_powers_of_ten(double v) {
    int exponent = 0;
    for (; v >= 10; v /= 10) ++exponent;
    return *this << v << "e" << exponent;
  }

  constexpr bool empty() const { return length == 0; }
  constexpr std::string_view view() const { return {chars, length}; }
  constexpr const char* data() const { return chars; }
  constexpr std::size_t size() const { return length; }
};

}  // namespace attune
