/// Pictures of attention weights: a cell a weight, labels at both sides, a colour bar.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace attune {

/// weights [rows, columns], row by row.
struct HeatPanel {
  std::string title;  ///< "heads 3"; may be empty
  std::vector<double> weights;
};

/// Matrices of the same rows and columns beside each other, all in the same colours.
struct HeatMap {
  std::string title;
  std::string row_name, column_name;                  ///< "queries", "keys"
  std::int64_t rows = 0, columns = 0;
  std::vector<std::string> row_labels, column_labels;  ///< one each, in UTF-8, or none
  std::vector<HeatPanel> panels;
};

/// Why no picture is drawn of so many rows and columns; empty if one is.
std::string heat_map_problem(std::int64_t rows, std::int64_t columns);

/// A PNG: white is 0, the darkest blue the largest weight, rounded up, or orange the lowest where some are below 0; grey is no number. Of labels that
/// would touch only some stand there. Replaces the file in one step.
Result<void> draw(const HeatMap& map, const std::filesystem::path& path, const std::string& who);

}  // namespace attune
