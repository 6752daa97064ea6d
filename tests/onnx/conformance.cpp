/// ONNX's node tests: the interpreter gives what ONNX expects of the same node.
#include <catch2/catch.hpp>

#include <cmath>

#include "tools/onnx/ready_case.h"

namespace attune {
namespace {

/// Holds the interpreter's outputs of the folder's cases against the expected ones; how many cases there are.
std::size_t check_interpreter(const std::filesystem::path& cases) {
  const std::vector<std::filesystem::path> folders = case_folders(cases);
  for (const std::filesystem::path& folder : folders) {
    ReadyCase ready = ready_case(folder);
    INFO(ready.one.name);
    REQUIRE(ready.problem == "");
    find_rounding(ready.one, ready.node.graph, ready.inputs);
    const Interpretation got = interpret(ready.node.graph, ready.inputs);
    REQUIRE(got.problem == "");
    REQUIRE(got.outputs.size() == ready.one.outputs.size());
    for (const auto& [name, array] : got.outputs) CHECK(output_difference(ready.one, name, array.extents, array.data).text == "");
  }
  return folders.size();
}

}  // namespace

TEST_CASE("ONNX's node tests of attention and rotary embedding", "[onnx]") { CHECK(check_interpreter(ATTUNE_ONNX_CASES) == 90); }

TEST_CASE("the interpreter gives what ONNX's reference gave of attributes that its node tests lack", "[onnx]") { CHECK(check_interpreter(ATTUNE_ONNX_MADE_CASES) == 28); }

TEST_CASE("a case is failed by numbers that are wrong", "[onnx]") {
  const ReadyCase ready = ready_case(std::filesystem::path(ATTUNE_ONNX_CASES) / "attention_4d_fp16");
  const Interpretation got = interpret(ready.node.graph, ready.inputs);
  Array y = got.outputs.at("Y");
  y.data[5] += 0.01;
  const OutputDifference difference = output_difference(ready.one, "Y", y.extents, y.data);
  CHECK(difference.differing == 1);
  CHECK_THAT(difference.text, Catch::StartsWith("Y: 1 of 192 elements differ; worst at 5: got "));
  y.data[5] = HUGE_VAL;
  CHECK(output_difference(ready.one, "Y", y.extents, y.data).worst == HUGE_VAL);
  OnnxCase unknown = ready.one;
  unknown.outputs.at("Y").data[5] = NAN;
  CHECK(output_difference(unknown, "Y", y.extents, y.data).differing == 1);
  y.data[5] = NAN;
  CHECK(output_difference(unknown, "Y", y.extents, y.data).differing == 0);
  y.extents = {3};
  CHECK(output_difference(ready.one, "Y", y.extents, y.data).text == "Y: is [3], expected [2 x 3 x 4 x 8]");
}

TEST_CASE("16-bit numbers pass within two roundings of each result, and fail beyond", "[onnx]") {
  ReadyCase ready = ready_case(std::filesystem::path(ATTUNE_ONNX_CASES) / "attention_4d_gqa_with_past_and_present_fp16");
  find_rounding(ready.one, ready.node.graph, ready.inputs);
  const RoundedOutput& y = ready.one.rounded.at("Y");
  CHECK(y.error > 0x1p-12);  // half a unit of f16 behind 0.5
  CHECK(y.error < 0x1p-9);
  CHECK(ready.one.rounded.at("present_key").error == 0);
  std::vector<double> got = y.exact.data;
  got[7] += 1.9 * y.error;
  CHECK(output_difference(ready.one, "Y", y.exact.extents, got).differing == 0);
  got[7] += 0.2 * y.error;
  CHECK(output_difference(ready.one, "Y", y.exact.extents, got).differing == 1);
}

}  // namespace attune
