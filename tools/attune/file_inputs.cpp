#include "tools/attune/file_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/measure/stored_array.h"
#include "tools/npy.h"

namespace attune {
namespace {

/// The storage whose arrays are kept in files of this type.
attune_storage storage_of(NpyType type) {
  switch (type) {
    case NpyType::u16: return attune_bf16;
    case NpyType::f16: return attune_f16;
    case NpyType::f64: return attune_f64;
    case NpyType::i8: return attune_i8;
    case NpyType::u8: return attune_u8;
    case NpyType::i32: return attune_i32;
    case NpyType::i64: return attune_i64;
    case NpyType::boolean: return attune_boolean;
    case NpyType::f32: break;
  }
  return attune_f32;
}

/// Empty, or which element the interpreter cannot compute with: beyond 2^53 a double would silently be another integer.
std::string element_problem(const std::string& name, const std::string& file, const NpyArray& array) {
  constexpr std::int64_t last = std::int64_t{1} << 53;
  const auto integers = array.values<std::int64_t>();
  if (!integers) return {};
  const auto place = std::find_if(integers->begin(), integers->end(), [](std::int64_t x) { return x < -last || x > last; });
  if (place == integers->end()) return {};
  return fmt::format("--in '{}={}': element {} is {}; the interpreter takes integers from -2^53 to 2^53, which is {}", name, file,
                     place - integers->begin(), *place, last);
}

/// The array's elements as doubles.
std::vector<double> numbers_of(const NpyArray& array) {
  StoredArray stored(storage_of(array.type), array.shape);
  stored.bytes = array.data;
  return numbers(stored);
}

}  // namespace

std::string read_pairs(const std::vector<std::string>& texts, std::string_view option, std::map<std::string, std::string>& pairs) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      return fmt::format("{} '{}': is not NAME=FILE.npy", option, text);
    if (!pairs.emplace(text.substr(0, equals), text.substr(equals + 1)).second) return fmt::format("{} '{}': names {} twice", option, text, text.substr(0, equals));
  }
  return {};
}

FileInputs read_inputs(const std::map<std::string, std::string>& files) {
  FileInputs inputs;
  for (const auto& [name, file] : files) {
    const Result<NpyArray> array = read_npy(file);
    if (!array) return {{}, array.error().message};
    if (std::string problem = element_problem(name, file, *array); !problem.empty()) return {{}, std::move(problem)};
    Array input;
    input.extents = array->shape;
    input.data = numbers_of(*array);
    inputs.arrays.emplace(name, std::move(input));
  }
  return inputs;
}

FileInputs read_inputs(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> files;
  if (std::string problem = read_pairs(texts, "--in", files); !problem.empty()) return {{}, std::move(problem)};
  return read_inputs(files);
}

std::string put_inputs(const Graph& graph, const Arrays& given, Arrays& inputs) {
  for (const auto& [name, array] : given) {
    const auto place = inputs.find(name);
    if (place == inputs.end()) {
      std::string names;
      for (const auto& [known, values] : inputs) names += (names.empty() ? "" : ", ") + known;
      return fmt::format("--in: the graph has no input '{}'; it has {}", name, names);
    }
    if (array.extents != place->second.extents)
      return fmt::format("--in: '{}' has the extents {}; by --shape they are {}", name, fmt::join(array.extents, " x "), fmt::join(place->second.extents, " x "));
    const bool is_real = std::ranges::any_of(graph.nodes(), [&](const Node& node) {
      const Input* input = std::get_if<Input>(&node.op);
      return input != nullptr && name == std::string_view(input->label) && input->type.kind == Kind::real;
    });
    const auto fraction = std::ranges::find_if(array.data, [](double x) { return x != std::trunc(x); });
    if (!is_real && fraction != array.data.end())
      return fmt::format("--in: element {} of '{}' is {}; it takes whole numbers", fraction - array.data.begin(), name, *fraction);
    place->second.data = array.data;
  }
  return {};
}

}  // namespace attune
