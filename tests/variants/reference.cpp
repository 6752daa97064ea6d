/// Variants against data/, which make_reference.py computed, and torch/, which is PyTorch's: the interpreter gives those values,
/// and kernels what the interpreter gives.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "tests/codegen/kernel_case.h"
#include "tests/dsl/values.h"
#include "tests/variant_graph.h"
#include "tools/npy.h"

namespace attune {
namespace {

struct ReferenceCase {
  std::string name, variant;
  std::vector<std::string> settings;
  Arrays inputs, outputs;
};

template <class T>
std::vector<double> numbers_of(const NpyArray& stored) {
  const auto values = stored.values<T>().value();
  return {values.begin(), values.end()};
}

Array read_tensor(const std::filesystem::path& file) {
  const Result<NpyArray> read = read_npy(file);
  if (!read) throw std::runtime_error(read.error().message);
  const NpyArray& stored = read.value();
  Array tensor;
  tensor.extents = stored.shape;
  switch (stored.type) {
    case NpyType::f32: tensor.data = numbers_of<float>(stored); break;
    case NpyType::f64: tensor.data = numbers_of<double>(stored); break;
    case NpyType::i32: tensor.data = numbers_of<std::int32_t>(stored), tensor.type.kind = Kind::i32; break;
    case NpyType::i64: tensor.data = numbers_of<std::int64_t>(stored), tensor.type.kind = Kind::i64; break;
    case NpyType::boolean: tensor.data = numbers_of<bool>(stored), tensor.type.kind = Kind::boolean; break;
    default: throw std::runtime_error(file.string() + ": holds " + std::string(name_of(stored.type)) + "; it must hold f32, f64, i32, i64 or boolean");
  }
  return tensor;
}

ReferenceCase read_case(const std::filesystem::path& folder) {
  const auto said = nlohmann::json::parse(std::ifstream(folder / "case.json"));
  ReferenceCase c{folder.filename().string(), said.at("variant"), said.at("settings"), {}, {}};
  for (const std::string tensor : said.at("inputs")) c.inputs[tensor] = read_tensor(folder / (tensor + ".npy"));
  for (const std::string tensor : said.at("outputs")) c.outputs[tensor] = read_tensor(folder / (tensor + ".expected.npy"));
  return c;
}

/// The cases of a folder, "data" or "torch".
std::vector<ReferenceCase> reference_cases(const char* folder) {
  std::vector<ReferenceCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ATTUNE_REFERENCE) / folder))
    cases.push_back(read_case(entry.path()));
  std::ranges::sort(cases, {}, &ReferenceCase::name);
  return cases;
}

void check_values(const std::vector<ReferenceCase>& cases) {
  for (const ReferenceCase& c : cases) {
    INFO(c.name);
    const Arrays got = outputs_of(variant_graph(c.variant, c.settings), c.inputs);
    for (const auto& [name, expected] : c.outputs) {
      INFO(name);
      double largest = 1;
      for (const double x : expected.data) largest = std::isinf(x) ? largest : std::max(largest, std::abs(x));
      check_close(got.at(name), expected, rounding(64, largest));
    }
  }
}

void check_kernel(const ReferenceCase& c) {
  INFO(c.name);
  const Graph graph = variant_graph(c.variant, c.settings);
  const KernelCase kernel(c.variant, {.settings = c.settings, .set = known_extents(graph, c.inputs)});
  CHECK(kernel.difference(kernel.extents_of(c.inputs), c.inputs) == "");
}

/// Kernels of every n-th case from `first` on. Tests of a few seconds run beside one another.
void check_kernels(std::size_t first, std::size_t n) {
  const std::vector<ReferenceCase> cases = reference_cases("data");
  for (std::size_t i = first; i < cases.size(); i += n) check_kernel(cases[i]);
}

/// Kernels of the cases of one variant that have PyTorch's values.
void check_layers(std::string_view variant) {
  int tried = 0;
  for (const ReferenceCase& c : reference_cases("torch"))
    if (c.variant == variant) check_kernel(c), ++tried;
  CHECK(tried > 0);
}

}  // namespace

TEST_CASE("variants give what formulas of their papers give", "[reference]") { check_values(reference_cases("data")); }
TEST_CASE("variants give what PyTorch gives", "[reference]") { check_values(reference_cases("torch")); }

TEST_CASE("every variant has a case of the reference", "[reference]") {
  std::set<std::string> tried;
  for (const char* folder : {"data", "torch"})
    for (const ReferenceCase& c : reference_cases(folder)) tried.insert(c.variant);
  for (const std::string_view variant : names_of_variants()) {
    INFO(variant);
    CHECK(tried.contains(std::string(variant)));
  }
}

TEST_CASE("kernels give what the formulas give: cases 0, 4, ...", "[reference]") { check_kernels(0, 4); }
TEST_CASE("kernels give what the formulas give: cases 1, 5, ...", "[reference]") { check_kernels(1, 4); }
TEST_CASE("kernels give what the formulas give: cases 2, 6, ...", "[reference]") { check_kernels(2, 4); }
TEST_CASE("kernels give what the formulas give: cases 3, 7, ...", "[reference]") { check_kernels(3, 4); }

TEST_CASE("kernels give what nn.MultiheadAttention gives", "[reference]") { check_layers("torch_multi_head"); }
TEST_CASE("kernels give what nn.TransformerEncoderLayer gives", "[reference]") { check_layers("encoder_layer"); }
TEST_CASE("kernels give what nn.TransformerDecoderLayer gives", "[reference]") { check_layers("decoder_layer"); }

}  // namespace attune
