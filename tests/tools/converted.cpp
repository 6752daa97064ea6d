#include "tools/attune/converted.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tools/attune/summary.h"

namespace attune {
namespace {

template <class T>
NpyArray file_of(std::vector<T> values) {
  return NpyArray::of<T>({static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
}

/// The elements after conversion, which must succeed without a note.
std::vector<double> kept(const NpyArray& file, attune_storage storage) {
  const Converted converted = convert(file, storage, "input 'x'");
  CHECK(converted.problem.empty());
  CHECK(converted.note.empty());
  CHECK(converted.array.storage == storage);
  CHECK(converted.array.extents == file.shape);
  return numbers(converted.array);
}

std::string problem_of(const NpyArray& file, attune_storage storage) { return convert(file, storage, "input 'x'").problem; }

constexpr std::array all_storages = {attune_f32, attune_f64, attune_bf16, attune_i8, attune_u8, attune_i32, attune_i64, attune_boolean};

}  // namespace

TEMPLATE_TEST_CASE("integers of every size become every kind that holds them", "[inputs]", std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                   std::uint32_t, std::uint64_t) {
  for (const attune_storage storage : all_storages) CHECK(kept(file_of<TestType>({0, 1, 1, 0, 1}), storage) == std::vector<double>{0, 1, 1, 0, 1});
  for (const attune_storage storage : {attune_f32, attune_i8, attune_i64})
    CHECK(kept(file_of<TestType>({127, 3}), storage) == std::vector<double>{127, 3});
}

TEST_CASE("integers that do not fit are refused with their element", "[inputs]") {
  CHECK(problem_of(file_of<std::int64_t>({1, 3000000000}), attune_i32) == "element 1 is 3000000000; input 'x' takes i32, from -2147483648 to 2147483647");
  CHECK(problem_of(file_of<std::int32_t>({-1}), attune_u8) == "element 0 is -1; input 'x' takes u8, from 0 to 255");
  CHECK(problem_of(file_of<std::uint8_t>({0, 1, 2}), attune_boolean) == "element 2 is 2; input 'x' takes boolean, from 0 to 1");
  CHECK(problem_of(file_of<std::uint64_t>({1ULL << 63}), attune_i64) == "element 0 is 9223372036854775808; kernels take integers up to 2^63 - 1");
  CHECK(problem_of(file_of<std::int32_t>({16777216, 16777217}), attune_f32) == "element 1 is 16777217; input 'x' takes f32, which has no such number");
  CHECK(problem_of(file_of<std::int64_t>({std::numeric_limits<std::int64_t>::max()}), attune_f64).find("which has no such number") !=
        std::string::npos);
  CHECK(problem_of(file_of<std::int64_t>({std::numeric_limits<std::int64_t>::min()}), attune_f16) ==
        "element 0 is -9223372036854775808; input 'x' takes f16, which has no such number");
  CHECK(kept(file_of<std::uint16_t>({65535}), attune_i64) == std::vector<double>{65535});
}

TEST_CASE("an i64 beyond 2^53 stays the integer that it is", "[inputs]") {
  const std::uint64_t large = (1ULL << 53) + 1;
  const Converted converted = convert(file_of<std::uint64_t>({large}), attune_i64, "input 'x'");
  std::int64_t got = 0;
  REQUIRE(converted.array.bytes.size() == sizeof got);
  std::memcpy(&got, converted.array.bytes.data(), sizeof got);
  CHECK(got == static_cast<std::int64_t>(large));
}

TEST_CASE("reals are rounded with a note, and not to infinity", "[inputs]") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(kept(file_of<double>({0.5, -infinity, 3}), attune_f32) == std::vector<double>{0.5, -infinity, 3});
  const Converted rounded = convert(file_of<double>({0.1, nan, 0.5, 1e-60}), attune_f32, "input 'x'");
  CHECK(rounded.note == "2 of 4 numbers are rounded to f32 for input 'x'");
  CHECK(numbers(rounded.array)[0] == static_cast<double>(0.1F));
  CHECK(std::isnan(numbers(rounded.array)[1]));
  CHECK(convert(file_of<float>({1.5, 1.001F}), attune_bf16, "input 'x'").note == "1 of 2 numbers are rounded to bf16 for input 'x'");
  CHECK(problem_of(file_of<double>({1, 1e300}), attune_f32) == "element 1 is 1e+300; input 'x' takes f32, where that is infinite");
  NpyArray halves = file_of<std::uint16_t>({0x3c00, 0xb800});
  halves.type = NpyType::f16;
  CHECK(kept(halves, attune_f32) == std::vector<double>{1, -0.5});
  CHECK(kept(halves, attune_f16) == std::vector<double>{1, -0.5});
  CHECK(convert(file_of<float>({1.5, 1.001F}), attune_f16, "input 'x'").note == "1 of 2 numbers are rounded to f16 for input 'x'");
  CHECK(problem_of(file_of<float>({65504, 65520}), attune_f16) == "element 1 is 65520; input 'x' takes f16, where that is infinite");
}

TEST_CASE("reals are no integers, booleans no reals, and u16 no f32", "[inputs]") {
  for (const attune_storage storage : {attune_i8, attune_u8, attune_i32, attune_i64, attune_boolean}) {
    CHECK(problem_of(file_of<float>({1}), storage).starts_with("holds f32; input 'x' takes "));
    CHECK(problem_of(file_of<double>({1}), storage).starts_with("holds f64; input 'x' takes "));
  }
  const bool truth[] = {true, false};
  const NpyArray booleans = NpyArray::of<bool>({2}, truth);
  CHECK(problem_of(booleans, attune_f32) == "holds boolean; input 'x' takes f32");
  CHECK(kept(booleans, attune_i64) == std::vector<double>{1, 0});
  CHECK(problem_of(file_of<std::uint16_t>({1}), attune_f32) == "holds u16; input 'x' takes f32");
  CHECK(kept(file_of<std::uint16_t>({0x3f80}), attune_bf16) == std::vector<double>{1});
  CHECK(problem_of(booleans, attune_f16) == "holds boolean; input 'x' takes f16");
}

TEST_CASE("a summary has range and mean of what is finite, and counts the rest", "[inputs]") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(summary("out", stored({1, -2, nan, infinity, 2.5, -infinity}, {2, 3}, attune_f32)) == "out: f32 [2 x 3], -2 to 2.5, mean 0.5, 1 NaN, 2 infinite");
  CHECK(summary("out", stored({1e308, 1e308}, {2}, attune_f64)) == "out: f64 [2], 1e+308 to 1e+308, mean 1e+308, 0 NaN, 0 infinite");
  CHECK(summary("out", stored({nan}, {1}, attune_bf16)) == "out: bf16 [1], no finite element, 1 NaN, 0 infinite");
  CHECK(summary("is_seen", stored({1, 0, 0, 1}, {4}, attune_boolean)) == "is_seen: boolean [4], 0 to 1, mean 0.5, 0 NaN, 0 infinite");
  CHECK(summary("out", stored({}, {0, 3}, attune_f32)) == "out: f32 [0 x 3], no elements");
}

}  // namespace attune
