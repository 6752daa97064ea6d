#include "tests/variant_graph.h"

#include <stdexcept>

#include "dsl/variant_by_name.h"

namespace attune {

Graph variant_graph(std::string_view name, const std::vector<std::string>& settings) {
  const ChosenVariant chosen = choose_variant(name, settings);
  if (!chosen.problem.empty()) throw std::invalid_argument(chosen.problem);
  return build_any(chosen.variant);
}

std::vector<std::string_view> names_of_variants() { return variant_names(); }

}  // namespace attune
