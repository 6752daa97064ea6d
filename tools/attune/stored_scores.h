/// Which stages store a value for each pair of a query and a key: what decides how fast attention is, and how much memory it takes.
#pragma once

#include "tools/attune/work.h"

namespace attune {

struct StoredScores {
  std::size_t stage = 0;            ///< of the report
  std::string queries, keys;        ///< dims of the stage's result
  bool is_part = false;             ///< keys of one of the scores that a concat lays one behind the other
};

/// Every stage whose result has the queries of a softmax and its keys, or those of a part of them; and those that keep tables of scores.
std::vector<StoredScores> stored_scores(const KernelReport& report);

/// Bytes of the result, and of scores that the stage's schedule keeps besides, for these extents.
double stored_bytes(const StageReport& stage, const Shape& extents);

}  // namespace attune
