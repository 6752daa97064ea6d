#include <sys/stat.h>

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "samples/text_generation/blocks.h"
#include "tests/folder.h"

using namespace text_generation;
using Catch::Matchers::Contains;

namespace {

/// A file's bytes, written field by field.
struct Bytes {
  std::string text;

  template <class T>
  Bytes& number(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& name(std::string_view name) {
    number<std::uint64_t>(name.size());
    text += name;
    return *this;
  }
  Bytes& begin(std::uint64_t tensors, std::uint64_t values, std::uint32_t version = 3) {
    text += "GGUF";
    return number(version).number(tensors).number(values);
  }
  Bytes& tensor(std::string_view title, std::initializer_list<std::int64_t> shape, std::uint32_t type, std::uint64_t offset) {
    name(title).number(static_cast<std::uint32_t>(shape.size()));
    for (const std::int64_t extent : shape) number(extent);
    return number(type).number(offset);
  }
  Bytes& data(std::size_t bytes) {
    while (text.size() % 32 != 0) text += '\0';
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i);
    return *this;
  }
};

/// Two values and two tensors: a of f32, w of one block of Q4_1.
std::string whole_file() {
  Bytes bytes;
  bytes.begin(2, 3).name("n").number(4u).number(7u).name("words").number(9u).number(8u).number<std::uint64_t>(2).name("ab").name("");
  bytes.name("share").number(6u).number(0.5f);
  return bytes.tensor("a", {2, 2}, 0, 0).tensor("w", {32}, 3, 32).data(32 + 20).text;
}

}  // namespace

TEST_CASE("values and tensors of a GGUF file are read by name, type and shape", "[text_generation]") {
  const attune::Folder folder;
  const auto file = Gguf::open(folder.write("x.gguf", whole_file()));
  REQUIRE(file);
  CHECK(file->value<std::int64_t>("n").value() == 7);
  CHECK(file->value<double>("share").value() == 0.5);
  CHECK(file->value<std::vector<std::string>>("words").value() == std::vector<std::string>{"ab", ""});
  const auto a = file->tensor("a", {2, 2});
  REQUIRE(a);
  CHECK(a->type == TensorType::f32);
  CHECK(a->bytes.size() == 16);
  CHECK(a->bytes[5] == std::byte{5});
  const std::string who = "file '" + (folder / "x.gguf").string() + "': ";
  CHECK(file->value<std::int64_t>("m").error().message == who + "has no value 'm'");
  CHECK(file->value<std::string>("n").error().message == who + "value 'n' must be a text");
  CHECK(file->tensor("b", {1}).error().message == who + "has no tensor 'b'");
  CHECK(file->tensor("a", {4}).error().message == who + "tensor 'a' is [2 x 2], expected [4]");
}

TEST_CASE("blocks are scale times integer plus minimum", "[text_generation]") {
  const attune::Folder folder;
  Bytes bytes;
  bytes.begin(2, 0).tensor("q4", {32}, 3, 0).tensor("q8", {64}, 8, 32).data(0);
  bytes.number(attune::float16(0.5f).bits).number(attune::float16(-2.f).bits);
  for (int i = 0; i < 16; ++i) bytes.number(static_cast<std::uint8_t>(i | (15 - i) << 4));
  bytes.text.resize(bytes.text.size() + 12);
  for (int block = 0; block < 2; ++block) {
    bytes.number(attune::float16(block == 0 ? 1.f : 0.25f).bits);
    for (int i = 0; i < 32; ++i) bytes.number(static_cast<std::int8_t>(i - 16));
  }
  const auto file = Gguf::open(folder.write("x.gguf", bytes.text));
  REQUIRE(file);
  std::vector<float> reals(32);
  read_reals(file->tensor("q4", {32}).value(), 0, reals);
  for (int i = 0; i < 16; ++i) {
    CHECK(reals[static_cast<std::size_t>(i)] == 0.5f * static_cast<float>(i) - 2);
    CHECK(reals[static_cast<std::size_t>(i + 16)] == 0.5f * static_cast<float>(15 - i) - 2);
  }
  read_reals(file->tensor("q8", {64}).value(), 32, reals);
  for (int i = 0; i < 32; ++i) CHECK(reals[static_cast<std::size_t>(i)] == 0.25f * static_cast<float>(i - 16));
}

TEST_CASE("malformed GGUF files are refused in a sentence", "[text_generation]") {
  const auto [what, text] = GENERATE(table<std::string, std::string>({
      {"is cut off: a number of 4 bytes begins at byte 0", ""},
      {"is no GGUF file", "GGML and more"},
      {"is cut off: a number of 4 bytes begins at byte 4", "GGUF"},
      {"is GGUF of version 2; version 3 can be read", Bytes().begin(0, 0, 2).text},
      {"has 18446744073709551615 tensors from byte 16 on", Bytes().begin(~std::uint64_t{0}, 0).text},
      {"has 5 values from byte 24 on, with 0 bytes left", Bytes().begin(0, 5).text},
      {"is cut off: a text of 1000 bytes", Bytes().begin(0, 1).number<std::uint64_t>(1000).number<std::uint64_t>(0).text},
      {"has a value of type 13", Bytes().begin(0, 1).name("n").number(13u).number(1u).text},
      {"has a list of values of type 9", Bytes().begin(0, 1).name("n").number(9u).number(9u).number(1u).text},
      {"has 99 numbers from byte 49 on", Bytes().begin(0, 1).name("n").number(9u).number(4u).number<std::uint64_t>(99).text},
      {"has a name with a control character in it at byte 24", Bytes().begin(0, 1).name("n\n").number(4u).number(1u).text},
      {"has the value 'n' twice", Bytes().begin(0, 2).name("n").number(4u).number(1u).name("n").number(4u).number(1u).text},
      {"value 'general.alignment' must be an integer", Bytes().begin(0, 1).name("general.alignment").number(8u).name("x").text},
      {"its alignment is 0", Bytes().begin(0, 1).name("general.alignment").number(4u).number(0u).text},
      {"tensor 'a' has 5 dims", Bytes().begin(1, 0).tensor("a", {1, 1, 1, 1, 1}, 0, 0).data(4).text},
      {"tensor 'a' is stored as type 2; F32 (0)", Bytes().begin(1, 0).tensor("a", {32}, 2, 0).data(64).text},
      {"tensor 'a' is Q4_1 [31], which is no number of blocks of 32", Bytes().begin(1, 0).tensor("a", {31}, 3, 0).data(64).text},
      {"tensor 'a' is F32 [-4], which", Bytes().begin(1, 0).tensor("a", {-4}, 0, 0).data(64).text},
      {"tensor 'a' is F32 [4611686018427387904 x 4], which", Bytes().begin(1, 0).tensor("a", {std::int64_t{1} << 62, 4}, 0, 0).data(64).text},
      {"tensor 'a' begins at byte 8, which is no multiple of 32", Bytes().begin(1, 0).tensor("a", {4}, 0, 8).data(64).text},
      {"is cut off: tensor 'a' takes 16 bytes from 64 on, of 64", Bytes().begin(1, 0).tensor("a", {4}, 0, 64).data(64).text},
      {"is cut off: tensor 'a' takes 16 bytes from 0 on, of 0", Bytes().begin(1, 0).tensor("a", {4}, 0, 0).text},
      {"has the tensor 'a' twice", Bytes().begin(2, 0).tensor("a", {1}, 0, 0).tensor("a", {1}, 0, 0).data(4).text},
  }));
  CAPTURE(text);
  const attune::Folder folder;
  const auto file = Gguf::open(folder.write("x.gguf", text));
  REQUIRE_FALSE(file);
  CHECK_THAT(file.error().message, Contains("x.gguf': ") && Contains(what));
}

TEST_CASE("a missing GGUF file and a folder are refused", "[text_generation]") {
  const attune::Folder folder;
  CHECK_THAT(Gguf::open(folder / "none").error().message, Contains("none': cannot be read: No such file"));
  CHECK_THAT(Gguf::open(folder / "").error().message, Contains("is no regular file"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(Gguf::open(folder / "pipe").error().message, Contains("is no regular file"));  // and is not waited for
}

TEST_CASE("every damaged GGUF file is refused or gives tensors inside the file", "[text_generation]") {
  const attune::Folder folder;
  const std::string whole = whole_file();
  for (std::size_t length = 0; length < whole.size(); ++length) CHECK_FALSE(Gguf::open(folder.write("x.gguf", whole.substr(0, length))));
  const unsigned seed = 20241101;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    std::string damaged = whole;
    for (unsigned i = 0; i <= random() % 3; ++i) damaged[random() % (whole.size() - 52)] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    const auto file = Gguf::open(folder.write("x.gguf", damaged));
    if (!file) continue;
    for (const auto& [name, shape] : {std::pair<std::string, std::vector<std::int64_t>>("a", {2, 2}), {"w", {32}}})
      if (const auto tensor = file->tensor(name, shape)) {
        std::vector<float> reals(name == "a" ? 4 : 32);
        read_reals(*tensor, 0, reals);
      }
  }
}
