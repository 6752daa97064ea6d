#include "schedules/records/choice.h"

#include <charconv>

namespace attune {
namespace {

/// "d3=64, d4=?": the buckets that a record was made for, where they are not the key's.
std::string difference_text(const TunedRecord& record, const StageKey& key) {
  std::string text;
  for (const auto& [name, bucket] : key.extents) {
    const auto known = record.extents.find(name);
    if (known != record.extents.end() && known->second == bucket) continue;
    text += (text.empty() ? "" : ", ") + name + "=" + (known == record.extents.end() ? "any" : std::to_string(known->second));
  }
  return text;
}

/// Those for the target: the user's, then its own.
std::vector<const TunedFile*> files_for(const Machine& machine, const ScheduleChoice& choice) {
  std::vector<const TunedFile*> files;
  for (const TunedFile& file : choice.tuned)
    if (file.target == machine.name) files.push_back(&file);
  if (const TunedFile* built_in = built_in_tuned(machine.name); built_in != nullptr) files.push_back(built_in);
  return files;
}

}  // namespace

std::vector<ExtentLimit> limits_of_few(const std::string& queries, const std::string& keys, std::int64_t small_up_to) {
  // Below as many keys online_softmax's tiles for small calls are faster than the merge of splits: 0.9 us against 1.9 us for one key.
  constexpr std::int64_t many_keys = 65;
  return {{queries, 0, small_up_to}, {keys, many_keys}};
}

std::optional<int> octaves_to_record(std::string_view schedule, const Machine& machine, SizeClass size, const StageKey& key,
                                     const ScheduleChoice& choice) {
  const TunedMatch match = nearest_record(files_for(machine, choice), schedule, size, key);
  return match.record == nullptr ? std::nullopt : std::optional(match.distance);
}

std::vector<TunedRecord> default_records(const Machine& machine, const ScheduleChoice& choice) {
  const std::vector<const TunedFile*> files = files_for(machine, choice);
  TunedFile all;
  for (const ScheduleInfo& schedule : all_schedules())
    for (const SizeClass size : size_classes) {
      const TunedRecord* record = default_record(files, schedule.name, size).record;
      if (record != nullptr && record->size == size) insert_default(all, *record);
    }
  return std::move(all.defaults);
}

std::string values_problem(const ScheduleInfo& schedule, const Machine& machine, const std::vector<Parameter>& others, const std::vector<Parameter>& given) {
  if (std::string problem = parameter_problem(schedule.name, others, given); !problem.empty() || schedule.problem == nullptr) return problem;
  return schedule.problem(machine, with_values(others, given));
}

ParameterAnswer choose_parameters(const ScheduleInfo& schedule, const Machine& machine, SizeClass size, const StageKey& key,
                                  const ScheduleChoice& choice) {
  const std::vector<const TunedFile*> files = files_for(machine, choice);
  if (built_in_tuned(machine.name) == nullptr) return {{}, 0, {}, {}, "internal: target '" + machine.name + "': has no file in schedules/tuned/"};
  const bool is_named = schedule.name == choice.name && size == choice.size;
  TunedMatch match = is_named ? TunedMatch{} : nearest_record(files, schedule.name, size, key);
  ParameterAnswer answer;
  if (match.record != nullptr) answer.origin = match.distance == 0 ? "tuned: exact" : "tuned: nearest bucket " + difference_text(*match.record, key);
  else match = default_record(files, schedule.name, size), answer.origin = "default";
  const std::vector<Parameter> declared = schedule.parameters(machine, size);
  answer.file = match.file->name;
  answer.small_up_to = match.record->small_up_to;
  answer.parameters = with_values(declared, match.record->parameters);
  if (!is_named) return answer;
  answer.origin = "command line";
  answer.problem = values_problem(schedule, machine, answer.parameters, choice.values);
  if (answer.problem.empty()) answer.parameters = with_values(std::move(answer.parameters), choice.values);
  return answer;
}

ScheduleChoiceAnswer parse_schedule_choice(std::string_view text) {
  ScheduleChoiceAnswer answer;
  const auto next = [&text] {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    return part;
  };
  answer.choice.name = next();
  std::string names;
  bool is_known = false;
  for (const ScheduleInfo& info : all_schedules()) {
    is_known |= info.name == answer.choice.name;
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  if (!is_known) return {{}, "schedule '" + answer.choice.name + "': does not exist; there are " + names};
  while (!text.empty()) {
    const std::string_view part = next();
    const std::size_t equals = part.find('=');
    Parameter parameter{std::string(part.substr(0, equals)), {}, 0};
    const std::string_view number = equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
    if (const auto size = find_size(number); size && parameter.name == "size") {
      answer.choice.size = *size;
      continue;
    }
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), parameter.value);
    if (error != std::errc{} || end != number.data() + number.size() || number.empty())
      return {{}, "schedule '" + answer.choice.name + "': '" + std::string(part) + "' is not name=number"};
    answer.choice.values.push_back(std::move(parameter));
  }
  return answer;
}

}  // namespace attune
