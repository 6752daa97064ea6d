#include "tests/onnx/onnx_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "tools/npy.h"

namespace attune {
namespace {

double from_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}
double from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

template <class T>
std::vector<double> converted(const NpyArray& array, double (*convert)(T)) {
  const auto values = array.values<T>().value();
  std::vector<double> numbers(values.size());
  std::transform(values.begin(), values.end(), numbers.begin(), convert);
  return numbers;
}

Array read_array(const std::filesystem::path& file, const std::string& dtype) {
  Result<NpyArray> read = read_npy(file);
  if (!read) throw std::runtime_error(read.error().message);
  const NpyArray& stored = read.value();
  Array array;
  array.extents = stored.shape;
  if (dtype == "float32") array.data = converted<float>(stored, [](float x) { return static_cast<double>(x); });
  if (dtype == "bfloat16") array.data = converted<std::uint16_t>(stored, from_bf16);
  if (dtype == "int64") array.data = converted<std::int64_t>(stored, [](std::int64_t x) { return static_cast<double>(x); });
  if (dtype == "bool") array.data = converted<bool>(stored, [](bool x) { return x ? 1.0 : 0.0; });
  if (dtype == "float16") {
    array.data.resize(static_cast<std::size_t>(stored.size()));
    for (std::size_t i = 0; i < array.data.size(); ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, stored.data.data() + i * sizeof bits, sizeof bits);
      array.data[i] = from_f16(bits);
    }
  }
  array.type.kind = dtype == "int64" ? Kind::i64 : dtype == "bool" ? Kind::boolean : Kind::real;
  return array;
}

Arrays read_arrays(const std::filesystem::path& folder, const nlohmann::json& tensors) {
  Arrays arrays;
  for (const nlohmann::json& tensor : tensors)
    if (!tensor.is_null())
      arrays[tensor["name"].get<std::string>()] = read_array(folder / tensor["file"].get<std::string>(), tensor["dtype"].get<std::string>());
  return arrays;
}

}  // namespace

double OnnxCase::attribute(std::string_view attribute_name, double missing) const {
  const auto found = attributes.find(attribute_name);
  return found == attributes.end() ? missing : found->second;
}

OnnxCase read_onnx_case(const std::filesystem::path& folder) {
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(folder / "case.json"));
  OnnxCase read{json["case"].get<std::string>(), json["op"].get<std::string>(), {}, {}, {}, {}, json["rtol"].get<double>(), json["atol"].get<double>()};
  for (const char* table : {"attribute_defaults", "attributes"})
    for (const auto& [key, value] : json[table].items())
      if (!value.is_null()) read.attributes[key] = value.get<double>();
  read.inputs = read_arrays(folder, json["inputs"]);
  read.outputs = read_arrays(folder, json["outputs"]);
  const std::string dtype = json["inputs"][0]["dtype"].get<std::string>();
  read.storage = dtype == "bfloat16" ? "bf16" : dtype == "float16" ? "f16" : "f32";
  const double unit = dtype == "bfloat16" ? std::ldexp(1, -9) : dtype == "float16" ? std::ldexp(1, -12) : 0;
  read.absolute += 6 * unit;  // of numbers around 1: the scores, weights and sums, each rounded
  return read;
}

std::string onnx_difference(const OnnxCase& node, const std::string& output, const std::vector<double>& got) {
  const std::vector<double>& expected = node.outputs.at(output).data;
  std::ostringstream text;
  text << node.name << ", " << output << ": ";
  if (got.size() != expected.size()) {
    text << got.size() << " elements, expected " << expected.size();
    return text.str();
  }
  std::size_t differing = 0, worst = 0;
  double worst_excess = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double a = got[i], b = expected[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double excess = std::abs(a - b) - (node.absolute + node.relative * std::abs(b));
    if (excess <= 0) continue;
    ++differing;
    if (!(excess <= worst_excess)) worst = i, worst_excess = excess;
  }
  if (differing == 0) return {};
  text << differing << " of " << got.size() << " elements differ; worst at " << worst << ": got " << got[worst] << ", expected " << expected[worst];
  return text.str();
}

OnnxGraph node_graph(const OnnxCase& node) { return node.op == "Attention" ? attention_node(node) : rotary_node(node); }

std::vector<std::filesystem::path> onnx_cases() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(ATTUNE_ONNX_CASES))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace attune
