#include <algorithm>
#include <array>
#include <map>

#include "tools/onnx/operands.h"

namespace attune {
namespace {

/// The letters of an equation "ab,bc->ac": of both operands and of the result, spaces left out. Axes that "..." stands for are digits, the last one 0;
/// without an arrow the result has these and then, in the alphabet's order, the letters that stand once.
std::optional<std::array<std::string, 3>> letters_of(const OnnxOperation& operation, std::size_t rank_of_a, std::size_t rank_of_b) {
  std::string equation = text_of(operation, "equation");
  std::erase(equation, ' ');
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == std::string::npos || (arrow != std::string::npos && comma > arrow)) return {};
  std::array letters{equation.substr(0, comma), equation.substr(comma + 1, arrow == std::string::npos ? arrow : arrow - comma - 1),
                     arrow == std::string::npos ? std::string() : equation.substr(arrow + 2)};
  constexpr std::string_view dots = "...";
  std::size_t most = 0;  // axes that dots stand for
  const auto replace = [&](std::string& text, std::size_t count) {
    const std::size_t place = text.find(dots);
    if (place == std::string::npos) return true;
    std::string digits;
    for (std::size_t i = count; i-- > 0;) digits += static_cast<char>('0' + i);
    text.replace(place, dots.size(), digits);
    return text.find('.') == std::string::npos;
  };
  for (const auto& [text, rank] : {std::pair{&letters[0], rank_of_a}, {&letters[1], rank_of_b}}) {
    if (text->find(dots) == std::string::npos) continue;
    const std::size_t named = text->size() - dots.size();
    if (rank < named || rank - named > 8) return {};
    most = std::max(most, rank - named);
    if (!replace(*text, rank - named)) return {};
  }
  if (arrow == std::string::npos) {
    const std::string both = letters[0] + letters[1];
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::ranges::count(both, c) == 1) letters[2] += c;
    letters[2] = std::string(dots) + letters[2];
  }
  if (!replace(letters[2], most) || (letters[0] + letters[1]).find('.') != std::string::npos) return {};
  return letters;
}

/// Whether no operand has a letter twice.
bool has_each_once(std::string letters) {
  std::ranges::sort(letters);
  return std::ranges::adjacent_find(letters) == letters.end();
}

/// The product of two tensors whose axes have letters, summed over those that the result lacks.
Term einsum_of(Translator& t, const OnnxOperation& operation, Given given, std::int64_t) {
  const auto letters = letters_of(operation, given[0]->axes.size(), given[1]->axes.size());
  if (!letters) return no_term(t, "has the equation '" + text_of(operation, "equation") + "'; one of two operands is right, each with letters and dots once");
  const auto& [of_a, of_b, of_result] = *letters;
  Term a = *given[0], b = *given[1], result;
  if (a.axes.size() != of_a.size() || b.axes.size() != of_b.size()) return no_term(t, "has other letters than its operands have axes");
  if (!has_each_once(of_a) || !has_each_once(of_b))
    return no_term(t, "has the equation '" + text_of(operation, "equation") + "'; one whose operands have each letter once is right");
  const Axis dims_of_a = t.axes.dims(a.axes);
  std::map<char, Axis> axes;
  Axis summed;
  for (std::size_t i = 0; i < of_a.size(); ++i) axes[of_a[i]] = a.axes[i];
  for (std::size_t i = 0; i < of_b.size(); ++i) {
    const auto same = axes.find(of_b[i]);
    const Axis other = same == axes.end() ? Axis{} : t.axes.dims(same->second);
    const Axis dims = t.axes.dims(b.axes[i]);
    t.rename_if(std::ranges::any_of(dims, [&](int dim) { return std::ranges::count(dims_of_a, dim) != 0 && std::ranges::count(other, dim) == 0; }), b,
                b.axes[i]);
    if (same == axes.end()) axes[of_b[i]] = b.axes[i];
    else if (!t.axes.unify(same->second, b.axes[i])) return no_term(t, std::string("has axes of different extents for the letter ") + of_b[i]);
    if (of_result.find(of_b[i]) != std::string::npos) continue;
    if (same == axes.end()) return no_term(t, std::string("sums over ") + of_b[i] + ", which one operand has alone");
    summed.insert(summed.end(), b.axes[i].begin(), b.axes[i].end());
  }
  for (const char letter : of_a)
    if (of_b.find(letter) == std::string::npos && of_result.find(letter) == std::string::npos)
      return no_term(t, std::string("sums over ") + letter + ", which one operand has alone");
  for (const char letter : of_result) {
    if (!axes.contains(letter)) return no_term(t, std::string("has no axis for the letter ") + letter);
    result.axes.push_back(axes[letter]);
  }
  if (!t.emits()) t.summed.push_back(summed);
  if (t.emits() && t.problem().empty()) result.value = product_over(t, a, b, summed);
  return result;
}

constexpr TermRule rules_of_einsum[] = {{"Einsum", 2, 2, einsum_of}};

}  // namespace

std::span<const TermRule> einsum_rules() { return rules_of_einsum; }

}  // namespace attune
