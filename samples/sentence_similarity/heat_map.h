/// Draws attention weights as a picture.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace sentence_similarity {

/// weights [tokens, tokens]: row i is how much token i attends to each token; numbers from 0 to 1.
struct HeatMap {
  std::string title;
  std::vector<std::string> tokens;
  std::vector<float> weights;
};

/// Writes a PNG: a cell a weight, tokens at the left and on top, a colour bar at the right, and the weights as numbers
/// where the cells are large enough. The file is replaced in one step. Refuses a map without tokens and
/// weights that are infinite or NaN.
attune::Result<void> draw(const HeatMap& map, const std::filesystem::path& path);

}  // namespace sentence_similarity
