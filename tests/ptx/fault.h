/// What ends a launch of the interpreter of PTX, and the names of threads in sentences.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace attune::ptx {

/// What a thread does wrong, as the end of a sentence that begins with its instruction.
struct Fault {
  std::string what;
  std::size_t thread = 0;
};

/// The place in a block of so many threads along x, y and z.
inline std::array<std::uint32_t, 3> thread_place(std::size_t thread, const std::array<std::uint32_t, 3>& block) {
  const auto t = static_cast<std::uint32_t>(thread);
  return {t % block[0], t / block[0] % block[1], t / block[0] / block[1]};
}

/// "(1, 0, 0)"
inline std::string in_words(const std::array<std::uint32_t, 3>& place) {
  return "(" + std::to_string(place[0]) + ", " + std::to_string(place[1]) + ", " + std::to_string(place[2]) + ")";
}

}  // namespace attune::ptx
