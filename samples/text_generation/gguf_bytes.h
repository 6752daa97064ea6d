/// The fields of a GGUF file one after the other, up to the first that is not there.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace text_generation {

static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian, and so are those of the CPUs that kernels are for");

/// After a problem every field is 0 or empty, and the first problem stays.
class GgufBytes {
 public:
  explicit GgufBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value{};
    if (has(sizeof(T), "a number")) std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  /// Its length in 8 bytes, then its characters.
  std::string text() {
    const auto length = number<std::uint64_t>();
    if (!has(length, "a text")) return {};
    return {reinterpret_cast<const char*>(take(static_cast<std::size_t>(length))), static_cast<std::size_t>(length)};
  }
  /// A text that sentences may quote.
  std::string name() {
    const std::size_t begin = offset_;
    std::string name = text();
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(name, is_control)) fail(fmt::format("has a name with a control character in it at byte {}", begin));
    return name;
  }
  /// How many items follow, of `least_bytes` or more each: not more than the bytes that are left.
  std::size_t count(std::size_t least_bytes, std::string_view what) {
    const auto count = number<std::uint64_t>();
    if (count > left() / least_bytes) fail(fmt::format("has {} {} from byte {} on, with {} bytes left", count, what, offset_, left()));
    return problem_ ? 0 : static_cast<std::size_t>(count);
  }

  std::size_t offset() const { return offset_; }
  std::size_t left() const { return bytes_.size() - offset_; }
  void fail(std::string problem) {
    if (!problem_) problem_ = std::move(problem);
  }
  const std::optional<std::string>& problem() const { return problem_; }

 private:
  bool has(std::uint64_t size, std::string_view what) {
    if (!problem_ && size > left())
      fail(fmt::format("is cut off: {} of {} bytes begins at byte {}, and the file ends at {}", what, size, offset_, bytes_.size()));
    return !problem_;
  }
  const std::byte* take(std::size_t size) {
    offset_ += size;
    return bytes_.data() + offset_ - size;
  }

  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  std::optional<std::string> problem_;
};

}  // namespace text_generation
