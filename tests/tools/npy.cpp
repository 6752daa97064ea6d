#include "tools/npy.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <random>

#include "tests/folder.h"

using namespace attune;
using Catch::Matchers::Contains;

namespace {

std::vector<std::byte> bytes_of_file(const std::filesystem::path& path) {
  const std::string text = contents(path);
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// The bytes of a version 1 file with that header and `data_bytes` zeros.
std::vector<std::byte> file_with(const std::string& header, std::size_t data_bytes) {
  std::string text = "\x93NUMPY";
  text += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  text += header + std::string(data_bytes, '\0');
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// The message of the refusal.
std::string refusal(const std::vector<std::byte>& bytes) {
  const auto array = parse_npy(bytes, "x.npy");
  REQUIRE_FALSE(array);
  return array.error().message;
}

}  // namespace

TEMPLATE_TEST_CASE("an array is read back as it was written", "[npy]", float, double, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool) {
  const Folder folder;
  TestType values[30] = {};
  for (int i = 0; i < 30; ++i) values[i] = static_cast<TestType>(i % 7);
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 3, 5}, {30}, {1, 30}, {6, 5, 1, 1}}) {
    REQUIRE(write_npy(folder / "x.npy", NpyArray::of<TestType>(shape, values)));
    const auto array = read_npy(folder / "x.npy");
    REQUIRE(array);
    CHECK(array->shape == shape);
    const auto read = array->template values<TestType>();
    REQUIRE(read);
    CHECK(std::equal(read->begin(), read->end(), std::begin(values), std::end(values)));
  }
  CHECK(folder.size() == 1);
}

TEST_CASE("arrays of rank 0, without elements and of f16 are read back", "[npy]") {
  const Folder folder;
  const std::vector<NpyArray> arrays = {{NpyType::f32, {}, std::vector<std::byte>(4)},
                                        {NpyType::i64, {3, 0, 2}, {}},
                                        {NpyType::f16, {3}, std::vector<std::byte>(6, std::byte{0x3c})}};
  for (const NpyArray& array : arrays) {
    REQUIRE(write_npy(folder / "x.npy", array));
    const auto read = read_npy(folder / "x.npy");
    REQUIRE(read);
    CHECK(read->type == array.type);
    CHECK(read->shape == array.shape);
    CHECK(read->data == array.data);
    CHECK_FALSE(read->values<double>());
  }
}

TEST_CASE("the bytes written are those that numpy.save writes", "[npy]") {
  const Folder folder;
  const float values[] = {1, 2, 3, 4, 5, 6};
  REQUIRE(write_npy(folder / "x.npy", NpyArray::of<float>({2, 3}, values)));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.append(128 - 10 - 1 - header.size(), ' ');
  std::vector<std::byte> expected = file_with(header + "\n", sizeof values);
  std::memcpy(expected.data() + 128, values, sizeof values);
  CHECK(bytes_of_file(folder / "x.npy") == expected);
}

TEST_CASE("a rank too large for version 1 is written as version 2", "[npy]") {
  const Folder folder;
  const NpyArray array{NpyType::u8, std::vector<std::int64_t>(30000, 1), std::vector<std::byte>(1)};
  REQUIRE(write_npy(folder / "x.npy", array));
  CHECK(bytes_of_file(folder / "x.npy")[6] == std::byte{2});
  const auto read = read_npy(folder / "x.npy");
  REQUIRE(read);
  CHECK(read->shape == array.shape);
}

TEST_CASE("what numpy accepts in a header is accepted", "[npy]") {
  const auto array = parse_npy(file_with("{\"shape\":(2,3),'descr':\"<f4\", 'fortran_order':False}", 24), "x.npy");
  REQUIRE(array);
  CHECK(array->shape == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("elements in Fortran order and big-endian ones are put in order", "[npy]") {
  const std::int16_t values[] = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};  // x[a, b, c] = 6 a + 2 b + c, a fastest, then b
  std::vector<std::byte> fortran = file_with("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1, 3, 2)}", sizeof values);
  std::memcpy(fortran.data() + fortran.size() - sizeof values, values, sizeof values);
  std::vector<std::byte> both = file_with("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 1, 3, 2)}", sizeof values);
  for (std::size_t i = 0; i < sizeof values; ++i) both[both.size() - sizeof values + i] = fortran[fortran.size() - sizeof values + (i ^ 1)];
  for (const std::vector<std::byte>& file : {fortran, both}) {
    const auto array = parse_npy(file, "x.npy");
    REQUIRE(array);
    CHECK(array->shape == std::vector<std::int64_t>{2, 1, 3, 2});
    const auto read = array->values<std::int16_t>();
    REQUIRE(read);
    for (std::size_t i = 0; i < 12; ++i) CHECK((*read)[i] == static_cast<std::int16_t>(i));
  }
  for (const char* shape : {"()", "(0, 3)", "(1,)"}) {
    const bool is_empty = shape[1] == '0';
    const auto array = parse_npy(file_with(std::string("{'descr': '>f4', 'fortran_order': True, 'shape': ") + shape + "}", is_empty ? 0 : 4), "x.npy");
    REQUIRE(array);
    CHECK(array->size() == (is_empty ? 0 : 1));
  }
}

TEST_CASE("files that are not supported are refused in a sentence", "[npy]") {
  const auto header = [](const std::string& descr, const std::string& order, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  };
  CHECK_THAT(refusal({}), Contains("file 'x.npy': is not a .npy file"));
  CHECK_THAT(refusal(file_with(header("'>f3'", "False", "(2,)"), 8)), Contains("element type '>f3' is not supported"));
  CHECK_THAT(refusal(file_with(header("'<U3'", "False", "(2,)"), 24)), Contains("element type '<U3' is not supported"));
  CHECK_THAT(refusal(file_with(header("'<c8'", "False", "(2,)"), 16)), Contains("element type '<c8' is not supported"));
  CHECK_THAT(refusal(file_with(header("[('a', '<f4')]", "False", "(2,)"), 8)), Contains("its header is '{'descr': [('a'"));
  CHECK_THAT(refusal(file_with(header("'<f4'", "False", "(2)"), 8)), Contains("its header is"));
  CHECK_THAT(refusal(file_with(header("'<f4'", "False", "(-2,)"), 8)), Contains("its header is"));
  CHECK_THAT(refusal(file_with(header("'<f4'", "False", "(99999999999999999999,)"), 8)), Contains("its header is"));
  CHECK_THAT(refusal(file_with(header("'<f4'", "False", "(2, 3)"), 20)),
             Contains("f32 [2 x 3] does not take the 20 bytes after the header; expected 24"));
  CHECK_THAT(refusal(file_with(header("'<f4'", "False", "(2, 3)"), 28)), Contains("expected 24"));
  CHECK_THAT(refusal(file_with(header("'<f4'", "False", "(4294967296, 4294967296)"), 0)),
             Contains("does not take the 0 bytes after the header"));
  CHECK_THAT(refusal(file_with("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4)), Contains("its header is"));

  std::vector<std::byte> bytes = file_with(header("'|b1'", "False", "(2,)"), 2);
  bytes.back() = std::byte{7};
  CHECK_THAT(refusal(bytes), Contains("boolean 1 is 7; expected 0 or 1"));
  bytes[6] = std::byte{3};
  CHECK_THAT(refusal(bytes), Contains(".npy version 3.0 is not supported"));
}

TEST_CASE("a missing file, a folder and a place that cannot be written are refused", "[npy]") {
  const Folder folder;
  CHECK(read_npy(folder / "none.npy").error().message == "file '" + (folder / "none.npy").string() + "': cannot be opened: No such file or directory");
  CHECK_THAT(read_npy(folder / "").error().message, Contains("is a folder"));
  CHECK_THAT(read_npy("/dev/zero").error().message, Contains("is not a .npy file"));  // which never ends
  const float one[] = {1};
  REQUIRE(write_npy(folder / "large.npy", NpyArray::of<float>({1}, one)));
  std::filesystem::resize_file(folder / "large.npy", std::uintmax_t{1} << 40);  // larger than any memory, and no block of the disk
  CHECK_THAT(read_npy(folder / "large.npy").error().message, Contains("f32 [1] does not take the 1099511627648 bytes after the header; expected 4"));
  const auto written = write_npy(folder / "none/x.npy", NpyArray::of<float>({0}, {}));
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().message, Contains("cannot be written"));
}

TEST_CASE("a device stays a device and a link stays a link", "[npy]") {
  const Folder folder;
  const float values[] = {1};
  REQUIRE(write_npy("/dev/null", NpyArray::of<float>({1}, values)));
  CHECK(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::create_symlink("target.npy", folder / "link.npy");
  REQUIRE(write_npy(folder / "link.npy", NpyArray::of<float>({1}, values)));
  CHECK(std::filesystem::is_symlink(folder / "link.npy"));
  CHECK(read_npy(folder / "target.npy"));
  REQUIRE(write_npy(folder / "link.npy", NpyArray::of<float>({1, 1}, values)));
  CHECK(std::filesystem::is_symlink(folder / "link.npy"));
  CHECK(read_npy(folder / "target.npy")->shape.size() == 2);
}

TEST_CASE("every damaged file gives an array that fits or a sentence", "[npy]") {
  const Folder folder;
  const float values[] = {1, 2, 3, 4, 5, 6};
  REQUIRE(write_npy(folder / "x.npy", NpyArray::of<float>({2, 3}, values)));
  const std::vector<std::byte> whole = bytes_of_file(folder / "x.npy");
  for (std::size_t length = 0; length < whole.size(); ++length) CHECK_FALSE(parse_npy(std::span(whole).first(length), "x.npy"));

  const unsigned seed = 20240607;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string_view likely = "{}()[]'\",:-0123456789<>|fiub \n\xff";
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes = whole;
    for (auto change = random() % 4 + 1; change > 0; --change)
      bytes[random() % 80] = static_cast<std::byte>(likely[random() % likely.size()]);
    const auto array = parse_npy(bytes, "x.npy");
    if (!array) {
      REQUIRE_THAT(array.error().message, Contains("file 'x.npy': "));
      continue;
    }
    ++accepted;
    std::size_t expected = bytes_of(array->type);
    for (std::int64_t extent : array->shape) expected *= static_cast<std::size_t>(extent);
    REQUIRE(array->data.size() == expected);
  }
  CHECK(accepted > 0);
  CHECK(accepted < 20000);
}
