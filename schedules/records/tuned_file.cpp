#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "schedules/records/choice.h"
#include "schedules/records/tuned.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

/// A sentence about what is wrong, on its way to the one place that catches it.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Text of the file in a sentence of one line: control characters are \xHH, and of long text the beginning is said.
std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 80;
  std::string result;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < ' ' || byte == 0x7f;
    if (is_control) result += std::string("\\x") + "0123456789abcdef"[byte >> 4] + "0123456789abcdef"[byte & 15];
    else result += c;
  }
  return text.size() > most ? result + "..." : result;
}

std::string in_quotes(std::string_view text) { return "'" + excerpt(text) + "'"; }

/// The number in nlohmann's "... number overflow parsing '1e309'".
std::string number_in(std::string_view message) {
  const std::size_t begin = message.find('\'') + 1;
  return excerpt(message.substr(begin, message.rfind('\'') - begin));
}

/// The text as JSON; refuses an object that names a field twice, of which JSON readers take the last in silence, and nesting that no such file
/// has: printing a value takes stack for each level of it.
Json parsed(std::string_view text) {
  std::vector<std::set<std::string>> open;
  constexpr int deepest = 16;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > deepest) throw Wrong("is nested deeper than " + std::to_string(deepest) + " levels");
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      throw Wrong("names " + in_quotes(value.get<std::string>()) + " twice in one object");
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    throw Wrong("is not JSON: byte " + std::to_string(error.byte) + " is not what follows there");
  } catch (const Json::out_of_range& error) {
    throw Wrong("has the number " + number_in(error.what()) + "; numbers up to 1.79e308 are possible");
  }
}

using Fields = std::initializer_list<std::string_view>;

void require_fields(const Json& object, const std::string& who, Fields required, Fields optional = {}) {
  if (!object.is_object()) throw Wrong(who + "is not an object");
  std::string all;
  for (const Fields& list : {required, optional})
    for (const std::string_view field : list) all += (all.empty() ? "" : ", ") + std::string(field);
  for (const auto& [name, value] : object.items())
    if (std::ranges::find(required, name) == required.end() && std::ranges::find(optional, name) == optional.end())
      throw Wrong(who + "has the field " + in_quotes(name) + "; fields are " + all);
  for (const std::string_view field : required)
    if (!object.contains(field)) throw Wrong(who + "has no field " + in_quotes(field));
}

std::string text_of(const Json& object, const char* field, const std::string& who) {
  if (!object[field].is_string()) throw Wrong(who + in_quotes(field) + " is " + excerpt(object[field].dump()) + "; it must be text");
  return object[field].get<std::string>();
}

std::int64_t whole(const Json& value, const std::string& name, const std::string& who) {
  if (!value.is_number_integer()) throw Wrong(who + in_quotes(name) + " is " + excerpt(value.dump()) + "; it must be a whole number");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Wrong(who + in_quotes(name) + " is " + value.dump() + "; whole numbers up to " + std::to_string(std::numeric_limits<std::int64_t>::max()) +
                " are possible");
  return value.get<std::int64_t>();
}

double milliseconds(const Json& object, const char* field, const std::string& who) {
  const Json& value = object[field];
  if (!value.is_number() || !(value.get<double>() > 0))
    throw Wrong(who + in_quotes(field) + " is " + excerpt(value.dump()) + "; it must be a number above 0");
  return value.get<double>();
}

const Json& list_of(const Json& root, const char* field) {
  if (!root[field].is_array()) throw Wrong(in_quotes(field) + " is not a list");
  return root[field];
}

const Json& object_of(const Json& object, const char* field, const std::string& who) {
  if (!object[field].is_object()) throw Wrong(who + in_quotes(field) + " is not an object");
  return object[field];
}

/// What defaults and tuned records have in common.
TunedRecord record_of(const Json& json, const std::string& who) {
  TunedRecord record;
  record.schedule = text_of(json, "schedule", who);
  const std::string size = text_of(json, "size", who);
  const auto found = find_size(size);
  if (!found) throw Wrong(who + "'size' is " + in_quotes(size) + "; it is not one of " + size_names());
  record.size = *found;
  for (const auto& [name, value] : object_of(json, "parameters", who).items()) record.parameters.push_back({name, {}, whole(value, name, who)});
  if (json.contains("small_up_to")) record.small_up_to = whole(json["small_up_to"], "small_up_to", who);
  if (json.contains("small_up_to") && record.small_up_to < 1) throw Wrong(who + "'small_up_to' is less than 1");
  return record;
}

int threads_of(const Json& json, const std::string& who) {
  const std::int64_t threads = whole(json["threads"], "threads", who);
  if (threads < 1 || threads > 256) throw Wrong(who + "'threads' is " + std::to_string(threads) + "; it must be from 1 to 256");
  return static_cast<int>(threads);
}

Measured measured_of(const Json& json, std::string who) {
  who += "'measured': ";
  require_fields(json, who, {"shape", "threads", "default_ms", "tuned_ms", "cpu", "version", "date"});
  return {text_of(json, "shape", who), text_of(json, "cpu", who), text_of(json, "version", who), text_of(json, "date", who),
          threads_of(json, who), milliseconds(json, "default_ms", who), milliseconds(json, "tuned_ms", who)};
}

TunedRecord tuned_of(const Json& json, const std::string& who, const TunedFile& file) {
  require_fields(json, who, {"schedule", "size", "stage", "types", "extents", "parameters", "measured"}, {"small_up_to"});
  TunedRecord record = record_of(json, who);
  record.stage = text_of(json, "stage", who);
  if (!file.stages.contains(record.stage)) throw Wrong(who + "stage " + in_quotes(record.stage) + " is not in 'stages'");
  record.types = text_of(json, "types", who);
  for (const auto& [name, value] : object_of(json, "extents", who).items()) {
    const std::int64_t bucket = whole(value, name, who);
    if (bucket != bucket_of(bucket)) throw Wrong(who + "extent " + excerpt(name) + " = " + std::to_string(bucket) + " is not a power of two");
    record.extents.emplace(name, bucket);
  }
  record.measured = measured_of(json["measured"], who);
  return record;
}

void read_stages(const Json& json, TunedFile& file) {
  for (const auto& [name, lines] : json.items()) {
    const std::string who = "stage " + in_quotes(name) + ": ";
    if (!lines.is_array()) throw Wrong(who + "is not a list of lines");
    std::string body;
    for (const Json& line : lines) {
      if (!line.is_string()) throw Wrong(who + "is not a list of lines");
      body += line.get<std::string>() + "\n";
    }
    const std::string expected = stage_name(name.substr(0, name.rfind('-')), body);
    if (name != expected) throw Wrong(who + "its lines are those of " + in_quotes(expected));
    file.stages.emplace(name, std::move(body));
  }
}

TunedFile file_of(const Json& root) {
  require_fields(root, "", {"target", "defaults", "stages", "tuned"}, {"other_defaults"});
  TunedFile file;
  file.target = text_of(root, "target", "");
  if (root.contains("other_defaults")) file.other_defaults = text_of(root, "other_defaults", "");
  int number = 0;
  for (const Json& json : list_of(root, "defaults")) {
    const std::string who = "default record " + std::to_string(++number) + ": ";
    require_fields(json, who, {"schedule", "size", "parameters"}, {"small_up_to"});
    file.defaults.push_back(record_of(json, who));
  }
  read_stages(object_of(root, "stages", ""), file);
  number = 0;
  for (const Json& json : list_of(root, "tuned")) file.tuned.push_back(tuned_of(json, "tuned record " + std::to_string(++number) + ": ", file));
  return file;
}

/// What is wrong with a record's schedule and values on the machine.
std::string problem_of(const TunedRecord& record, const Machine& machine) {
  const std::vector<ScheduleInfo> all = all_schedules();
  const auto info = std::ranges::find_if(all, [&](const ScheduleInfo& s) { return s.name == record.schedule && s.is_for(machine); });
  if (info == all.end()) return "schedule " + in_quotes(record.schedule) + ": does not exist for target " + in_quotes(machine.name);
  const std::vector<Parameter> declared = info->parameters(machine, record.size);
  if (std::string problem = parameter_problem(info->name, declared, record.parameters); !problem.empty()) return problem;
  for (const Parameter& p : declared)
    if (std::ranges::find(record.parameters, p.name, &Parameter::name) == record.parameters.end())
      return "schedule " + in_quotes(record.schedule) + ": parameter '" + p.name + "' is missing";
  if (info->problem != nullptr)
    if (std::string problem = info->problem(machine, record.parameters); !problem.empty()) return problem;
  const bool is_limited = std::ranges::find(info->limited, record.size) != info->limited.end();
  if (is_limited == (record.small_up_to > 0)) return {};
  return "schedule " + in_quotes(record.schedule) + ": 'small_up_to' " + (is_limited ? "is missing" : "means nothing for this schedule and size");
}

auto key_of(const TunedRecord& r) { return std::tie(r.schedule, r.stage, r.types, r.extents, r.size); }

std::string problem_in(const std::vector<TunedRecord>& records, const std::string& who, const Machine& machine) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string record = who + std::to_string(i + 1) + ": ";
    if (std::string problem = problem_of(records[i], machine); !problem.empty()) return record + problem;
    for (std::size_t j = 0; j < i; ++j)
      if (key_of(records[i]) == key_of(records[j])) return record + "is for the same as record " + std::to_string(j + 1);
  }
  return {};
}

}  // namespace

TunedFileAnswer parse_tuned(std::string_view text, std::string_view name) {
  try {
    TunedFileAnswer answer{file_of(parsed(text)), {}};
    answer.file.name = name;
    return answer;
  } catch (const Wrong& wrong) {
    return {{}, "tuned file " + in_quotes(name) + ": " + wrong.what()};
  }
}

std::string tuned_problem(const TunedFile& file, const Machine& machine) {
  const std::string who = "tuned file " + in_quotes(file.name) + ": ";
  if (!file.other_defaults.empty()) {
    const TunedFile* others = built_in_tuned(file.other_defaults);
    if (others == nullptr) return who + "'other_defaults' is " + in_quotes(file.other_defaults) + ", which is no target";
    if (!others->other_defaults.empty())
      return who + "'other_defaults' is " + in_quotes(file.other_defaults) + ", whose own are those of " + in_quotes(others->other_defaults) +
             "; name that";
  }
  if (std::string problem = problem_in(file.defaults, who + "default record ", machine); !problem.empty()) return problem;
  return problem_in(file.tuned, who + "tuned record ", machine);
}

namespace {

/// Where it belongs, in place of one for the same.
void put(std::vector<TunedRecord>& records, TunedRecord record) {
  std::erase_if(records, [&](const TunedRecord& other) { return key_of(other) == key_of(record); });
  const auto place = std::ranges::find_if(records, [&](const TunedRecord& other) { return key_of(record) < key_of(other); });
  records.insert(place, std::move(record));
}

}  // namespace

void insert(TunedFile& file, TunedRecord record, const std::string& body) {
  file.stages[record.stage] = body;
  put(file.tuned, std::move(record));
}

void insert_default(TunedFile& file, TunedRecord record) {
  put(file.defaults, {std::move(record.schedule), record.size, {}, {}, {}, std::move(record.parameters), record.small_up_to, {}});
}

}  // namespace attune
