#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/codegen/kernel_case.h"
#include "tests/random_graph.h"

namespace attune {
namespace {

/// Compiles the graph of a seed, every second one for its extents alone where they are positive, as known ones must be, and compares its kernel with the interpreter.
std::string difference_of_seed(std::uint64_t seed, const RandomChoices& choices) {
  const RandomGraph random = random_graph(seed, choices);
  std::vector<std::string> known = seed % 2 == 0 ? known_extents(random.graph, random.inputs) : std::vector<std::string>();
  std::erase_if(known, [](const std::string& dim) { return dim.ends_with("=0"); });
  const KernelCase kernel(random.graph, "random", {.set = known});
  const std::string difference = kernel.difference(kernel.extents_of(random.inputs), random.inputs);
  return difference.empty() ? difference : "seed " + std::to_string(seed) + ": " + difference;
}

}  // namespace

TEST_CASE("kernels of random graphs agree with the interpreter", "[property]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK(difference_of_seed(seed, {}) == "");
}

TEST_CASE("kernels of random graphs with infinite literals, ids outside and masks without a softmax agree with the interpreter", "[property]") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) CHECK(difference_of_seed(seed, {.has_special = true}) == "");
}

TEST_CASE("a kernel for known extents leaves out places before an array's first element", "[property]") {
  CHECK(difference_of_seed(210, {.has_special = true}) == "");
}

TEST_CASE("kernels of many random graphs agree with the interpreter", "[.full]") {
  for (std::uint64_t seed = 100; seed < 300; ++seed) {
    CAPTURE(seed);
    CHECK(difference_of_seed(seed, {.operations = 6 + static_cast<int>(seed % 12), .has_special = seed % 2 == 0}) == "");
  }
}

}  // namespace attune
