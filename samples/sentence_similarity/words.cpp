#include "samples/sentence_similarity/words.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace sentence_similarity {
namespace {

using Character = utf8proc_int32_t;
using Characters = std::vector<Character>;

struct Decoded {
  Character character = -1;  // negative where the bytes are not UTF-8
  std::size_t bytes = 1;
};

Decoded decode(std::string_view text) {
  Decoded result;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                                      &result.character);
  if (bytes > 0) result.bytes = static_cast<std::size_t>(bytes);
  return result;
}

bool is_blank(Character c) {
  const auto category = utf8proc_category(c);
  return c == '\t' || c == '\n' || c == '\r' || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_ignored(Character c) {
  const auto category = utf8proc_category(c);
  return c == 0xFFFD || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

/// Unicode's punctuation, and all of ASCII that is neither letter, digit nor blank ("$" and "^" are symbols to Unicode).
bool is_punctuation(Character c) {
  if ((c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126)) return true;
  const auto category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

/// The blocks of Chinese characters that BERT was trained with.
bool is_chinese(Character c) {
  constexpr std::array<std::pair<Character, Character>, 8> blocks = {{{0x4E00, 0x9FFF},
                                                                      {0x3400, 0x4DBF},
                                                                      {0x20000, 0x2A6DF},
                                                                      {0x2A700, 0x2B73F},
                                                                      {0x2B740, 0x2B81F},
                                                                      {0x2B920, 0x2CEAF},
                                                                      {0xF900, 0xFAFF},
                                                                      {0x2F800, 0x2FA1F}}};
  return std::any_of(blocks.begin(), blocks.end(), [&](auto block) { return c >= block.first && c <= block.second; });
}

/// The character's canonical decomposition in lower case, without accents (nonspacing marks).
void append_plain(Characters& result, Character c) {
  std::array<Character, 8> parts{};  // the longest canonical decomposition has 4
  int boundary_class = 0;
  const auto count = utf8proc_decompose_char(c, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &boundary_class);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const Character part = parts[static_cast<std::size_t>(i)];
    if (utf8proc_category(part) != UTF8PROC_CATEGORY_MN) result.push_back(utf8proc_tolower(part));
  }
}

std::string encoded(const Characters& characters) {
  std::string text;
  for (Character c : characters) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto count = utf8proc_encode_char(c, bytes.data());
    text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
  }
  return text;
}

/// Collects characters into words; punctuation marks and Chinese characters are words of their own.
class Splitter {
 public:
  void add(Character c) {
    if (is_ignored(c) && !is_blank(c)) return;
    if (is_blank(c)) return end_word();
    if (is_chinese(c)) end_word();
    Characters plain;
    append_plain(plain, c);
    for (Character part : plain) {
      if (is_punctuation(part)) end_word();
      word_.push_back(part);
      if (is_punctuation(part)) end_word();
    }
    if (is_chinese(c)) end_word();
  }

  std::vector<std::string> words() && {
    end_word();
    return std::move(words_);
  }

 private:
  void end_word() {
    if (!word_.empty()) words_.push_back(encoded(word_));
    word_.clear();
  }

  Characters word_;
  std::vector<std::string> words_;
};

}  // namespace

attune::Result<std::vector<std::string>> words_of(std::string_view text) {
  Splitter splitter;
  for (std::size_t place = 0; place < text.size();) {
    const Decoded decoded = decode(text.substr(place));
    if (decoded.character < 0)
      return attune::Error{fmt::format("byte {} is 0x{:02x}, which is not UTF-8 there", place, static_cast<unsigned char>(text[place]))};
    splitter.add(decoded.character);
    place += decoded.bytes;
  }
  return std::move(splitter).words();
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    columns += decoded.character < 0 ? 1 : static_cast<std::size_t>(utf8proc_charwidth(decoded.character));
    text.remove_prefix(decoded.bytes);
  }
  return columns;
}

std::size_t character_bytes(std::string_view text) { return decode(text).bytes; }

}  // namespace sentence_similarity
