/// What reaches generated files of the names and texts that a graph's author chooses.
#include "codegen/output/kernel_text.h"

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "codegen/dialect/identifier.h"
#include "codegen/dialect/nesting.h"
#include "codegen/output/manifest.h"
#include "runtime/abi.h"

namespace attune {
namespace {

/// out[n] = q[n]
Manifest copy() {
  Manifest m;
  m.name = m.variant = "copy";
  m.dims = {{"n", attune_free, {}, 1}};
  m.tensors = {{"q", attune_f32, attune_input, {0}}, {"out", attune_f32, attune_output, {0}}};
  m.steps = {{"pointwise", {0}, {1}, {0}, {{"zen4", "large: pointwise", "avx2", "amd/25", "copy_argv", attune_cpu, {}}}}};
  return m;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("one rule says which names kernels, functions and tensors may have", "[kernel text]") {
  for (const char* name : {"causal", "f", "multi_head_f16", "Reach", "x_", "main", "kernel"}) CHECK(name_problem("kernel", name) == "");
  for (const char* name : {"", "x.y", "a b", "3x", "../x", "a-b", "a\nb", "gr\xC3\xBC\xC3\x9F"})
    CHECK_THAT(name_problem("kernel", name), Catch::StartsWith("kernel '") && Catch::EndsWith("': is not a name; letters, digits and _ are, and no digit first"));
  CHECK_THAT(name_problem("kernel", "a\nb"), Catch::StartsWith("kernel 'a\\x0Ab': "));
  for (const char* name : {"int", "xor_eq", "restrict", "co_await", "alignas"})
    CHECK_THAT(name_problem("--name", name), Catch::Contains("is a keyword of C or C++"));
  for (const char* name : {"linux", "NULL", "errno"}) CHECK_THAT(name_problem("--name", name), Catch::Contains("is a macro of C compilers"));
  for (const char* name : {"_x", "_Bool", "a__b", "__FILE__"}) CHECK_THAT(name_problem("input", name), Catch::Contains("is kept for compilers"));
  CHECK(name_problem("kernel", std::string(200, 'a')) == "");
  CHECK_THAT(name_problem("kernel", std::string(201, 'a')), Catch::EndsWith("...': has 201 letters; 200 are the most"));
}

TEST_CASE("a kernel's manifest is refused where the runtime or a C++ compiler would refuse it", "[kernel text]") {
  CHECK(manifest_problem(copy()) == "");
  Manifest m = copy();
  m.tensors[0].name = "class";
  CHECK(manifest_problem(m) == "kernel 'copy': input 'class': is a keyword of C or C++; the kernel's headers could not declare it");
  m = copy();
  m.variant = "x.y";
  CHECK_THAT(manifest_problem(m), Catch::StartsWith("variant 'x.y': is not a name"));
  m = copy();
  while (m.tensors.size() < ATTUNE_MAX_TENSORS)
    m.tensors.insert(m.tensors.begin(), {"q" + std::to_string(m.tensors.size()), attune_f32, attune_input, {0}});
  CHECK(manifest_problem(m) == "");
  m.tensors.insert(m.tensors.begin(), {"more", attune_f32, attune_input, {0}});
  CHECK(manifest_problem(m) == "kernel 'copy': has 65 inputs and outputs; 64 are the most");
  m = copy();
  m.dims[0] = {"n", attune_fixed, {}, ATTUNE_MAX_EXTENT + 1};
  CHECK(manifest_problem(m) == "kernel 'copy': dim n is 1073741825; kernels count extents up to 1073741824");
  m.dims = {{"n", attune_fixed, {}, ATTUNE_MAX_EXTENT}, {"m", attune_fixed, {}, ATTUNE_MAX_EXTENT}};
  m.tensors[1].dims = {0, 1, 1, 1};
  CHECK(manifest_problem(m) == "kernel 'copy': 'out' has more elements than 2147483647 by its fixed extents; kernels count no further");
}

TEST_CASE("text of a graph's author ends no comment, and JSON keeps it", "[kernel text]") {
  Manifest m = copy();
  m.parameters = "a=*/ int stolen; /*,b=\nint stolen;,c=\\\n,d=?\?/\nint stolen;,e=\xFF\x01\"'";
  for (const std::string& header : {c_header(m), cpp_header(m)}) {
    INFO(header);
    CHECK(count(header, "stolen") == 3);
    for (const char* end : {"*/ int", "/*,", "\nint stolen", "\\\n", "?\?/", "\xFF", "\x01"}) CHECK(count(header, end) == 0);
  }
  CHECK(count(c_header(m), "*/") == 1);
  const std::string comment = cpp_header(m).substr(0, cpp_header(m).find("#pragma"));
  CHECK(count(comment, "\n") == count(comment, "///"));
  m.parameters = "a=\"\\*/\n";
  CHECK(nlohmann::json::parse(json_sidecar(m))["parameters"] == m.parameters);
  m.parameters = "a=\xFF";
  CHECK(nlohmann::json::parse(json_sidecar(m))["parameters"] == "a=\xEF\xBF\xBD");  // U+FFFD
}

TEST_CASE("text is nested at most as deep as graphs are", "[kernel text]") {
  const auto times = [](std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  CHECK(nesting_problem(times(32, "[") + times(32, "]")) == "");
  CHECK(nesting_problem("\n" + times(33, "[")) == "line 2: is nested deeper than 32 levels; graphs are not");
  for (const char* bracket : {"(", "{", "<", "(<", "{a = [", "tuple<", "[>", "<]"}) CHECK(nesting_problem(times(50000, bracket)) != "");
  for (const char* flat : {"[]", "() -> ()", "\"[\"", "\"\\\"[\"", "// [\n", "a -> b "}) CHECK(nesting_problem(times(50000, flat)) == "");
  CHECK(nesting_problem("affine_map<() -> (" + times(50000, "-") + "1)>") == "line 1: holds an affine_map, which no graph has");
  CHECK(nesting_problem(times(300, "#a = #b\n")) == "line 129: defines more than 256 attributes and types; graphs need none");
  CHECK(nesting_problem("\"") == "");
  CHECK(nesting_problem("\"\\") == "");
}

}  // namespace attune
