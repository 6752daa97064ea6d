#include "tools/onnx/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "codegen/dialect/identifier.h"
#include "dsl/rounding.h"
#include "dsl/splitmix64.h"
#include "dsl/sum_errors.h"
#include "dsl/summed_over.h"
#include "tools/npy.h"
#include "tools/onnx/model.h"
#include "tools/onnx/operators.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What is wrong with the files: caught where the case is read.
struct WrongCase : std::runtime_error {
  using std::runtime_error::runtime_error;
};

NpyType npy_type_of(const OnnxElement& element) {
  switch (element.number) {
    case 1: return NpyType::f32;
    case 11: return NpyType::f64;
    case 10: return NpyType::f16;
    case 16:
    case 4: return NpyType::u16;
    case 9: return NpyType::boolean;
    case 3: return NpyType::i8;
    case 2: return NpyType::u8;
    case 5: return NpyType::i16;
    case 6: return NpyType::i32;
    case 12: return NpyType::u32;
    case 7: return NpyType::i64;
    default: return NpyType::u64;
  }
}

const OnnxElement& element_of(const json& tensor, const std::string& who) {
  const std::string dtype = tensor.at("dtype").get<std::string>();
  const OnnxElement* element = find_element(dtype);
  if (element == nullptr) throw WrongCase(fmt::format("{}: dtype '{}' is none of {}", who, dtype, onnx_element_names()));
  return *element;
}

Array read_array(const fs::path& folder, const json& tensor, const OnnxElement& element, const std::string& who) {
  const std::string file = tensor.at("file").get<std::string>();
  const Result<NpyArray> read = read_npy(folder / file);
  if (!read) throw WrongCase(fmt::format("{}: {}", who, read.error().message));
  if (read->type != npy_type_of(element)) throw WrongCase(fmt::format("{}: '{}' holds {}; dtype {} is stored as {}", who, file, name_of(read->type), element.name, name_of(npy_type_of(element))));
  const auto shape = tensor.at("shape").get<std::vector<std::int64_t>>();
  if (read->shape != shape) throw WrongCase(fmt::format("{}: '{}' holds {}; the case says {}", who, file, shape_text(read->shape), shape_text(shape)));
  Array array;
  array.extents = shape;
  array.data = onnx_numbers(element, read->data);
  array.type.kind = element.kind;
  if (const auto wrong = std::ranges::find_if_not(array.data, [&](double x) { return holds(element.kind, x); }); wrong != array.data.end())
    throw WrongCase(fmt::format("{}: '{}' holds {}; integers are exact up to 2^53", who, file, *wrong));
  return array;
}

/// Whether the operator takes a graph for the attribute.
bool takes_graph(const OnnxOperator& row, const std::string& name) {
  return std::ranges::any_of(row.attributes, [&](const OnnxAttributeRule& rule) { return rule.name == name && rule.kind == OnnxAttributeKind::graph; });
}

/// A graph stands there itself, or as the name of a file with a model whose graph it is.
OnnxAttribute attribute_of_json(const fs::path& folder, const OnnxOperator& row, const std::string& name, const json& value) {
  if (value.is_string() && takes_graph(row, name)) {
    ModelAnswer model = read_model((folder / value.get<std::string>()).string());
    if (!model.problem.empty()) throw WrongCase(fmt::format("attribute '{}': {}", name, model.problem));
    return std::make_shared<const OnnxSubgraph>(std::move(model.model.graph));
  }
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) throw WrongCase(fmt::format("attribute '{}': is {}; a number, a text or a graph is right", name, value.dump()));
  SubgraphAnswer graph = subgraph_of_json(value.dump());
  if (!graph.problem.empty()) throw WrongCase(fmt::format("attribute '{}': {}", name, graph.problem));
  return std::make_shared<const OnnxSubgraph>(std::move(graph.graph));
}

/// The attributes that the node of the folder's model has and case.json does not.
void add_model_attributes(const fs::path& folder, OnnxNode& node) {
  std::error_code ignored;
  const fs::path file = folder / "model.onnx";
  if (!fs::exists(file, ignored)) return;
  ModelAnswer model = read_model(file.string());
  if (!model.problem.empty()) throw WrongCase(model.problem);
  const auto& operations = model.model.graph.operations;
  const auto found = std::ranges::find_if(operations, [&](const OnnxOperation& operation) { return operation.op == node.op; });
  if (found == operations.end()) throw WrongCase(fmt::format("'model.onnx': has no node of operator '{}', as the case says", node.op));
  for (const auto& [name, value] : found->attributes) node.attributes.try_emplace(name, value);
}

void read_tensors(const fs::path& folder, const json& parsed, OnnxCase& one) {
  for (const json& tensor : parsed.at("inputs")) {
    if (tensor.is_null()) continue;
    const std::string name = tensor.at("name").get<std::string>(), who = fmt::format("input '{}'", name);
    const OnnxElement& element = element_of(tensor, who);
    one.inputs[name] = read_array(folder, tensor, element, who);
    if (!one.node.inputs.emplace(name, OnnxTensor{&element, one.inputs[name].extents, {}, {}}).second) throw WrongCase(fmt::format("{}: is there twice", who));
    one.unit = std::max(one.unit, element.unit);
  }
  for (const json& tensor : parsed.at("outputs")) {
    if (tensor.is_null()) continue;
    const std::string name = tensor.at("name").get<std::string>(), who = fmt::format("output '{}'", name);
    const OnnxElement& element = element_of(tensor, who);
    one.outputs[name] = read_array(folder, tensor, element, who);
    one.output_elements[name] = &element;
    one.node.outputs.push_back(name);
    one.unit = std::max(one.unit, element.unit);
  }
}

/// The file's JSON. Its texts stand in sentences, but for documentation.
json parsed_case(std::istream& file) {
  std::string key;
  constexpr int deepest = 100;  // as deep as protobuf reads JSON
  const auto look = [&](int depth, json::parse_event_t event, json& part) {
    if (depth > deepest) throw WrongCase(fmt::format("case.json: is nested deeper than {} levels", deepest));
    const bool is_key = event == json::parse_event_t::key;
    if ((!is_key && event != json::parse_event_t::value) || !part.is_string()) return true;
    const std::string text = part.get<std::string>();
    if (is_key) key = text;
    const bool is_documentation = !is_key && (key == "docString" || key == "doc_string");
    if (!is_documentation && one_line(text) != text) throw WrongCase(fmt::format("case.json: {} has a control character in it", part.dump()));
    return true;
  };
  return json::parse(file, look);
}

void read_into(const fs::path& folder, OnnxCase& one) {
  std::error_code ignored;
  if (fs::is_directory(folder / "case.json", ignored)) throw WrongCase("case.json: is a folder; a file is right");
  std::ifstream file(folder / "case.json");
  if (!file) throw WrongCase("case.json: cannot be read");
  const json parsed = parsed_case(file);
  one.name = parsed.value("case", one.name);
  one.node.op = parsed.at("op").get<std::string>();
  one.node.domain = parsed.value("domain", std::string());
  one.node.opset = parsed.at("opset").get<std::int64_t>();
  one.relative = parsed.value("rtol", one.relative), one.absolute = parsed.value("atol", one.absolute);
  const OnnxOperator* row = find_operator(one.node.op, one.node.domain);
  if (row == nullptr) throw WrongCase(node_graph(one.node).problem);
  for (const auto& [name, value] : parsed.at("attributes").items())
    if (!value.is_null()) one.node.attributes.emplace(name, attribute_of_json(folder, *row, name, value));
  add_model_attributes(folder, one.node);
  read_tensors(folder, parsed, one);
  if (const OnnxElement* precision = find_element(static_cast<int>(one.node.integer("softmax_precision"))); precision != nullptr) one.unit = std::max(one.unit, precision->unit);
}

constexpr double unit_of_f32 = 0x1p-24, unit_of_f16 = 0x1p-11;

/// A few roundings of f32, in which kernels calculate.
double rounding_of_f32(const Array& expected) {
  double largest = 1;
  for (const double x : expected.data)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return 6 * 0x1p-24 * largest;
}

/// As an output of the type holds it, where f16 has no such number.
double held(double x, const OnnxElement& element) {
  constexpr double least_infinite_f16 = 65520;
  return element.unit == unit_of_f16 && std::abs(x) >= least_infinite_f16 ? std::copysign(HUGE_VAL, x) : x;
}

/// The nearest number of a type of that unit; its exponents are taken to be those of doubles.
double nearest(double x, double unit) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(fraction / unit) * unit, exponent);
}

/// Rounds the values of lanes 1 and up.
class Rounder {
 public:
  Rounder(double unit, OnnxRounding rounding) : unit_(unit), rounding_(rounding) {}
  void operator()(const Evaluated& at) {
    if (at.graph.node(at.node).type.kind != Kind::real || at.in.empty()) return;
    const bool is_result = std::ranges::count(at.graph.outputs(), at.node, &Output::node) != 0;
    if (rounding_ == OnnxRounding::of_results && !is_result) return;
    if (rounding_ != OnnxRounding::of_results && !summed_over(at.graph.node(at.node).op).empty()) move_sums(at);
    for (std::size_t lane = 1; lane < at.lanes.size(); ++lane)
      for (double& x : at.lanes[lane].data) {
        if (!std::isfinite(x)) continue;
        const double rounded = nearest(x, unit_);
        if (rounded != x) x = lane == 1 ? rounded : x + x * unit_ * random_sign();
      }
  }

 private:
  /// By roundings of terms and partial sums; in lane 1 they are none.
  void move_sums(const Evaluated& at) {
    const Array errors = sum_errors(at, unit_ / 2, unit_ / 2);
    for (std::size_t lane = 2; lane < at.lanes.size(); ++lane)
      for (std::size_t i = 0; i < errors.data.size(); ++i)
        if (double& x = at.lanes[lane].data[i]; std::isfinite(x)) x += errors.data[i] * 2 * random_sign();
  }
  /// Between -1 and 1.
  double random_sign() { return static_cast<double>(random_.next() >> 11) * 0x1p-52 - 1; }

  double unit_;
  OnnxRounding rounding_;
  SplitMix64 random_{1};
};

/// What the JSON library says, without the number that it gives its errors.
std::string_view without_code(std::string_view text) {
  const std::size_t end = text.find("] ");
  return text.starts_with('[') && end != std::string_view::npos ? text.substr(end + 2) : text;
}

OnnxCase refused_case(const fs::path& folder, std::string problem) {
  OnnxCase none;
  none.name = folder.filename().string();
  none.problem = std::move(problem);
  return none;
}

}  // namespace

std::vector<fs::path> case_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  if (fs::exists(folder / "case.json", error)) folders.push_back(folder);
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename() == "case.json" && entry->path().parent_path() != folder) folders.push_back(entry->path().parent_path());
  std::ranges::sort(folders);
  return folders;
}

OnnxCase read_case(const fs::path& folder) {
  OnnxCase one;
  one.name = folder.filename().string();
  try {
    read_into(folder, one);
    return one;
  } catch (const json::exception& error) {
    return refused_case(folder, fmt::format("case.json: {}", without_code(error.what())));
  } catch (const WrongCase& error) {
    return refused_case(folder, error.what());
  }
}

void find_rounding(OnnxCase& one, const Graph& graph, const Arrays& inputs) {
  const OnnxRounding rounding = find_operator(one.node.op, one.node.domain)->rounding;
  const WalkedGraph walked = walk(graph, inputs, rounding_lanes, Rounder(std::max(one.unit, unit_of_f32), rounding));
  if (!walked.problem.empty()) return;
  for (const auto& [name, exact] : walked.lanes[0]) {
    RoundedOutput& output = one.rounded[name] = {exact, 0};
    for (const Arrays& lane : walked.lanes)
      for (std::size_t i = 0; i < exact.data.size(); ++i)
        if (const double distance = std::abs(lane.at(name).data[i] - exact.data[i]); std::isfinite(distance)) output.error = std::max(output.error, distance);
  }
}

OutputDifference output_difference(const OnnxCase& one, const std::string& output, const std::vector<std::int64_t>& extents, const std::vector<double>& got) {
  const Array& expected = one.outputs.at(output);
  OutputDifference difference{got.size(), 0, 0, {}};
  if (extents != expected.extents) {
    difference.text = fmt::format("{}: is {}, expected {}", output, shape_text(extents), shape_text(expected.extents));
    return difference;
  }
  const auto rounded = one.rounded.find(output);
  const OnnxElement& element = *one.output_elements.at(output);
  const bool is_rounded = rounded != one.rounded.end(), is_of_16_bits = is_rounded && element.unit > unit_of_f32;
  const double off = rounding_of_f32(expected) + (is_rounded ? 2 * rounded->second.error : 0);
  std::size_t worst = 0;
  double worst_excess = -HUGE_VAL;
  const auto allowed = [&](double x) { return std::isnan(x) ? 0 : one.absolute + one.relative * std::abs(x); };
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double of_expected = distance(held(got[i], element), expected.data[i]),
                 of_exact = is_of_16_bits ? distance(held(got[i], element), held(rounded->second.exact.data[i], element)) : 0;
    const double excess = std::max(of_expected - allowed(expected.data[i]), of_exact) - off;
    difference.worst = std::max(difference.worst, of_expected);
    difference.differing += !(excess <= 0);
    if (!(excess <= worst_excess)) worst = i, worst_excess = excess;
  }
  if (difference.differing != 0)
    difference.text = fmt::format("{}: {} of {} elements differ; worst at {}: got {:.6g}, expected {:.6g}{}", output, difference.differing, got.size(), worst, got[worst], expected.data[worst],
                                  is_of_16_bits ? fmt::format(", without rounding {:.6g}", rounded->second.exact.data[worst]) : "");
  return difference;
}

}  // namespace attune
