/// words("depth = ", 64) is the string "depth = 64": how the runtime writes its sentences, and reads lists.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

inline void add_word(std::string& text, std::string_view word) { text += word; }
inline void add_word(std::string& text, std::integral auto number) { text += std::to_string(number); }

template <class... Parts>
std::string words(const Parts&... parts) {
  std::string text;
  (add_word(text, parts), ...);
  return text;
}

/// Adds `word` to a list in words: "a", then "a, b".
inline void add_to_list(std::string& list, std::string_view word, std::string_view between = ", ") {
  if (!list.empty()) list += between;
  list += word;
}

/// What stands between the blanks of a text.
inline std::vector<std::string_view> blank_separated(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace attune
