#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "schedules/records/tuned.h"

namespace attune {
namespace {

std::string text_of(std::string_view text) { return nlohmann::json(text).dump(); }

/// Four significant digits: what a measurement is good for.
std::string number_text(double number) {
  std::ostringstream stream;
  stream.precision(4);
  stream << number;
  return stream.str();
}

std::string extents_text(const std::map<std::string, std::int64_t>& extents) {
  std::string text;
  for (const auto& [name, value] : extents) text += (text.empty() ? "" : ", ") + text_of(name) + ": " + std::to_string(value);
  return "{" + text + "}";
}

/// In the order of the schedule's declaration, as people think of them.
std::string parameters_text(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters) text += (text.empty() ? "" : ", ") + text_of(p.name) + ": " + std::to_string(p.value);
  return "{" + text + "}";
}

std::string measured_text(const Measured& m) {
  return "{\"shape\": " + text_of(m.shape) + ", \"threads\": " + std::to_string(m.threads) + ", \"default_ms\": " + number_text(m.default_ms) +
         ", \"tuned_ms\": " + number_text(m.tuned_ms) + ",\n                   \"cpu\": " + text_of(m.cpu) + ", \"version\": " + text_of(m.version) +
         ", \"date\": " + text_of(m.date) + "}";
}

std::string record_text(const TunedRecord& record, bool is_default) {
  std::string text = "    {\n";
  const auto field = [&](const char* name, const std::string& value) {
    text += (text.back() == '\n' ? "      \"" : ",\n      \"") + std::string(name) + "\": " + value;
  };
  field("schedule", text_of(record.schedule));
  field("size", "\"" + std::string(name_of(record.size)) + "\"");
  if (!is_default) {
    field("stage", text_of(record.stage));
    field("types", text_of(record.types));
    field("extents", extents_text(record.extents));
  }
  field("parameters", parameters_text(record.parameters));
  if (record.small_up_to > 0) field("small_up_to", std::to_string(record.small_up_to));
  if (!is_default) field("measured", measured_text(record.measured));
  return text + "\n    }";
}

std::string list_text(std::vector<TunedRecord> records, bool is_default) {
  if (records.empty()) return "[]";
  std::ranges::sort(records, {}, [](const TunedRecord& r) { return std::tie(r.schedule, r.stage, r.types, r.extents, r.size); });
  std::string text;
  for (const TunedRecord& record : records) text += (text.empty() ? "[\n" : ",\n") + record_text(record, is_default);
  return text + "\n  ]";
}

std::string stages_text(const std::map<std::string, std::string>& stages) {
  if (stages.empty()) return "{}";
  std::string text;
  for (const auto& [name, body] : stages) {
    text += (text.empty() ? "{\n    " : ",\n    ") + text_of(name) + ": [";
    std::istringstream lines(body);
    bool is_first = true;
    for (std::string line; std::getline(lines, line); is_first = false) text += (is_first ? "\n      " : ",\n      ") + text_of(line);
    text += "\n    ]";
  }
  return text + "\n  }";
}

}  // namespace

std::string tuned_text(const TunedFile& file) {
  const std::string others = file.other_defaults.empty() ? "" : ",\n  \"other_defaults\": " + text_of(file.other_defaults);
  return "{\n  \"target\": " + text_of(file.target) + others + ",\n  \"defaults\": " + list_text(file.defaults, true) + ",\n  \"stages\": " +
         stages_text(file.stages) + ",\n  \"tuned\": " + list_text(file.tuned, false) + "\n}\n";
}

}  // namespace attune
