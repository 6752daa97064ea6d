/// What a C++ compiler said of a user's header, as a sentence.
#pragma once

#include <string>

namespace attune {

/// The sources of one compilation, as the compiler names them.
struct CompiledHeader {
  std::string header;  ///< the user's
  std::string source;  ///< what includes it
};

/// An error of a compiler: of a wrong graph its own sentence; otherwise `line 7: TEXT, in 'SOURCE LINE'`, with the line of the header that leads to
/// the error where it is in another file.
struct CompilerError {
  std::string sentence;     ///< empty: no error is told
  int line_of_source = 0;   ///< where nothing in the header leads to it; then the sentence has no line
};

/// The first error that GCC or Clang tells.
CompilerError first_error(const std::string& output, const CompiledHeader& compiled);

}  // namespace attune
