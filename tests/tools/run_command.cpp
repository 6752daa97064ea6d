#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/tools/causal_files.h"
#include "tests/tools/headers.h"

namespace attune {
namespace {

/// The bits of a half; the numbers of `wave` are exact.
std::uint16_t half_bits(double x) {
  if (x == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);  // in [0.5, 1)
  return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | (static_cast<int>(fraction * 2048) & 1023));
}

NpyArray stored_as_halves(const std::vector<std::int64_t>& shape) {
  NpyArray array = stored_as<std::uint16_t>(shape);
  std::vector<std::uint16_t> bits;
  for (const double x : wave(array.size())) bits.push_back(half_bits(x));
  array = NpyArray::of<std::uint16_t>(shape, bits);
  array.type = NpyType::f16;
  return array;
}

/// Attention of the wave, as the variant says it: each query sees the keys up to its own position.
std::vector<double> causal_of_wave() {
  const std::vector<double> q = wave(80), k = wave(112), v = wave(42);
  std::vector<double> out;
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t i = 0; i < 5; ++i) {
      std::array<double, 3> sum{};
      double total = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < 8; ++d) score += q[(h * 5 + i) * 8 + d] * k[(h * 7 + j) * 8 + d];
        const double weight = std::exp(score / std::sqrt(8.0));
        total += weight;
        for (std::size_t d = 0; d < 3; ++d) sum[d] += weight * v[(h * 7 + j) * 3 + d];
      }
      for (const double x : sum) out.push_back(x / total);
    }
  return out;
}

template <class T>
double largest_difference(const NpyArray& array) {
  const auto got = array.values<T>();
  REQUIRE(got);
  const std::vector<double> expected = causal_of_wave();
  REQUIRE(got->size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double x;
    if constexpr (std::is_same_v<T, std::uint16_t>) x = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>((*got)[i]) << 16));
    else x = static_cast<double>((*got)[i]);
    worst = std::max(worst, std::fabs(x - expected[i]));
  }
  return worst;
}

}  // namespace

TEST_CASE("run computes the same from a variant, a kernel file, a header and the interpreter", "[command line]") {
  const CausalFiles files(stored_as<float>);
  attune_says({"compile", "causal", "--shared", "--size", "small", "-o", files.folder / "."});
  CHECK(largest_difference<float>(files.run({"causal"})) < 1e-5);
  CHECK(largest_difference<float>(files.run({files.folder / "causal.so", "--threads", "1"})) < 1e-5);
  CHECK(largest_difference<double>(files.run({"causal", "--interpret"})) < 1e-12);
  const std::string header = files.folder.write("reach.h", good_header);
  const NpyArray reach = files.run({header, "--struct", "Reach"});
  const NpyArray interpreted = files.run({header, "--struct", "Reach", "--interpret"});
  for (std::size_t i = 0; i < 30; ++i)
    CHECK(static_cast<double>((*reach.values<float>())[i]) == Approx((*interpreted.values<double>())[i]).margin(1e-5));
}

TEST_CASE("run compiles the codes that its call takes alone", "[command line]") {
  const CausalFiles files(stored_as<float>);
  const Folder kept;
  Words words{"run", "causal"};
  words.insert(words.end(), files.inputs.begin(), files.inputs.end());
  const Ran ran = run_attune(words, {{"ATTUNE_CODES", kept / ""}});
  INFO(ran.err);
  CHECK(ran.status == 0);
  int codes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kept / "")) codes += entry.is_regular_file();
  CHECK(codes == 1);  // that of attention for tiny calls
}

TEST_CASE("run reads each input once, from a pipe too", "[command line]") {
  const CausalFiles files(stored_as<float>);
  Words words{"run", "causal"};
  words.insert(words.end(), files.inputs.begin(), files.inputs.end());
  const std::string pipe = files.folder / "pipe", text = words.back(), file = text.substr(text.find('=') + 1);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  words.back() = text.substr(0, text.find('=') + 1) + pipe;
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << std::ifstream(file, std::ios::binary).rdbuf(); });
  const Ran ran = run_attune(words);
  close(open(pipe.c_str(), O_RDONLY | O_NONBLOCK));  // a writer that nobody read would wait
  writer.join();
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK(ran.out.starts_with("out: f32 [1 x 2 x 5 x 3]"));
}

TEST_CASE("bf16 stands as uint16 in files", "[command line]") {
  const CausalFiles files(stored_as<std::uint16_t>);
  const NpyArray out = files.run({"causal", "--type", "bf16"});
  CHECK(out.type == NpyType::u16);
  CHECK(largest_difference<std::uint16_t>(out) < 0.02);
  CHECK(largest_difference<double>(files.run({"causal", "--interpret"})) < 1e-12);
}

TEST_CASE("the interpreter reads halves and doubles", "[command line]") {
  CHECK(largest_difference<double>(CausalFiles(stored_as_halves).run({"causal", "--interpret"})) < 1e-12);
  CHECK(largest_difference<double>(CausalFiles(stored_as<double>).run({"causal", "--interpret"})) < 1e-12);
}

}  // namespace attune
