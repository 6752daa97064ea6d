/// Parameters of schedules: which of a kernel's schedules they are for, and the checks that every template makes of what it is given.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// A number that a schedule may choose, with what is legal.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> legal;
  std::int64_t value;
};

/// A kernel holds a schedule for each; the extents of a call decide which one runs. `few` is a handful of queries over many keys, or
/// of columns of a product, `shared` such queries of many heads that share these keys, `tiny` a handful of queries and keys.
enum class SizeClass { large, small, few, shared, tiny };

/// With their names, in the order in which a call tries them.
struct NamedSize {
  SizeClass size;
  std::string_view name;
};
inline constexpr std::array named_sizes = {NamedSize{SizeClass::tiny, "tiny"}, NamedSize{SizeClass::shared, "shared"}, NamedSize{SizeClass::few, "few"},
                                           NamedSize{SizeClass::small, "small"}, NamedSize{SizeClass::large, "large"}};
inline constexpr auto size_classes = [] {
  std::array<SizeClass, named_sizes.size()> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = named_sizes[i].size;
  return sizes;
}();

std::string_view name_of(SizeClass size);
std::optional<SizeClass> find_size(std::string_view name);
/// "large, small, few, shared, tiny"
std::string size_names();

/// What is wrong with the values `given` to a schedule that declares `declared`, as a sentence; empty if nothing is.
/// Refuses unknown names, names given twice, and values that are not legal.
std::string parameter_problem(std::string_view schedule, const std::vector<Parameter>& declared, const std::vector<Parameter>& given);

/// `declared`, with the values of those that are also in `given`.
std::vector<Parameter> with_values(std::vector<Parameter> declared, const std::vector<Parameter>& given);

/// The value of the parameter of that name, which must be there.
std::int64_t value_of(const std::vector<Parameter>& parameters, std::string_view name);

/// What is wrong if `a` must be a multiple of `b` and is not, as a sentence; empty if it is.
std::string multiple_problem(std::string_view schedule, const std::vector<Parameter>& parameters, std::string_view a, std::string_view b);

}  // namespace attune
