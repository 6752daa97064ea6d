#include "tests/ptx/statements.h"

#include "tests/ptx/text.h"

namespace attune::ptx {

bool Statements::read_line(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  line = trimmed(line.substr(0, line.find("//")));
  ++line_;
  return true;
}

bool Statements::next_line() {
  const bool is_there = read_line(text_);
  first_line_ = line_;
  return is_there;
}

bool Statements::next() {
  while (of_line_.empty())
    if (!read_line(of_line_)) return false;
  first_line_ = line_;
  std::size_t end = of_line_.find(';');
  if (of_line_.starts_with('{') || of_line_.starts_with('}')) {
    end = 0;
  } else if (end == std::string_view::npos && of_line_.ends_with(':')) {
    end = of_line_.size() - 1;
  } else if (end == std::string_view::npos) {
    joined_ = of_line_;
    while ((end = of_line_.find(';')) == std::string_view::npos && read_line(of_line_))
      joined_.append(" ").append(of_line_.substr(0, of_line_.find(';')));
    joined_ += ';';
    text_ = joined_;
    of_line_ = end == std::string_view::npos ? std::string_view() : trimmed(of_line_.substr(end + 1));
    return true;
  }
  text_ = of_line_.substr(0, end + 1);
  of_line_ = trimmed(of_line_.substr(end + 1));
  return true;
}

}  // namespace attune::ptx
