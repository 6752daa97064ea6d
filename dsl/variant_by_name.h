/// The variants of the list by name, with parameters that are set from text: for tools.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dsl/parameters.h"
#include "dsl/variants.h"

namespace attune {

/// Calls `visit(variant)` with the variant of the name, its parameters at their defaults; false if there is none.
template <class Visit>
constexpr bool visit_variant(std::string_view name, Visit visit) {
  bool is_found = false;
  for_each_variant([&](auto variant) {
    if (variant.name != name) return;
    is_found = true;
    visit(variant);
  });
  return is_found;
}

/// The names of all variants, in the order of the list.
inline std::vector<std::string_view> variant_names() {
  std::vector<std::string_view> names;
  for_each_variant([&](auto variant) { names.push_back(variant.name); });
  return names;
}

/// A variant with parameters, or the problem in words.
struct ChosenVariant {
  AnyVariant variant;
  std::string problem;
};

/// The variant of the name with its parameters set one after the other ("window=512"). The problem: no variant of the
/// name, or what `set_parameter` refuses.
inline ChosenVariant choose_variant(std::string_view name, std::span<const std::string> settings) {
  ChosenVariant chosen;
  const bool is_found = visit_variant(name, [&](auto variant) {
    for (const std::string& setting : settings)
      if (chosen.problem.empty()) chosen.problem = set_parameter(variant, setting);
    chosen.variant = variant;
  });
  if (is_found) return chosen;
  chosen.problem = "variant '" + std::string(name) + "': there is none of that name; there are ";
  for (std::string_view known : variant_names()) chosen.problem += (known == SingleHead::name ? "" : ", ") + std::string(known);
  return chosen;
}

/// The graph of the variant, as `build` gives it.
inline Graph build_any(const AnyVariant& any) {
  return std::visit([](const auto& variant) { return build(variant); }, any);
}

}  // namespace attune
