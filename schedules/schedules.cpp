#include "schedules/schedules.h"

#include <array>
#include <charconv>

#include "schedules/gemm.h"
#include "schedules/gpu.h"
#include "schedules/online_softmax.h"
#include "schedules/pointwise.h"
#include "schedules/row_softmax.h"
#include "schedules/split_keys.h"
#include "schedules/whole_rows.h"

namespace attune {
namespace {

/// Below as many keys online_softmax's tiles for small calls are faster than the merge of splits: 0.9 us against 1.9 us for one key.
constexpr std::int64_t many_keys = 65;

std::vector<ExtentLimit> queries_up_to(const OnlineSoftmax& body, std::int64_t small_up_to) { return {{body.queries, 0, small_up_to}}; }
std::vector<ExtentLimit> few_queries_of_many_keys(const OnlineSoftmax& body, std::int64_t small_up_to) {
  return {{body.queries, 0, small_up_to}, {body.keys, many_keys}};
}
std::vector<ExtentLimit> queries_and_keys_up_to(const OnlineSoftmax& body, std::int64_t small_up_to) {
  return {{body.queries, 0, small_up_to}, {body.keys, 0, small_up_to}};
}
/// One limit for all row dims together is not needed: the tiles of small calls are right for any extents, only slower.
std::vector<ExtentLimit> rows_up_to(const Gemm& body, std::int64_t small_up_to) {
  std::vector<ExtentLimit> limits;
  for (const std::string& dim : body.rows) limits.push_back({dim, 0, small_up_to});
  return limits;
}

constexpr std::array online_softmax_schedules = {
    Schedule<OnlineSoftmax>{"online_softmax", false, online_softmax_parameters, online_softmax_problem, online_softmax, queries_up_to},
    Schedule<OnlineSoftmax>{"split_keys", false, split_keys_parameters, split_keys_problem, split_keys, few_queries_of_many_keys, SizeClass::few},
    Schedule<OnlineSoftmax>{"whole_rows", false, whole_rows_parameters, nullptr, whole_rows, queries_and_keys_up_to, SizeClass::tiny},
    Schedule<OnlineSoftmax>{"gpu_unfused_softmax", true, gpu_unfused_softmax_parameters, nullptr, gpu_unfused_softmax, nullptr},
};
constexpr std::array gemm_schedules = {
    Schedule<Gemm>{"gemm", false, gemm_parameters, nullptr, gemm, rows_up_to},
    Schedule<Gemm>{"gpu_gemm", true, gpu_gemm_parameters, nullptr, gpu_gemm, nullptr},
};
constexpr std::array row_softmax_schedules = {
    Schedule<RowSoftmax>{"row_softmax", false, row_softmax_parameters, nullptr, row_softmax, nullptr},
    Schedule<RowSoftmax>{"gpu_row_softmax", true, gpu_row_softmax_parameters, nullptr, gpu_row_softmax, nullptr},
};
constexpr std::array pointwise_schedules = {
    Schedule<Pointwise>{"pointwise", false, pointwise_parameters, nullptr, pointwise, nullptr},
    Schedule<Pointwise>{"gpu_pointwise", true, gpu_pointwise_parameters, nullptr, gpu_pointwise, nullptr},
};

template <class Body>
void append(std::string_view stage, std::vector<ScheduleInfo>& all) {
  for (const Schedule<Body>& s : schedules<Body>()) all.push_back(info_of(s, stage));
}

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

}  // namespace

template <>
std::span<const Schedule<OnlineSoftmax>> schedules() { return online_softmax_schedules; }
template <>
std::span<const Schedule<Gemm>> schedules() { return gemm_schedules; }
template <>
std::span<const Schedule<RowSoftmax>> schedules() { return row_softmax_schedules; }
template <>
std::span<const Schedule<Pointwise>> schedules() { return pointwise_schedules; }

std::vector<ScheduleInfo> all_schedules() {
  std::vector<ScheduleInfo> all;
  append<OnlineSoftmax>("online_softmax", all);
  append<Gemm>("gemm", all);
  append<RowSoftmax>("row_softmax", all);
  append<Pointwise>("pointwise", all);
  return all;
}

ParameterAnswer choose_parameters(const ScheduleInfo& schedule, const Machine& machine, SizeClass size, const StageKey& key,
                                  const ScheduleChoice& choice) {
  std::vector<const TunedFile*> files;
  for (const TunedFile& file : choice.tuned)
    if (file.target == machine.name) files.push_back(&file);
  const TunedFile* built_in = built_in_tuned(machine.name);
  if (built_in == nullptr) return {{}, 0, {}, {}, "internal: target '" + machine.name + "': has no file in schedules/tuned/"};
  files.push_back(built_in);
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
  answer.problem = parameter_problem(schedule.name, declared, choice.values);
  if (!answer.problem.empty()) return answer;
  answer.parameters = with_values(std::move(answer.parameters), choice.values);
  if (schedule.problem != nullptr) answer.problem = schedule.problem(machine, answer.parameters);
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
