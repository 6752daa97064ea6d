#include "samples/text_generation/tokenizer.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <set>

namespace text_generation {
namespace {

constexpr std::int64_t control_type = 3, user_defined_type = 4;

std::uint64_t pair_of(Token left, Token right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
}

/// GPT-2's alphabet, in which vocabularies write bytes: a printable character stands for itself, those from U+0100 on for the others in their order.
class Alphabet {
 public:
  Alphabet() {
    Character next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      bytes_.emplace(is_printable ? byte : next++, static_cast<char>(byte));
    }
  }
  /// The bytes that the text stands for, or nothing where a character is not of the alphabet.
  std::optional<std::string> bytes_of(std::string_view text) const {
    std::string bytes;
    while (!text.empty()) {
      Character character = 0;
      const auto* bytes_left = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
      const auto size = utf8proc_iterate(bytes_left, static_cast<utf8proc_ssize_t>(text.size()), &character);
      const auto found = size > 0 ? bytes_.find(character) : bytes_.end();
      if (found == bytes_.end()) return std::nullopt;
      bytes += found->second;
      text.remove_prefix(static_cast<std::size_t>(size));
    }
    return bytes;
  }

 private:
  using Character = utf8proc_int32_t;
  std::unordered_map<Character, char> bytes_;
};

}  // namespace

Result<Tokenizer> Tokenizer::of(const Gguf& file) {
  for (const auto& [name, expected] : {std::pair("tokenizer.ggml.model", "gpt2"), std::pair("tokenizer.ggml.pre", "smollm")}) {
    const auto found = file.value<std::string>(name);
    if (!found) return found.error();
    if (*found != expected) return Error{fmt::format("tokenizer: {} is {:?}; '{}' is known", name, *found, expected)};
  }
  const auto tokens = file.value<std::vector<std::string>>("tokenizer.ggml.tokens");
  const auto types = file.value<std::vector<std::int64_t>>("tokenizer.ggml.token_type");
  const auto merges = file.value<std::vector<std::string>>("tokenizer.ggml.merges");
  if (!tokens) return tokens.error();
  if (!types) return types.error();
  if (!merges) return merges.error();
  Tokenizer result;
  if (const auto read = result.read_tokens(*tokens, *types); !read) return read.error();
  if (const auto read = result.read_merges(*merges); !read) return read.error();
  return result;
}

Result<void> Tokenizer::read_tokens(const std::vector<std::string>& tokens, const std::vector<std::int64_t>& types) {
  if (types.size() != tokens.size()) return Error{fmt::format("tokenizer: has {} tokens and {} types of tokens", tokens.size(), types.size())};
  if (tokens.size() > 1u << 30) return Error{fmt::format("tokenizer: has {} tokens; at most 2^30 are possible", tokens.size())};
  const Alphabet alphabet;
  std::set<std::string_view> specials;
  of_byte_.fill(none);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_special = types[i] == control_type || types[i] == user_defined_type;
    auto text = is_special ? std::optional(tokens[i]) : alphabet.bytes_of(tokens[i]);
    if (!text || text->empty()) return Error{fmt::format("tokenizer: token {} is {:?}, which is not written in GPT-2's alphabet of bytes", i, tokens[i])};
    const auto id = static_cast<Token>(i);
    if (is_special && !specials.emplace(tokens[i]).second) return Error{fmt::format("tokenizer: token {} is {:?}, which an earlier one is", i, tokens[i])};
    if (is_special) special_.push_back(id);
    longest_ = std::max(longest_, text->size());
    if (!is_special && text->size() == 1) of_byte_[static_cast<unsigned char>((*text)[0])] = id;
    texts_.push_back(std::move(*text));
    is_special_.push_back(is_special);
  }
  std::ranges::stable_sort(special_, [&](Token a, Token b) { return bytes_of(a).size() > bytes_of(b).size(); });
  return {};
}

Result<void> Tokenizer::read_merges(const std::vector<std::string>& merges) {
  std::unordered_map<std::string_view, Token> ids;
  for (std::size_t i = 0; i < texts_.size(); ++i)
    if (!is_special_[i] && !ids.emplace(texts_[i], static_cast<Token>(i)).second)
      return Error{fmt::format("tokenizer: token {} has the bytes of token {}", i, ids.at(texts_[i]))};
  const Alphabet alphabet;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string& merge = merges[rank];
    const std::size_t space = merge.find(' ');
    const auto left = alphabet.bytes_of(merge.substr(0, space));
    const auto right = alphabet.bytes_of(space == std::string::npos ? "" : merge.substr(space + 1));
    const auto found = [&](const std::optional<std::string>& text) { return text ? ids.find(*text) : ids.end(); };
    const auto a = found(left), b = found(right), whole = found(left && right ? std::optional(*left + *right) : std::nullopt);
    if (a == ids.end() || b == ids.end() || whole == ids.end())
      return Error{fmt::format("tokenizer: merge {} is {:?}; it must be two tokens that make a third", rank, merge)};
    merges_.try_emplace(pair_of(a->second, b->second), Merge{static_cast<std::int32_t>(rank), whole->second});
  }
  return {};
}

const Tokenizer::Merge* Tokenizer::merge_of(Token left, Token right) const {
  const auto found = merges_.find(pair_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

/// The symbols are a list linked both ways; a queue holds the merges that neighbours had when they became neighbours, of which some are outdated.
void Tokenizer::append_piece(std::vector<Token>& tokens, std::string_view piece) const {
  struct Symbol {
    Token token;
    std::ptrdiff_t before, after;
  };
  struct Candidate {
    std::int32_t rank;
    std::ptrdiff_t left;
    Token first, second, whole;
    bool operator<(const Candidate& other) const { return std::pair(rank, left) > std::pair(other.rank, other.left); }  // the least on top
  };
  std::vector<Symbol> symbols;
  for (const char byte : piece) {
    const auto place = std::ssize(symbols);
    symbols.push_back({of_byte_[static_cast<unsigned char>(byte)], place - 1, place + 1 < std::ssize(piece) ? place + 1 : -1});
  }
  const auto at = [&](std::ptrdiff_t place) -> Symbol& { return symbols[static_cast<std::size_t>(place)]; };
  std::priority_queue<Candidate> candidates;
  const auto consider = [&](std::ptrdiff_t left) {
    if (left < 0 || at(left).after < 0) return;
    const Token first = at(left).token, second = at(at(left).after).token;
    if (const Merge* merge = merge_of(first, second)) candidates.push({merge->rank, left, first, second, merge->whole});
  };
  for (std::ptrdiff_t i = 0; i + 1 < std::ssize(symbols); ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate next = candidates.top();
    candidates.pop();
    Symbol& left = at(next.left);
    if (left.token != next.first || left.after < 0 || at(left.after).token != next.second) continue;
    Symbol& right = at(left.after);
    left = {next.whole, left.before, right.after};
    right.token = none;
    if (left.after >= 0) at(left.after).before = next.left;
    consider(left.before);
    consider(next.left);
  }
  for (std::ptrdiff_t i = 0; i >= 0; i = at(i).after)
    if (at(i).token != none) tokens.push_back(at(i).token);
}

Result<void> Tokenizer::append_plain(std::vector<Token>& tokens, std::string_view text) const {
  const auto pieces = pieces_.of(text);
  if (!pieces) return pieces.error();
  for (const std::string_view piece : *pieces) append_piece(tokens, piece);
  return {};
}

Result<void> Tokenizer::check(std::string_view text) const {
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t character = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const auto size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &character);
    if (size < 0) return Error{fmt::format("byte {} is not UTF-8 there", at)};
    at += static_cast<std::size_t>(size);
  }
  return {};
}

Result<std::vector<Token>> Tokenizer::tokens_of(std::string_view text) const {
  if (auto checked = check(text); !checked) return checked.error();
  std::vector<Token> tokens;
  std::size_t plain = 0;  // where the text begins that is not tokenized
  for (std::size_t i = 0; i < text.size();) {
    const auto special = std::ranges::find_if(special_, [&](Token token) { return text.substr(i).starts_with(bytes_of(token)); });
    if (special == special_.end()) {
      ++i;
      continue;
    }
    if (auto appended = append_plain(tokens, text.substr(plain, i - plain)); !appended) return appended.error();
    tokens.push_back(*special);
    plain = i += bytes_of(*special).size();
  }
  if (auto appended = append_plain(tokens, text.substr(plain)); !appended) return appended.error();
  return tokens;
}

}  // namespace text_generation
