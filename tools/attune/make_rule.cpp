#include "tools/attune/make_rule.h"

namespace attune {
namespace {

std::string escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '#' || c == '\\') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

}  // namespace

std::vector<std::string> files_of_rule(std::string_view rule) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) words.back() += rule[++i];
    else if (c == '$' && next == '$') words.back() += rule[++i];
    else if (c == ' ' || c == '\n' || (c == '\\' && next == '\n')) words.emplace_back();
    else words.back() += c;
  }
  std::vector<std::string> files;
  bool is_behind_target = false;
  for (std::string& word : words) {
    if (word.empty()) continue;
    if (is_behind_target) files.push_back(std::move(word));
    else is_behind_target = word.ends_with(':');
  }
  return files;
}

std::string rule_of(std::string_view target, const std::vector<std::string>& files) {
  std::string rule = escaped(target) + ":";
  for (const std::string& file : files) rule += " \\\n  " + escaped(file);
  return rule + "\n";
}

}  // namespace attune
