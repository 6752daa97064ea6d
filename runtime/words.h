/// words("depth = ", 64) is the string "depth = 64": how the runtime writes its sentences.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

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

}  // namespace attune
