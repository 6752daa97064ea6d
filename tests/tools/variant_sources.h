/// What the headers of variants say, as text: for the page of variants.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/folder.h"

namespace attune {

/// The header of a variant: the file, and where its struct begins in it.
struct VariantSource {
  std::string file;  ///< "dsl/variants/causal.h"
  std::string text;
  std::size_t begin = 0, name = 0;  ///< of `struct`, and of `name = "causal"` behind it

  bool is_found() const { return !file.empty(); }

  /// The lines of `///` that the file begins with, as one.
  std::string about() const { return comment_at(0); }
  /// Those in front of the struct.
  std::string about_struct() const {
    std::size_t first = begin;
    while (first > 0) {
      const std::size_t line = text.rfind('\n', first - 2) + 1;
      if (text.compare(line, 3, "///") != 0) break;
      first = line;
    }
    return first == begin ? "" : comment_at(first);
  }
  /// What `///<` says behind the member of the struct.
  std::string about_member(std::string_view member) const {
    for (const char* end : {" = ", ";", ", "}) {
      const std::size_t at = text.find(" " + std::string(member) + end, begin);
      if (at == std::string::npos || at > name) continue;
      const std::size_t last = text.find('\n', at), comment = text.find("///< ", at);
      return comment < last ? text.substr(comment + 5, last - comment - 5) : "";
    }
    return "";
  }
  /// The call operator that follows, without the indentation of members; empty if the struct inherits it.
  std::string code() const {
    const std::size_t end_of_struct = text.find("\n};", name), first = text.find("  constexpr void operator()(Graph& g) const {", name);
    if (first == std::string::npos || first > end_of_struct) return "";
    const std::size_t last = text.find("\n  }\n", first) + 4;
    std::string lines;
    for (std::size_t at = first; at < last;) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      lines += (line.starts_with("  ") ? line.substr(2) : line) + "\n";
      at = end + 1;
    }
    return lines;
  }

 private:
  std::string comment_at(std::size_t at) const {
    std::string words;
    while (text.compare(at, 3, "///") == 0) {
      const std::size_t end = text.find('\n', at);
      words += (words.empty() ? "" : " ") + text.substr(at + 4, end - at - 4);
      at = end + 1;
    }
    return words;
  }
};

/// Of the variant that the headers of a folder below `root` call so.
inline VariantSource source_of(const std::filesystem::path& root, const std::string& folder, std::string_view variant) {
  const std::string mark = " name = \"" + std::string(variant) + "\"";
  for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
    const std::string text = contents(entry.path());
    const std::size_t name = text.find(mark), begin = name == std::string::npos ? name : text.rfind("\nstruct ", name);
    if (begin != std::string::npos) return {folder + "/" + entry.path().filename().string(), text, begin + 1, name};
  }
  return {};
}

}  // namespace attune
