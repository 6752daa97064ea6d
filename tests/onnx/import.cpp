/// Parts of models as exporters write them: their graphs give what the exporter's system gave, interpreted and in kernels.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/codegen/kernel_case.h"
#include "tools/npy.h"
#include "tools/onnx/import.h"

namespace attune {
namespace {

struct ExportedPart {
  std::string model, node;
  std::map<std::string, std::int64_t, std::less<>> extents = {};
};

Array array_of(const std::filesystem::path& file, const std::vector<std::int64_t>& extents) {
  const Result<NpyArray> read = read_npy(file);
  if (!read) throw std::runtime_error(read.error().message);
  const char* const dtype = read->type == NpyType::f32 ? "float32" : read->type == NpyType::i64 ? "int64" : "bool";
  Array array;
  array.type.kind = find_element(dtype)->kind;
  array.extents = extents;
  array.data = onnx_numbers(*find_element(dtype), read->data);
  return array;
}

/// Checks the part against NAME.out.npy; the graph's inputs are NAME.IN.npy and the model's constants.
/// f32 results are off by a few roundings of each.
void check_part(const ExportedPart& part) {
  CAPTURE(part.model);
  const std::string path = ATTUNE_ONNX_MODELS "/" + part.model;
  const ModelAnswer model = read_model(path + ".onnx");
  REQUIRE(model.problem == "");
  const Imported imported = import_node(model.model, {part.node, {}, part.extents});
  REQUIRE(imported.problem == "");
  Arrays inputs = imported.node.constants;
  for (const ImportedTensor& input : imported.inputs) inputs.emplace(input.name, array_of(path + "." + input.name + ".npy", input.declared));
  const Interpretation got = interpret(imported.node.graph, inputs);
  REQUIRE(got.problem == "");
  REQUIRE(got.outputs.size() == 1);
  const Array& y = got.outputs.begin()->second;
  const Array expected = array_of(path + ".out.npy", read_npy(path + ".out.npy")->shape);
  CHECK(y.extents == expected.extents);
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < y.data.size(); ++i)
    worst = std::max(worst, distance(y.data[i], expected.data[i])), largest = std::max(largest, std::abs(expected.data[i]));
  CHECK(worst <= 16 * 0x1p-24 * largest);
  const KernelCase kernel(imported.node.graph, imported.name, {.set = known_extents(imported.node.graph, inputs)});
  CHECK(kernel.difference(kernel.extents_of(inputs), inputs) == "");
}

}  // namespace

TEST_CASE("scores that exporters hide by large negative numbers or minus infinity are hidden", "[onnx]") {
  for (const char* mask : {"mask_1e4", "mask_1e9", "mask_lowest", "mask_infinite"}) check_part({mask, "out"});
}

TEST_CASE("attention that PyTorch exports gives PyTorch's numbers", "[onnx]") {
  check_part({"torch_packed_heads", "view_11"});
  check_part({"torch_masked", "scaled_dot_product_attention"});
  check_part({"torch_repeated", "_unsafe_view_2", {{"s33", 2}, {"s0", 5}}});
  check_part({"torch_with_past", "92"});
  check_part({"torch_buckets", "einsum_1", {{"s33", 2}, {"s0", 5}}});
}

TEST_CASE("queries, keys and values that are parts of one product are taken of it", "[onnx]") {
  check_part({"packed_equal", "out"});
  check_part({"packed_grouped", "out"});
  check_part({"packed_sliced", "out"});
}

TEST_CASE("constant masks of positions are found, and the numbers stay", "[onnx]") {
  for (const char* name : {"mask_window", "mask_prefix", "mask_chunks"}) {
    check_part({name, "out"});
    CHECK(import_node(read_model(ATTUNE_ONNX_MODELS "/" + std::string(name) + ".onnx").model, {"out", {}, {}}).node.constants.empty());
  }
}

TEST_CASE("a constant mask of no rule is an input of truth values", "[onnx]") {
  check_part({"mask_random", "out"});
  const Imported imported = import_node(read_model(ATTUNE_ONNX_MODELS "/mask_random.onnx").model, {"out", {}, {}});
  REQUIRE(imported.node.constants.size() == 1);
  CHECK(imported.node.constants.at("hidden").type.kind == Kind::boolean);
  CHECK(std::ranges::any_of(imported.node.graph.nodes(), [](const Node& node) { return std::holds_alternative<Mask>(node.op); }));
}

TEST_CASE("constants may be transposed, converted and clipped, and used as they are", "[onnx]") {
  for (const char* name : {"transposed_constants", "shared_constants", "clip_attributes"}) check_part({name, "out"});
}

TEST_CASE("axes of one position and parts of each head are joined and taken", "[onnx]") {
  for (const char* name : {"cache_of_one", "packed_heads", "sinks"}) check_part({name, "out"});
}

TEST_CASE("each operator gives what ONNX's reference gives", "[onnx]") {
  const std::string path = ATTUNE_ONNX_MODELS "/" + GENERATE(as<std::string>(), "operators", "awkward_operators");
  const ModelAnswer model = read_model(path + ".onnx");
  REQUIRE(model.problem == "");
  const std::vector<std::int64_t> expected_shape = read_npy(path + ".out.npy")->shape;
  const Array expected = array_of(path + ".out.npy", expected_shape);
  std::size_t next = 0, count = 0;
  for (const OnnxDeclared& result : model.model.graph.outputs) {
    CAPTURE(result.name);
    const Imported imported = import_node(model.model, {result.name, {}, {}});
    REQUIRE(imported.problem == "");
    Arrays inputs = imported.node.constants;
    for (const ImportedTensor& input : imported.inputs) inputs.emplace(input.name, array_of(path + "." + input.tensor + ".npy", input.declared));
    const Interpretation got = interpret(imported.node.graph, inputs);
    REQUIRE(got.problem == "");
    const std::vector<double>& y = got.outputs.begin()->second.data;
    REQUIRE(next + y.size() <= expected.data.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      CHECK(distance(y[i], expected.data[next + i]) <= 16 * 0x1p-24 * std::max(1.0, std::abs(expected.data[next + i])));
    }
    next += y.size();
    ++count;
  }
  CHECK(next == expected.data.size());
  CHECK(count == model.model.graph.outputs.size());
}

TEST_CASE("a mask that follows from the length of a cache is that of the call, whatever length the part was imported for", "[onnx]") {
  const auto part = GENERATE(as<std::string>(), "past_slice", "past_difference", "past_trilu");
  const std::string path = ATTUNE_ONNX_MODELS "/" + part;
  const Imported imported = import_node(read_model(path + ".onnx").model, {"out", {}, {{"P", 5}, {"Q", 3}}});
  CAPTURE(part);
  REQUIRE(imported.problem == "");
  Arrays inputs = imported.node.constants;
  for (const ImportedTensor& input : imported.inputs) {
    const std::string file = path + "." + input.name + ".npy";
    inputs.emplace(input.name, array_of(file, read_npy(file)->shape));
  }
  const Interpretation got = interpret(imported.node.graph, inputs);
  REQUIRE(got.problem == "");
  const Array& y = got.outputs.begin()->second;
  const Array expected = array_of(path + ".out.npy", read_npy(path + ".out.npy")->shape);
  REQUIRE(y.extents == expected.extents);
  for (std::size_t i = 0; i < y.data.size(); ++i) CHECK(distance(y.data[i], expected.data[i]) <= 1e-5);
  const KernelCase kernel(imported.node.graph, imported.name, {.set = known_extents(imported.node.graph, inputs)});
  CHECK(kernel.difference(kernel.extents_of(inputs), inputs) == "");
}

TEST_CASE("a causal mask that is a constant, or made of one range, becomes one of positions", "[onnx]") {
  for (const ExportedPart& part :
       {ExportedPart{"torch_with_past", "92"}, ExportedPart{"torch_repeated", "_unsafe_view_2", {{"s33", 2}, {"s0", 5}}}}) {
    const ModelAnswer model = read_model(ATTUNE_ONNX_MODELS "/" + part.model + ".onnx");
    const Imported imported = import_node(model.model, {part.node, {}, part.extents});
    CAPTURE(part.model, imported.problem);
    CHECK(std::ranges::all_of(imported.node.constants, [](const auto& constant) { return constant.first == "qkv_bias"; }));
    CHECK(std::ranges::any_of(imported.node.graph.nodes(), [](const Node& node) { return std::holds_alternative<Index>(node.op); }));
  }
}

}  // namespace attune
