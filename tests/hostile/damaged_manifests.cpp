/// Manifests of linked kernels that are changed at random: each is refused in words, or its kernel touches what its tensors have and
/// nothing else.
#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/attune.h"
#include "runtime/signature.h"
#include "runtime/words.h"
#include "tests/hostile/loose_manifest.h"
#include "tests/hostile/prepared_call.h"
#include "tests/hostile/watched.h"

namespace attune {
namespace {

/// Whether a call with small free extents has tensors of few elements, so that it can be tried.
bool has_small_calls(const attune_kernel_v5& manifest) {
  std::vector<double> largest;
  for (const attune_dim_v1& dim : dims_of(manifest)) {
    double product = static_cast<double>(dim.value), sum = 0;
    for (const std::int32_t number : operands_of(dim)) {
      product *= largest[static_cast<std::size_t>(number)];
      sum += largest[static_cast<std::size_t>(number)];
    }
    largest.push_back(dim.formula == attune_free      ? 9
                      : dim.formula == attune_fixed   ? static_cast<double>(dim.value)
                      : dim.formula == attune_product ? product
                                                      : sum);
  }
  constexpr double most_elements = 1e5;
  const std::span<const attune_tensor_v1> all(manifest.tensors, static_cast<std::size_t>(manifest.tensor_count + manifest.stored_count));
  return std::ranges::all_of(all, [&](const attune_tensor_v1& tensor) {
    double elements = 1;
    for (const std::int32_t dim : dims_of(tensor)) elements *= std::max(largest[static_cast<std::size_t>(dim)], 1.0);
    return elements <= most_elements;
  });
}

/// Opens and calls it; what is wrong, empty if nothing. `opened` counts those that are taken.
std::string use_problem(const attune_kernel_v5& manifest, Random& random, std::int64_t& opened) {
  say_before_faults("a changed manifest is opened");
  const Result<Kernel> kernel = Kernel::from(manifest);
  if (!kernel) return kernel.error().message.rfind("kernel", 0) == 0 ? "" : words("is refused with '", kernel.error().message, "'");
  ++opened;
  if (kernel->describe().empty()) return "has no description";
  if (!has_small_calls(manifest)) return {};
  const PreparedCall call(manifest, random);
  const std::vector<Tensor> tensors = call.for_cpp();
  say_before_faults(words("a call of a changed manifest:\n", kernel->describe()));
  const Result<void> called = kernel->call(std::span<const Tensor>(tensors));
  return called || called.error().message.rfind("kernel '", 0) == 0 ? "" : words("is called and says '", called.error().message, "'");
}

Found change_manifests(std::int64_t count, std::uint64_t seed, std::int64_t& opened) {
  Found found = watched([&] {
    Random random(seed);
    Found changed;
    std::int64_t taken = 0;
    while (changed.count < count && changed.problem.empty()) {
      LooseManifest loose;
      for (std::size_t changes = random.below(4); changes > 0; --changes) loose.change(random);
      changed.problem = use_problem(loose.manifest(), random, taken);
      ++changed.count;
    }
    if (!changed.problem.empty())
      changed.problem += words("; manifest ", changed.count, " of seed ", seed);
    else
      changed.problem = words(taken, " opened");
    return changed;
  });
  if (const std::size_t end = found.problem.find(" opened"); end != std::string::npos && end + 7 == found.problem.size()) {
    opened = std::stoll(found.problem);
    found.problem.clear();
  }
  return found;
}

}  // namespace

TEST_CASE("a changed manifest is refused, or its kernel touches its tensors alone", "[damage]") {
  std::int64_t opened = 0;
  const Found found = change_manifests(2000, 1, opened);
  CHECK(found.problem == "");
  CHECK(opened > 400);  // a quarter is not changed at all
  CHECK(opened < 1600);
  tell("changed manifests", found.count);
}

TEST_CASE("very many changed manifests are refused, or their kernels touch their tensors alone", "[.hostile]") {
  std::int64_t opened = 0;
  const Found found = change_manifests(500000, 2, opened);
  CHECK(found.problem == "");
  tell("changed manifests", found.count);
}

}  // namespace attune
