/// Labels of rows and columns from a text file.
#pragma once

#include <string>
#include <vector>

namespace attune {

/// A line a label, in UTF-8; or the problem in words, which begins with the option.
struct LabelFile {
  std::vector<std::string> labels;
  std::string problem;
};
LabelFile read_labels(const std::string& option, const std::string& path);

}  // namespace attune
