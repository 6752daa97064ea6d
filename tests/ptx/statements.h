/// The text of PTX as lines and, within a kernel, as statements.
#pragma once

#include <string>
#include <string_view>

namespace attune::ptx {

class Statements {
 public:
  explicit Statements(std::string_view text) : rest_(text) {}

  /// Sets text() to the next line, without its comment and the blanks at its ends; false at the end.
  bool next_line();
  /// Sets text() to the next statement with its ';', the lines of a longer one joined by blanks, or to a label with its ':', or to a brace
  /// of a scope; false at the end.
  bool next();

  std::string_view text() const { return text_; }
  /// Where the statement begins, from 1.
  int line() const { return first_line_; }

 private:
  bool read_line(std::string_view& line);

  std::string_view rest_, text_, of_line_;  // the latter: behind the statement, in its last line
  std::string joined_;
  int line_ = 0, first_line_ = 0;
};

}  // namespace attune::ptx
