#include "codegen/dialect/nesting.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune {
namespace {

constexpr int deepest = 32;            // levels of brackets; a graph in stages has about ten
constexpr int most_definitions = 256;  // of attributes and types; each may add all its levels to those of one before it

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.'; }

/// Walks over the tokens of the text; strings and comments are none.
class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  std::string problem() {
    while (!rest_.empty()) {
      const char c = rest_[0];
      if (c == '"') skip_string();
      else if (rest_.starts_with("//")) skip(std::min(rest_.find('\n'), rest_.size()));
      else if (is_word(c)) take_word();
      else take_sign();
      if (!problem_.empty()) return fmt::format("line {}: {}", line_, problem_);
    }
    return {};
  }

 private:
  void skip(std::size_t count) {
    line_ += static_cast<int>(std::ranges::count(rest_.substr(0, count), '\n'));
    rest_.remove_prefix(count);
  }

  void skip_string() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"' && rest_[end] != '\n') end += rest_[end] == '\\' ? 2 : 1;
    skip(std::min(end + 1, rest_.size()));
  }

  void take_word() {
    const auto end = std::ranges::find_if_not(rest_, is_word);
    const std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    if (word == "affine_map" || word == "affine_set") problem_ = fmt::format("holds an {}, which no graph has", word);
    skip(word.size());
  }

  void take_sign() {
    const char c = rest_[0];
    if (rest_.starts_with("->")) return skip(2);  // its > closes nothing
    if (c == '(' || c == '[' || c == '{') ++brackets_;
    if (c == ')' || c == ']' || c == '}') brackets_ = std::max(brackets_ - 1, 0);
    if (c == '<') ++angles_;
    if (c == '>') angles_ = std::max(angles_ - 1, 0);
    if (brackets_ == 0 && (c == '#' || c == '!')) ++definitions_;
    if (brackets_ + angles_ > deepest) problem_ = fmt::format("is nested deeper than {} levels; graphs are not", deepest);
    if (definitions_ > most_definitions) problem_ = fmt::format("defines more than {} attributes and types; graphs need none", most_definitions);
    skip(1);
  }

  std::string_view rest_;
  std::string problem_;
  int line_ = 1, definitions_ = 0;
  int brackets_ = 0, angles_ = 0;  // apart: one of them cannot hide the other
};

}  // namespace

std::string nesting_problem(std::string_view text) { return Scan(text).problem(); }

}  // namespace attune
