#include "tools/attune/compiler_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "codegen/dialect/identifier.h"

namespace attune {
namespace {

enum class MessageKind { error, note, context };

/// "FILE:7:3: error: TEXT". A context is GCC's "FILE:7:3:   required from here", before the error that it leads to.
struct Message {
  MessageKind kind = MessageKind::note;
  std::string file;
  int line = 0;  ///< 0 where none is told
  std::string text;
};

/// Takes ":7" off the end of a place; what it says, or 0.
int take_number(std::string_view& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == place.size() || place.size() - colon > 9) return 0;
  int number = 0;
  for (const char c : place.substr(colon + 1)) {
    if (c < '0' || c > '9') return 0;
    number = 10 * number + (c - '0');
  }
  place = place.substr(0, colon);
  return number;
}

std::optional<Message> parse(std::string_view said) {
  constexpr std::array<std::pair<std::string_view, MessageKind>, 5> marks = {{{": fatal error: ", MessageKind::error},
                                                                       {": error: ", MessageKind::error},
                                                                       {": warning: ", MessageKind::note},
                                                                       {": note: ", MessageKind::note},
                                                                       {":   ", MessageKind::context}}};
  if (said.empty() || said[0] == ' ') return std::nullopt;  // a line of source, and marks below it
  std::size_t first = said.size();
  Message message;
  for (const auto& [mark, kind] : marks)
    if (const std::size_t at = said.find(mark); at < first) {
      first = at;
      message.kind = kind;
      message.text = said.substr(at + mark.size());
    }
  if (first == said.size()) return std::nullopt;
  std::string_view place = said.substr(0, first);
  const int last = take_number(place), before = take_number(place);  // line and column, or the line alone
  message.line = before > 0 ? before : last;
  message.file = place;
  return message;
}

/// The sentence of a wrong graph: what GCC prints as graph_error<Text{"..."}>, and what Clang prints behind a static_assert of the language.
std::optional<std::string> sentence_of_graph(const Message& error, const std::string& header) {
  const std::size_t open = error.text.find("Text{\""), close = error.text.find("\", ", open);
  if (open != std::string::npos && close != std::string::npos) return error.text.substr(open + 6, close - open - 6);
  if (!error.text.starts_with("static assertion failed") || error.file == header) return std::nullopt;
  const std::size_t begin = error.text.find(": ");
  return begin == std::string::npos ? std::nullopt : std::optional(error.text.substr(begin + 2));
}

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// The error, or the message behind it that says what could not be done while the program is compiled: GCC and Clang begin with the constant that
/// needed it.
std::size_t cause_of(std::span<const Message> messages, std::size_t error) {
  if (!has_one_of(messages[error].text,
                  {"called in a constant expression", "initialized by a constant expression", "never produces a constant expression"}))
    return error;
  for (std::size_t i = error + 1; i < messages.size(); ++i)
    if (!has_one_of(messages[i].text, {"in instantiation of", "in call to", "is not usable as", "called in a constant", "required from"})) return i;
  return error;
}

/// Why, where an error leaves that to what follows: why the first function of the name does not fit; what GCC calls incomplete before the end
/// of the struct; a name that `using namespace attune` brings too.
std::string reason_of(const Message& error, std::span<const Message> following) {
  if (has_one_of(error.text, {"used in nested name specifier"})) return ": it has no such member above this line";
  if (has_one_of(error.text, {"' is ambiguous"})) return ": Attune has that name too, and :: before it says the one outside of namespaces";
  if (!has_one_of(error.text, {"no matching ", "no match for ", "invalid operands to "})) return {};
  for (const Message& message : following) {
    if (message.kind == MessageKind::error) return {};
    if (const std::size_t viable = message.text.find("not viable: "); viable != std::string::npos) return ": " + message.text.substr(viable + 12);
    const std::string text = message.text.substr(std::min(message.text.find_first_not_of(' '), message.text.size()));
    if (text.starts_with("no known conversion") || text.starts_with("candidate expects")) return ": " + text;
  }
  return {};
}

/// What the language says of an error of the compiler that would tell of operators and conversions: a graph is built before there are numbers.
std::optional<std::string> said_of_values(std::string_view error) {
  if (has_one_of(error, {"from 'attune::Value' to 'bool'", "'Value' is not contextually convertible to 'bool'"}))
    return "a value has no number while its graph is built; select(condition, a, b) chooses in the kernel";
  if (has_one_of(error, {"-fconstexpr-ops-limit=", "-fconstexpr-loop-limit=", "hit maximum step limit"})) return "building the graph does not end, or takes too many steps";
  return std::nullopt;
}

/// 'SHORT' for "'LONG' {aka 'SHORT'}" of GCC and "'LONG' (aka 'SHORT')" of Clang.
std::string with_short_types(std::string text) {
  for (const std::string_view mark : {"' {aka '", "' (aka '"})
    for (std::size_t at; (at = text.find(mark)) != std::string::npos;) {
      const std::size_t begin = at == 0 ? at : text.rfind('\'', at - 1), end = text.find('\'', at + mark.size());
      if (begin == std::string::npos || end == std::string::npos) return text;
      text = text.substr(0, begin + 1) + text.substr(at + mark.size(), end + 1 - at - mark.size()) + text.substr(std::min(end + 2, text.size()));
    }
  return text;
}

/// The message whose place the user should see: the error's if it is in the header or in the source around it;
/// else the nearest in the header that leads to it, or that it names.
const Message& place_of(std::span<const Message> messages, std::size_t error, const CompiledHeader& compiled) {
  const auto is_there = [&](const Message& m) { return m.file == compiled.header && m.line > 0; };
  if (messages[error].file == compiled.source || is_there(messages[error])) return messages[error];
  for (std::size_t i = error; i-- > 0 && messages[i].kind == MessageKind::context;)
    if (is_there(messages[i])) return messages[i];
  for (std::size_t i = error + 1; i < messages.size(); ++i)
    if (is_there(messages[i]) && messages[i].kind != MessageKind::error) return messages[i];
  return messages[error];
}

/// ", in 'x = y;'": the line of the file without its indentation, at most 120 characters of it.
std::string source_line(const std::string& file, int number) {
  std::ifstream in(file);
  std::string line;
  for (int i = 0; i < number && std::getline(in, line);) ++i;
  if (!in) return {};
  const std::size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  constexpr std::size_t most = 120;
  const std::string text = line.substr(begin, end + 1 - begin);
  return fmt::format(", in '{}{}'", one_line(text.substr(0, most)), text.size() > most ? "..." : "");
}

}  // namespace

CompilerError first_error(const std::string& output, const CompiledHeader& compiled) {
  std::vector<Message> messages;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);)
    if (std::optional<Message> message = parse(line)) messages.push_back(std::move(*message));
  const auto found = std::ranges::find(messages, MessageKind::error, &Message::kind);
  if (found == messages.end()) return {};
  if (const auto sentence = sentence_of_graph(*found, compiled.header)) return {*sentence};
  const std::size_t error = cause_of(messages, static_cast<std::size_t>(found - messages.begin()));
  const std::string said = with_short_types(messages[error].text + reason_of(messages[error], std::span(messages).subspan(error + 1)));
  const std::string text = one_line(said_of_values(said).value_or(said));
  const Message& place = place_of(messages, error, compiled);
  if (place.file == compiled.source || place.line == 0) return {text, place.line};
  const std::string where = place.file == compiled.header ? std::string() : fmt::format("'{}': ", one_line(place.file));
  return {fmt::format("{}line {}: {}{}", where, place.line, text, source_line(place.file, place.line))};
}

}  // namespace attune
