#include <catch2/catch.hpp>

#include "tests/codegen/kernel_case.h"
#include "tests/random_graph.h"

namespace attune {
namespace {

/// Compiles the graph of a seed and compares its kernel with the interpreter.
std::string difference_of_seed(std::uint64_t seed, const RandomChoices& choices) {
  const RandomGraph random = random_graph(seed, choices);
  const KernelCase kernel(random.graph, "random");
  std::map<std::string, std::vector<std::int64_t>, std::less<>> given;
  for (const auto& [name, array] : random.inputs) given[name] = array.extents;
  Shape extents;
  for (const auto& [dim, extent] : bind_extents(random.graph, given).extents) extents.emplace(dim, extent);
  const std::string difference = kernel.difference(extents, random.inputs);
  return difference.empty() ? difference : "seed " + std::to_string(seed) + ": " + difference;
}

}  // namespace

TEST_CASE("kernels of random graphs agree with the interpreter", "[property]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) CHECK(difference_of_seed(seed, {}) == "");
}

TEST_CASE("kernels of many random graphs agree with the interpreter", "[.full]") {
  for (std::uint64_t seed = 100; seed < 300; ++seed) CHECK(difference_of_seed(seed, {.operations = 6 + static_cast<int>(seed % 12)}) == "");
}

}  // namespace attune
