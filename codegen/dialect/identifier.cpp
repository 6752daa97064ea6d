#include "codegen/dialect/identifier.h"

#include <fmt/format.h>
#include <llvm/Support/JSON.h>

#include <algorithm>

namespace attune {
namespace {

constexpr std::size_t longest = 200;  // a file's name has 255 letters at most; that of the temporary folder is 8 longer

/// The keywords of C23 and C++23, and words with a meaning of their own in them that a declaration cannot hide everywhere.
constexpr std::string_view keywords[] = {
    "alignas",   "alignof",  "and",       "and_eq",       "asm",       "auto",          "bitand",       "bitor",     "bool",      "break",
    "case",      "catch",    "char",      "char16_t",     "char32_t",  "char8_t",       "class",        "co_await",  "co_return", "co_yield",
    "compl",     "concept",  "const",     "const_cast",   "consteval", "constexpr",     "constinit",    "continue",  "decltype",  "default",
    "delete",    "do",       "double",    "dynamic_cast", "else",      "enum",          "explicit",     "export",    "extern",    "false",
    "float",     "for",      "friend",    "goto",         "if",        "inline",        "int",          "long",      "mutable",   "namespace",
    "new",       "noexcept", "not",       "not_eq",       "nullptr",   "operator",      "or",           "or_eq",     "private",   "protected",
    "public",    "register", "reinterpret_cast", "requires", "restrict", "return",      "short",        "signed",    "sizeof",    "static",
    "static_assert", "static_cast", "struct", "switch",   "template",  "this",          "thread_local", "throw",     "true",      "try",
    "typedef",   "typeid",   "typename",  "typeof",       "typeof_unqual", "union",     "unsigned",     "using",     "virtual",   "void",
    "volatile",  "wchar_t",  "while",     "xor",          "xor_eq"};
static_assert(std::ranges::is_sorted(keywords));

/// Macros that compilers for Linux define by themselves, and those of the C headers that the generated ones include.
constexpr std::string_view macros[] = {"EOF",  "HUGE_VAL", "INFINITY", "NAN",    "NULL",  "assert", "errno",
                                       "i386", "linux",    "offsetof", "stderr", "stdin", "stdout", "unix"};
static_assert(std::ranges::is_sorted(macros));

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

std::string escaped(std::string_view text, std::string_view unwanted) {
  std::string result;
  for (const char c : text) {
    const bool is_kept = c >= ' ' && c <= '~' && unwanted.find(c) == std::string_view::npos;
    if (is_kept) result += c;
    else result += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace

std::string name_problem(std::string_view what, std::string_view name) {
  const auto refuse = [&](const std::string& text) { return fmt::format("{} '{}': {}", what, excerpt(name), text); };
  const bool is_word = !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
  if (!is_word) return refuse("is not a name; letters, digits and _ are, and no digit first");
  if (name.size() > longest) return refuse(fmt::format("has {} letters; {} are the most", name.size(), longest));
  if (name[0] == '_' || name.find("__") != std::string_view::npos) return refuse("is kept for compilers; a name has no _ first and no two in a row");
  if (std::ranges::binary_search(keywords, name)) return refuse("is a keyword of C or C++; the kernel's headers could not declare it");
  if (std::ranges::binary_search(macros, name)) return refuse("is a macro of C compilers; the kernel's headers could not declare it");
  return {};
}

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, is_control) && llvm::json::isUTF8(text);
}

std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (is_control(c)) result += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    else result += c;
  }
  return result;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 60;
  return escaped(text.substr(0, most), "\\") + (text.size() > most ? "..." : "");
}

std::string comment_text(std::string_view text) {
  // "*/" ends a comment, "/*" in one is a warning, and a backslash or ??/ before the end of a line takes the next line into it
  return escaped(text, "*/\\?");
}

}  // namespace attune
