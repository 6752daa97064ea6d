#include "tools/attune/label_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/files/read_file.h"

namespace attune {
namespace {

/// Whether each letter is a sequence of bytes that UTF-8 has, by the first byte and the number of those after it.
bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = byte(at);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    if (length == 0) return false;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    // longer forms of what fewer bytes say, halves of pairs, and what lies beyond the last letter
    const unsigned second = byte(at + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return false;
    at += length;
  }
  return true;
}

}  // namespace

LabelFile read_labels(const std::string& option, const std::string& path) {
  const auto [text, error] = read_file(path);
  if (error) return {{}, fmt::format("{} '{}': {}", option, path, cannot_be_read(error))};
  LabelFile file;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string label = text.substr(at, end - at);
    if (label.ends_with('\r')) label.pop_back();
    if (!is_utf8(label) || label.find('\0') != std::string::npos)
      return {{}, fmt::format("{} '{}': line {} is no text in UTF-8; each line is a label", option, path, file.labels.size() + 1)};
    file.labels.push_back(std::move(label));
    at = end + 1;
  }
  return file;
}

}  // namespace attune
