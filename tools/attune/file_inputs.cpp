#include "tools/attune/file_inputs.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "tools/attune/converted.h"

namespace attune {
namespace {

/// An input as the interpreter takes it, or the problem in words.
struct Numbers {
  Array array;
  std::string problem;
};

/// How the interpreter's numbers of the kind would be stored without loss.
attune_storage storage_of(Kind kind) {
  switch (kind) {
    case Kind::i8: return attune_i8;
    case Kind::u8: return attune_u8;
    case Kind::i32: return attune_i32;
    case Kind::i64: return attune_i64;
    case Kind::boolean: return attune_boolean;
    case Kind::real: break;
  }
  return attune_f64;
}

/// Empty, or which element the interpreter cannot compute with: beyond 2^53 a double would silently be another integer.
std::string element_problem(const std::string& name, const std::string& file, const StoredArray& array) {
  if (array.storage != attune_i64) return {};
  constexpr std::int64_t last = std::int64_t{1} << 53;
  for (std::size_t i = 0; i < array.size(); ++i) {
    std::int64_t x;
    std::memcpy(&x, array.bytes.data() + i * sizeof x, sizeof x);
    if (x < -last || x > last)
      return fmt::format("--in '{}={}': element {} is {}; the interpreter takes integers from -2^53 to 2^53, which is {}", name, file, i, x, last);
  }
  return {};
}

const Input* find_input(const Graph& graph, std::string_view name) {
  for (const Node& node : graph.nodes())
    if (const Input* input = std::get_if<Input>(&node.op); input != nullptr && name == std::string_view(input->label)) return input;
  return nullptr;
}

/// The file's numbers for the input of the name.
Numbers numbers_of(const Graph& graph, const std::string& name, const FileInputs::File& file) {
  const Input* input = find_input(graph, name);
  if (input == nullptr) {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes())
      if (const Input* known = std::get_if<Input>(&node.op)) names.emplace_back(std::string_view(known->label));
    return {{}, fmt::format("--in: the graph has no input '{}'; it has {}", name, fmt::join(names, ", "))};
  }
  const Converted converted = convert(file.array, storage_of(input->type.kind), fmt::format("input '{}'", name));
  if (!converted.problem.empty()) return {{}, fmt::format("'{}': {}", file.path, converted.problem)};
  if (std::string problem = element_problem(name, file.path, converted.array); !problem.empty()) return {{}, std::move(problem)};
  Numbers result;
  result.array.extents = converted.array.extents;
  result.array.data = numbers(converted.array);
  return result;
}

}  // namespace

std::string read_pairs(const std::vector<std::string>& texts, std::string_view option, std::map<std::string, std::string>& pairs) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      return fmt::format("{} '{}': is not NAME=FILE.npy", option, text);
    if (!pairs.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return fmt::format("{} '{}': names {} twice", option, text, text.substr(0, equals));
  }
  return {};
}

std::string shared_file_problem(const std::map<std::string, std::string>& outputs) {
  std::map<std::filesystem::path, std::string> output_of;
  for (const auto& [name, path] : outputs) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) continue;
    const auto [other, is_new] = output_of.emplace(std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored), name);
    if (!is_new) return fmt::format("--out '{}={}': is the file of output '{}', too; each output needs one of its own", name, path, other->second);
  }
  return {};
}

void print_note(const std::string& file, const std::string& note) {
  if (!note.empty()) std::fputs(fmt::format("attune: note: '{}': {}\n", file, note).c_str(), stderr);
}

FileInputs read_inputs(const std::vector<std::string>& texts) {
  FileInputs inputs;
  for (const std::string& text : texts) {
    std::map<std::string, std::string> pair;
    if (std::string problem = read_pairs({text}, "--in", pair); !problem.empty()) return {{}, std::move(problem)};
    const auto& [name, path] = *pair.begin();
    Result<NpyArray> array = read_npy(path);
    if (!array) return {{}, array.error().message};
    inputs.files[name].push_back({path, std::move(array).value()});
  }
  return inputs;
}

std::string put_inputs(const Graph& graph, const FileInputs& given, Arrays& inputs, std::size_t call, std::size_t calls) {
  for (const auto& [name, files] : given.files) {
    if (files.size() != 1 && files.size() != calls)
      return fmt::format("--in: '{}' has {} files for {} --shape; expected one for all, or one for each in their order", name, files.size(), calls);
    Numbers numbers = numbers_of(graph, name, files.size() == 1 ? files[0] : files[call]);
    if (!numbers.problem.empty()) return numbers.problem;
    Array& input = inputs.at(name);
    if (numbers.array.extents != input.extents)
      return fmt::format("--in: '{}' has the extents {}; by --shape they are {}{}", name, fmt::join(numbers.array.extents, " x "), fmt::join(input.extents, " x "),
                         files.size() == 1 && calls > 1 ? "; give a file for each --shape, in their order" : "");
    input.data = std::move(numbers.array.data);
  }
  return {};
}

InterpretedInputs interpreted_inputs(const Graph& graph, const FileInputs& given) {
  InterpretedInputs inputs;
  for (const auto& [name, files] : given.files) {
    if (files.size() > 1) return {{}, fmt::format("--in '{}={}': names {} twice", name, files[1].path, name)};
    Numbers numbers = numbers_of(graph, name, files[0]);
    if (!numbers.problem.empty()) return {{}, std::move(numbers.problem)};
    inputs.arrays.emplace(name, std::move(numbers.array));
  }
  return inputs;
}

std::vector<KnownExtents> call_of_files(const Prepared& prepared, const FileInputs& given) {
  std::map<std::string, std::vector<std::int64_t>, std::less<>> shapes;
  for (const auto& [name, files] : given.files) shapes[name] = files[0].array.shape;
  const Bound bound = bind_extents(prepared.graph.graph, shapes);
  if (!bound.problem.empty()) return {};
  const KnownExtents call(bound.extents.begin(), bound.extents.end());
  for (const auto& [dim, extent] : prepared.staging.specialisation.extents)
    if (const auto given = call.find(dim); given != call.end() && given->second != extent) return {};
  return {call};
}

}  // namespace attune
