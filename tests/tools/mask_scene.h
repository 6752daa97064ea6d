/// Masks of attention, and what the interpreter says is visible under them: for tests of what is counted without looking at each pair.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dsl/variants/attention.h"
#include "tools/measure/score_mask.h"

namespace attune {

using MakePredicate = std::function<Value(Graph&, const Attention&)>;

/// A mask, and whether intervals judge its blocks exactly.
struct MaskCase {
  std::string name;
  MakePredicate predicate;
  bool is_exact = true;
};
std::vector<MaskCase> mask_cases();

/// The softmax of the graph, or -1.
int softmax_of(const Graph& graph);

/// A mask, extents and inputs, with what the interpreter says is visible.
struct Scene {
  Graph graph;
  Shape extents;
  Arrays inputs;
  Array visible;

  Scene(const MakePredicate& make, const Shape& given);

  std::int64_t extent(Name dim) const { return extents.find(dim)->second; }
};

/// How many elements of a box are visible, one by one.
std::int64_t brute_count(const Scene& scene, const ScoreMask& mask, const IndexBox& box);

/// Visits boxes of `rows` queries and `columns` keys, those at the ends smaller, at every place of the outer dims.
void for_each_box(const Scene& scene, const ScoreMask& mask, std::int64_t rows, std::int64_t columns,
                  const std::function<void(const IndexBox&)>& visit);

}  // namespace attune
