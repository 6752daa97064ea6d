/// The inputs of one small call of `causal` as files, for tests of commands that read them.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {

/// Elements that differ from one to the next and are exact in bf16.
inline std::vector<double> wave(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>((i * 37) % 65 - 32) / 32);
  return values;
}

template <class T>
NpyArray stored_as(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<T> elements;
  for (const double x : wave(count)) {
    if constexpr (std::is_same_v<T, std::uint16_t>) elements.push_back(static_cast<T>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16));
    else elements.push_back(static_cast<T>(x));
  }
  return NpyArray::of<T>(shape, elements);
}

/// q, k and v of one call of `causal`, as files; and the words that name them.
struct CausalFiles {
  Folder folder;
  Words inputs;

  template <class Make>
  explicit CausalFiles(Make make, std::int64_t depth = 8) {
    const std::map<std::string, std::vector<std::int64_t>> shapes = {{"q", {1, 2, 5, depth}}, {"k", {1, 2, 7, depth}}, {"v", {1, 2, 7, 3}}};
    for (const auto& [name, shape] : shapes) {
      const std::string file = folder / (name + ".npy").c_str();
      REQUIRE(write_npy(file, make(shape)));
      inputs.insert(inputs.end(), {"--in", name + "=" + file});
    }
  }

  /// Runs with these words in front, and reads `out`.
  NpyArray run(Words words) const {
    const std::string file = folder / "out.npy";
    words.insert(words.begin(), "run");
    words.insert(words.end(), inputs.begin(), inputs.end());
    words.insert(words.end(), {"--out", "out=" + file});
    attune_says(words);
    const Result<NpyArray> out = read_npy(file);
    REQUIRE(out);
    CHECK(out->shape == std::vector<std::int64_t>{1, 2, 5, 3});
    return *out;
  }
};

}  // namespace attune
