/// What linear attention makes of queries and keys.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Nothing, or elu(x) + 1, which is positive (Katharopoulos et al. 2020).
enum class FeatureMap { identity, elu_plus_1 };
constexpr std::array<std::string_view, 2> enumerators(FeatureMap) { return {"identity", "elu_plus_1"}; }

constexpr Value features_of(FeatureMap map, Value x) { return map == FeatureMap::identity ? x : select(x > 0, x + 1, exp(minimum(x, 0))); }

}  // namespace attune
