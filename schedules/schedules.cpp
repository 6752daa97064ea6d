#include "schedules/schedules.h"

#include <array>
#include <charconv>

#include "schedules/gemm.h"
#include "schedules/gpu.h"
#include "schedules/online_softmax.h"
#include "schedules/pointwise.h"
#include "schedules/row_softmax.h"

namespace attune {
namespace {

/// One limit for all row dims together is not needed: the tiles of small calls are right for any extents, only slower.
constexpr std::int64_t few_rows = 16;

std::vector<ExtentLimit> few_queries(const OnlineSoftmax& body) { return {{body.queries, few_rows}}; }
std::vector<ExtentLimit> few_gemm_rows(const Gemm& body) {
  std::vector<ExtentLimit> limits;
  for (const std::string& dim : body.rows) limits.push_back({dim, few_rows});
  return limits;
}

constexpr std::array online_softmax_schedules = {
    Schedule<OnlineSoftmax>{"online_softmax", false, online_softmax_parameters, online_softmax_problem, online_softmax, few_queries},
    Schedule<OnlineSoftmax>{"gpu_unfused_softmax", true, gpu_unfused_softmax_parameters, nullptr, gpu_unfused_softmax, nullptr},
};
constexpr std::array gemm_schedules = {
    Schedule<Gemm>{"gemm", false, gemm_parameters, nullptr, gemm, few_gemm_rows},
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
  for (const Schedule<Body>& s : schedules<Body>()) all.push_back({s.name, stage, s.is_for_gpu, s.parameters});
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
    if (parameter.name == "size" && (number == "large" || number == "small")) {
      answer.choice.size = number == "small" ? SizeClass::small : SizeClass::large;
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
