#include "samples/sentence_similarity/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "samples/sentence_similarity/words.h"

namespace sentence_similarity {
namespace {

using attune::Result;

constexpr std::size_t number_columns = 7;  // "-0.0357" and a blank before it stand in 8

/// The text with blanks after it (or before it) up to `columns` of a terminal.
std::string padded(const std::string& text, std::size_t columns, bool is_right_aligned = false) {
  const std::string blanks(columns - std::min(columns, columns_of(text)), ' ');
  return is_right_aligned ? blanks + text : text + blanks;
}

std::size_t widest_of(const std::vector<std::string>& texts) {
  std::size_t columns = 0;
  for (const std::string& text : texts) columns = std::max(columns, columns_of(text));
  return columns;
}

/// The text cut to `columns`, with dots at its end if something is missing.
std::string shortened(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  std::string result;
  while (columns_of(result) + 3 < columns) {
    const std::size_t bytes = character_bytes(text);
    result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result + "...";
}

}  // namespace

std::string similarity_table(const std::vector<std::string>& sentences, std::span<const float> embeddings) {
  constexpr std::size_t longest_label = 64;
  std::vector<std::string> labels;
  for (std::size_t b = 0; b < sentences.size(); ++b)
    labels.push_back(fmt::format("{:>2}  {}", b + 1, shortened(sentences[b], longest_label)));
  const std::size_t label_columns = widest_of(labels);
  std::string table(label_columns, ' ');
  for (std::size_t b = 0; b < sentences.size(); ++b) table += fmt::format(" {:>{}}", b + 1, number_columns);
  table += '\n';
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    table += padded(labels[b], label_columns);
    for (std::size_t c = 0; c < sentences.size(); ++c) {
      double product = 0;
      for (std::size_t m = 0; m < at(Sizes::model); ++m)
        product += static_cast<double>(embeddings[b * at(Sizes::model) + m]) * static_cast<double>(embeddings[c * at(Sizes::model) + m]);
      table += fmt::format(" {:{}.4f}", product, number_columns);
    }
    table += '\n';
  }
  return table;
}

std::string weights_table(const std::vector<std::string>& tokens, std::span<const float> weights) {
  constexpr std::size_t weight_columns = 5;  // "0.123"
  const std::size_t label_columns = widest_of(tokens);
  std::string table(label_columns, ' ');
  for (const std::string& token : tokens) table += ' ' + padded(token, weight_columns, true);
  table += '\n';
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    table += padded(tokens[i], label_columns);
    for (std::size_t j = 0; j < tokens.size(); ++j)
      table += fmt::format(" {:{}.3f}", weights[i * tokens.size() + j], std::max(weight_columns, columns_of(tokens[j])));
    table += '\n';
  }
  return table;
}

double largest_difference(std::span<const float> values, std::span<const double> expected) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(values[i]) - expected[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, difference);
  }
  return largest;
}

Result<double> milliseconds_per_batch(Implementation& implementation, const Batch& batch, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> milliseconds;
  const auto begin = Clock::now();
  while (milliseconds.size() < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    const auto start = Clock::now();
    if (const auto encoding = encode(implementation, batch); !encoding) return encoding.error();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  const auto middle = milliseconds.begin() + static_cast<std::ptrdiff_t>(milliseconds.size() / 2);
  std::nth_element(milliseconds.begin(), middle, milliseconds.end());
  return *middle;
}

}  // namespace sentence_similarity
