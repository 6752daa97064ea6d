#include "schedules/records/parameters.h"

#include <algorithm>
#include <stdexcept>

namespace attune {

std::string_view name_of(SizeClass size) {
  return std::ranges::find(named_sizes, size, &NamedSize::size)->name;
}

std::optional<SizeClass> find_size(std::string_view name) {
  for (const SizeClass size : size_classes)
    if (name_of(size) == name) return size;
  return {};
}

std::string size_names() {
  std::string names;
  for (auto size = size_classes.rbegin(); size != size_classes.rend(); ++size) names += (names.empty() ? "" : ", ") + std::string(name_of(*size));
  return names;
}

namespace {

std::string subject(std::string_view schedule) { return "schedule '" + std::string(schedule) + "': "; }

const Parameter* find(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  return found == parameters.end() ? nullptr : &*found;
}

std::string name_and_value(const Parameter& p) { return p.name + " = " + std::to_string(p.value); }

std::string illegal(const Parameter& given, const std::vector<std::int64_t>& legal) {
  std::string text = name_and_value(given) + " is not one of ";
  for (std::size_t i = 0; i < legal.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(legal[i]);
  return text;
}

std::string unknown(const std::string& name, const std::vector<Parameter>& declared) {
  std::string text = "has no parameter '" + name + "'; it has ";
  for (std::size_t i = 0; i < declared.size(); ++i) text += (i == 0 ? "" : ", ") + declared[i].name;
  return text;
}

}  // namespace

std::string parameter_problem(std::string_view schedule, const std::vector<Parameter>& declared, const std::vector<Parameter>& given) {
  for (const Parameter& p : given) {
    const Parameter* known = find(declared, p.name);
    if (known == nullptr) return subject(schedule) + unknown(p.name, declared);
    if (find(given, p.name) != &p) return subject(schedule) + p.name + " is given twice";
    if (std::ranges::find(known->legal, p.value) == known->legal.end()) return subject(schedule) + illegal(p, known->legal);
  }
  return {};
}

std::vector<Parameter> with_values(std::vector<Parameter> declared, const std::vector<Parameter>& given) {
  for (Parameter& p : declared)
    if (const Parameter* g = find(given, p.name)) p.value = g->value;
  return declared;
}

std::int64_t value_of(const std::vector<Parameter>& parameters, std::string_view name) {
  const Parameter* found = find(parameters, name);
  if (found == nullptr) throw std::logic_error("internal: no parameter '" + std::string(name) + "'");
  return found->value;
}

std::string multiple_problem(std::string_view schedule, const std::vector<Parameter>& parameters, std::string_view a, std::string_view b) {
  const Parameter *first = find(parameters, a), *second = find(parameters, b);
  if (first->value % second->value == 0) return {};
  return subject(schedule) + name_and_value(*first) + " is not a multiple of " + name_and_value(*second);
}

}  // namespace attune
