/// Kernel files that are changed at random: none opens, each is refused in words.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "runtime/words.h"
#include "tests/hostile/random.h"
#include "tests/hostile/watched.h"
#include "tests/runtime/kernel_files.h"

namespace attune {
namespace {

constexpr std::size_t trailer_bytes = sizeof(Trailer);

/// A place in the file: in its headers, in its trailer, or anywhere.
std::size_t some_place(const std::string& bytes, Random& random) {
  constexpr std::size_t header_bytes = 1024;
  switch (random.below(3)) {
    case 0:
      return random.below(std::min(header_bytes, bytes.size()));
    case 1:
      return bytes.size() - 1 - random.below(trailer_bytes);
    default:
      return random.below(bytes.size());
  }
}

std::string random_bytes(std::size_t count, Random& random) {
  std::string bytes(count, 0);
  for (char& byte : bytes) byte = static_cast<char>(random.number());
  return bytes;
}

void flip_bits(std::string& bytes, Random& random) {
  for (std::size_t flips = random.one_in(2) ? 1 : 1 + random.below(100); flips > 0; --flips) {
    char& byte = bytes[some_place(bytes, random)];
    byte = static_cast<char>(byte ^ (1 << random.below(8)));
  }
}

void overwrite(std::string& bytes, Random& random) {
  const std::size_t first = some_place(bytes, random), count = std::min(1 + random.below(5000), bytes.size() - first);
  bytes.replace(first, count, random.one_in(2) ? std::string(count, 0) : random_bytes(count, random));
}

void truncate(std::string& bytes, Random& random) {
  bytes.resize(random.one_in(2) ? bytes.size() - 1 - random.below(200) : random.below(bytes.size()));
}

void extend(std::string& bytes, Random& random) {
  const std::string more = random.one_in(3)   ? bytes
                           : random.one_in(2) ? bytes.substr(bytes.size() - trailer_bytes)
                                              : random_bytes(1 + random.below(5000), random);
  bytes.insert(random.one_in(2) ? bytes.size() : bytes.size() - trailer_bytes, more);
}

void swap_blocks(std::string& bytes, Random& random) {
  const std::size_t count = std::size_t{1} << random.below(13), blocks = bytes.size() / count;
  const std::size_t a = random.below(blocks) * count, b = random.below(blocks) * count;
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a), bytes.begin() + static_cast<std::ptrdiff_t>(a + (a == b ? 0 : count)),
                   bytes.begin() + static_cast<std::ptrdiff_t>(b));
}

void insert(std::string& bytes, Random& random) { bytes.insert(some_place(bytes, random), random_bytes(1 + random.below(100), random)); }
void erase(std::string& bytes, Random& random) { bytes.erase(some_place(bytes, random), 1 + random.below(5000)); }

constexpr std::array damages = {flip_bits, overwrite, truncate, extend, swap_blocks, insert, erase};

/// What is wrong with how the file is taken; empty if it is refused in words.
std::string opening_problem(const std::filesystem::path& path) {
  const Result<Library> library = Library::open(path);
  if (library) return "opens";
  const std::string& sentence = library.error().message;
  return sentence.rfind("kernel file '" + path.string() + "': ", 0) == 0 && sentence.back() != '.'
             ? ""
             : "is refused without a sentence: '" + sentence + "'";
}

Found open_damaged_files(int count, std::uint64_t seed) {
  return watched([&] {
    const Folder folder;
    const std::array<std::string, 2> good = {contents(kernel_file(folder, "kernels")), contents(kernel_file(folder, "product"))};
    Random random(seed);
    Found found;
    while (found.count < count) {
      const std::size_t which = random.below(2);
      const std::string& whole = good[which];
      std::string changed = whole;
      if (random.one_in(20))
        changed.replace(changed.size() - trailer_bytes, trailer_bytes, good[1 - which].substr(good[1 - which].size() - trailer_bytes));
      for (std::size_t times = 1 + random.below(2); times > 0 && changed.size() > 8192; --times) random.one_of(damages)(changed, random);
      if (changed == whole) continue;
      const std::string problem = opening_problem(folder.write("changed.so", changed));
      ++found.count;
      if (!problem.empty()) return Found{found.count, words("damaged file ", found.count, " of seed ", seed, " ", problem)};
    }
    for (const char* name : {"kernels", "product"})
      if (!Library::open(kernel_file(folder, name))) return Found{found.count, words(name, ".so does not open after the damaged ones")};
    return found;
  });
}

}  // namespace

TEST_CASE("no damaged kernel file opens", "[damage]") {
  const Folder folder;
  CHECK(opening_problem(kernel_file(folder, "kernels")) == "opens");
  const Found found = open_damaged_files(200, 1);
  CHECK(found.problem == "");
  tell("damaged kernel files", found.count);
}

TEST_CASE("of many damaged kernel files none opens", "[.hostile]") {
  const Found found = open_damaged_files(5000, 2);
  CHECK(found.problem == "");
  tell("damaged kernel files", found.count);
}

}  // namespace attune
