/// Inputs from .npy files, for the commands that take --in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/interpret.h"

namespace attune {

/// "q=q.npy" as name and file, in a table; the problem in words.
std::string read_pairs(const std::vector<std::string>& texts, std::string_view option, std::map<std::string, std::string>& pairs);

/// The arrays of files by the names of their inputs, as the interpreter takes them; or the problem in words.
struct FileInputs {
  Arrays arrays;
  std::string problem;
};
FileInputs read_inputs(const std::map<std::string, std::string>& files);
/// Of --in's texts.
FileInputs read_inputs(const std::vector<std::string>& texts);

/// Puts `given` in place of some of `inputs`, which are a graph's. The problem: no such input, other extents, fractions where it takes whole numbers.
std::string put_inputs(const Graph& graph, const Arrays& given, Arrays& inputs);

}  // namespace attune
