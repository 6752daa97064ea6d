#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "samples/sentence_similarity/safetensors.h"
#include "tests/folder.h"

using namespace sentence_similarity;
using Catch::Matchers::Contains;

namespace {

/// A file with that header and that many bytes after it, each of them its index.
std::string file_with(std::string_view header, int data_bytes) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  text += header;
  for (int i = 0; i < data_bytes; ++i) text += static_cast<char>(i);
  return text;
}

std::string entry(std::string_view name, std::string_view type, std::string_view shape, int begin, int end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, type, shape, begin, end);
}

}  // namespace

TEST_CASE("tensors are read by name, type and shape", "[sentence_similarity]") {
  const attune::Folder folder;
  std::string text = file_with("{" + entry("b", "I32", "[2,1]", 12, 20) + "," + entry("a", "F32", "[3]", 0, 12) +
                                   R"(,"none":{"dtype":"F64","shape":[0,5],"data_offsets":[20,20]},"__metadata__":{"format":"pt"}}  )",
                               20);
  const float a[] = {1, -2, 0.5f};
  const std::int32_t b[] = {-7, 1 << 30};
  text.replace(text.size() - 20, 12, reinterpret_cast<const char*>(a), 12);
  text.replace(text.size() - 8, 8, reinterpret_cast<const char*>(b), 8);
  auto file = Safetensors::open(folder.write("x.safetensors", text));
  REQUIRE(file);
  CHECK(file->read<std::int32_t>("b", {2, 1}).value() == std::vector<std::int32_t>{-7, 1 << 30});
  CHECK(file->read<float>("a", {3}).value() == std::vector<float>{1, -2, 0.5f});
  CHECK(file->read<double>("none", {0, 5}).value().empty());

  const std::string who = "file '" + (folder / "x.safetensors").string() + "': ";
  CHECK(file->read<float>("c", {3}).error().message == who + "has no tensor 'c'");
  CHECK(file->read<float>("a", {4}).error().message == who + "tensor 'a' is F32 [3], expected F32 [4]");
  CHECK(file->read<double>("a", {3}).error().message == who + "tensor 'a' is F32 [3], expected F64 [3]");
}

TEST_CASE("a file cut off after it was opened is refused when it is read", "[sentence_similarity]") {
  const attune::Folder folder;
  const auto path = folder.write("x.safetensors", file_with("{" + entry("a", "F32", "[5000]", 0, 20000) + "}", 20000));
  auto file = Safetensors::open(path);
  REQUIRE(file);
  std::filesystem::resize_file(path, 10000);
  CHECK_THAT(file->read<float>("a", {5000}).error().message, Contains("tensor 'a' cannot be read"));
}

TEST_CASE("malformed files are refused in a sentence", "[sentence_similarity]") {
  const auto [what, text] = GENERATE(table<std::string, std::string>({
      {"has 0 bytes; a .safetensors file begins with", ""},
      {"has 7 bytes", "1234567"},
      {"its header has 2 bytes, of which 1 are there", std::string("\2\0\0\0\0\0\0\0{", 9)},
      {"its header has 18446744073709551615 bytes, of which 0 are there", std::string(8, '\xff')},
      {"its header is not a JSON object", file_with("{", 0)},
      {"its header is not a JSON object", file_with("[]", 0)},
      {"its header is not a JSON object", file_with("{\"\xff\":1}", 0)},
      {"its header is not a JSON object", file_with(std::string(100000, '['), 0)},
      {"one description for each name", file_with("{" + entry("a", "U8", "[1]", 0, 1) + "," + entry("a", "U8", "[1]", 0, 1) + "}", 1)},
      {"tensor 'a' is not described by", file_with(R"({"a":1})", 0)},
      {"tensor 'a' is not described by", file_with(R"({"a":{"dtype":"U8","shape":[1]}})", 1)},
      {"tensor 'a' is not described by", file_with("{" + entry("a", "U8", "[-1]", 0, 1) + "}", 1)},
      {"tensor 'a' is not described by", file_with("{" + entry("a", "U8", "[1.0]", 0, 1) + "}", 1)},
      {"tensor 'a' is not described by", file_with("{" + entry("a", "U8", "[18446744073709551615]", 0, 1) + "}", 1)},
      {"tensor 'a' has the unknown type \"F31\"", file_with("{" + entry("a", "F31", "[1]", 0, 4) + "}", 4)},
      {"tensor 'a' lies in bytes 0 to 4 of 3", file_with("{" + entry("a", "F32", "[1]", 0, 4) + "}", 3)},
      {"tensor 'a' lies in bytes 4 to 0 of 4", file_with("{" + entry("a", "F32", "[1]", 4, 0) + "}", 4)},
      {"tensor 'a' is F32 [2], which does not take the 4 bytes from 0 to 4", file_with("{" + entry("a", "F32", "[2]", 0, 4) + "}", 4)},
      {"which does not take the 0 bytes", file_with("{" + entry("a", "F32", "[4294967296,4294967296]", 0, 0) + "}", 0)},
      {"tensor 'b' begins at byte 2 and the one before it ends at 4",
       file_with("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", 2, 6) + "}", 6)},
      {"tensor 'b' begins at byte 5 and the one before it ends at 4",
       file_with("{" + entry("a", "F32", "[1]", 0, 4) + "," + entry("b", "F32", "[1]", 5, 9) + "}", 9)},
      {"6 bytes follow its header, of which the tensors take 4", file_with("{" + entry("a", "F32", "[1]", 0, 4) + "}", 6)},
  }));
  CAPTURE(text.substr(0, 200));
  const attune::Folder folder;
  const auto file = Safetensors::open(folder.write("x.safetensors", text));
  REQUIRE_FALSE(file);
  CHECK_THAT(file.error().message, Contains("x.safetensors': ") && Contains(what));
}

TEST_CASE("a missing file and a folder are refused", "[sentence_similarity]") {
  const attune::Folder folder;
  CHECK_THAT(Safetensors::open(folder / "none").error().message, Contains("none': cannot be opened"));
  CHECK_THAT(Safetensors::open(folder / "").error().message, Contains("cannot be opened"));
}

TEST_CASE("every damaged header is refused or gives tensors inside the file", "[sentence_similarity]") {
  const attune::Folder folder;
  const std::string whole = file_with("{" + entry("a", "F32", "[3]", 0, 12) + "," + entry("b", "U8", "[2,4]", 12, 20) + "}", 20);
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(Safetensors::open(folder.write("x.safetensors", whole.substr(0, length))));

  const unsigned seed = 20240608;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string_view likely = "{}[]\",:-0123456789.eFUI \xff";
  int accepted = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (auto change = random() % 3 + 1; change > 0; --change) text[random() % (whole.size() - 20)] = likely[random() % likely.size()];
    auto file = Safetensors::open(folder.write("x.safetensors", text));
    ++(file ? accepted : refused);
    if (!file) REQUIRE_THAT(file.error().message, Contains("x.safetensors': "));
    if (file && file->read<float>("a", {3})) CHECK(file->read<float>("a", {3})->size() == 3);
  }
  CHECK(accepted > 0);
  CHECK(refused > accepted);
}
