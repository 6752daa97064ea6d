#include "tests/ptx/text.h"

#include <charconv>

namespace attune::ptx {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (c != ',' || depth > 0) continue;
    if (const std::string_view part = trimmed(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

std::vector<std::string_view> elements_of(const std::vector<std::string_view>& parts, std::size_t first, std::size_t end) {
  std::vector<std::string_view> elements;
  for (std::size_t i = first; i < end; ++i) {
    if (!parts[i].starts_with('{'))
      elements.push_back(parts[i]);
    else
      for (const std::string_view element : parts_of(parts[i].substr(1, parts[i].size() - 2))) elements.push_back(element);
  }
  return elements;
}

std::string_view place_of(std::string_view text, std::int64_t& offset) {
  if (!text.starts_with('[') || !text.ends_with(']')) return {};
  const std::string_view place = text.substr(1, text.size() - 2);
  const std::size_t plus = place.find('+');
  if (plus != std::string_view::npos) std::from_chars(place.data() + plus + 1, place.data() + place.size(), offset);
  return place.substr(0, plus);
}

int bytes_of(std::string_view type) {
  int bits = 0;
  if (type.size() > 1) std::from_chars(type.data() + 1, type.data() + type.size(), bits);
  return bits / 8;
}

}  // namespace attune::ptx
