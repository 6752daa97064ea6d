/// Names that become identifiers in generated C and C++ and parts of files' names: of kernels, functions, structs and tensors.
#pragma once

#include <string>
#include <string_view>

namespace attune {

/// The sentence `WHAT 'NAME': ...` about a name that C or C++ could not declare, that their compilers keep for themselves, or that is too
/// long for a file; empty for a good one.
std::string name_problem(std::string_view what, std::string_view name);

/// The text is UTF-8 without control characters: what may stand in JSON and on a terminal.
bool is_printable(std::string_view text);

/// The text with control characters as \xHH: a sentence is one line, whatever names it tells of.
std::string one_line(std::string_view text);

/// At most 60 bytes of text from outside, to stand in quotes in a sentence: what is not printable ASCII is \xHH.
std::string excerpt(std::string_view text);

/// The text as part of a comment of C or C++: the bytes that could end it, go on with it on the next line, or are not printable ASCII are \xHH.
std::string comment_text(std::string_view text);

}  // namespace attune
