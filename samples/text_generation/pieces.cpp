#define PCRE2_CODE_UNIT_WIDTH 8  // the library's header asks for it
#include "samples/text_generation/pieces.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <cstdlib>

namespace text_generation {
namespace {

std::string message_of(int problem) {
  std::array<char, 256> text{};
  pcre2_get_error_message(problem, reinterpret_cast<PCRE2_UCHAR*>(text.data()), text.size());
  return text.data();
}

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

void Pattern::Free::operator()(void* code) const { pcre2_code_free(static_cast<pcre2_code*>(code)); }

Pattern::Pattern(std::string_view expression) {
  int problem = 0;
  PCRE2_SIZE place = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), PCRE2_UTF | PCRE2_UCP, &problem, &place, nullptr));
  if (code_) return;
  fmt::print(stderr, "internal: pattern '{}': {} at character {}\n", expression, message_of(problem), place);
  std::abort();
}

Result<std::vector<std::string_view>> Pattern::cut(std::string_view text) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create_from_pattern(code, nullptr));
  std::vector<std::string_view> parts;
  std::size_t done = 0;
  while (done < text.size()) {
    // the whole text is checked by the first match; the later ones begin where a character ends
    const std::uint32_t options = PCRE2_NOTEMPTY | (done > 0 ? PCRE2_NO_UTF_CHECK : 0u);
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), done, options, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) return Error{fmt::format("byte {} is not UTF-8 there: {}", pcre2_get_startchar(match.get()), message_of(found))};
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
    if (ends[0] > done) parts.push_back(text.substr(done, ends[0] - done));
    parts.push_back(text.substr(ends[0], ends[1] - ends[0]));
    done = ends[1];
  }
  if (done < text.size()) parts.push_back(text.substr(done));
  return parts;
}

Result<std::vector<std::string_view>> Pieces::of(std::string_view text) const {
  const auto stretches = digit_.cut(text);
  if (!stretches) return stretches.error();
  std::vector<std::string_view> pieces;
  for (const std::string_view stretch : *stretches) {
    const auto cut = gpt2_.cut(stretch);  // of a digit alone: itself
    if (!cut) return cut.error();
    pieces.insert(pieces.end(), cut->begin(), cut->end());
  }
  return pieces;
}

}  // namespace text_generation
