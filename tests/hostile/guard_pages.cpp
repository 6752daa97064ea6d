/// Kernels called with every tensor and every scratch block between pages that nobody may touch.
#include <array>
#include <catch2/catch.hpp>

#include "dsl/variants.h"
#include "tests/hostile/guarded_kernel.h"
#include "tests/hostile/random.h"

namespace attune {
namespace {

/// Calls of every size: tiny, few queries, small and large tiles; odd extents, one, and none.
const std::vector<std::string> few_shapes = {"queries=1,keys=1,tokens=1,depth=1", "queries=5,keys=37,tokens=5,depth=5",
                                             "batch=1,heads=1,queries=129,keys=129,tokens=129,depth=37", "queries=3,keys=0,tokens=0",
                                             "batch=1,queries=3,keys=601,depth=33"};

/// With many more: each dim 1, one around a vector or a tile, or none once in a while; small enough for the interpreter.
std::vector<std::string> all_shapes() {
  constexpr std::array sizes = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 37, 63, 64, 65, 127, 129, 257};
  struct Drawn {
    const char* dim;
    std::size_t sizes;  // of the list, from the first on
  };
  constexpr Drawn drawn[] = {{"batch", 2},   {"heads", 3},          {"group", 3},      {"queries", sizes.size()}, {"keys", sizes.size()},
                             {"tokens", 15}, {"memory_tokens", 15}, {"depth", 15},     {"value_depth", 15},       {"key_depth", 12},
                             {"model", 12},  {"hidden", 12},        {"vocabulary", 15}};
  std::vector<std::string> shapes = few_shapes;
  Random random(21);
  for (int i = 0; i < 40; ++i) {
    std::string shape;
    for (const auto& [dim, count] : drawn)
      shape += (shape.empty() ? "" : ",") + std::string(dim) + "=" + std::to_string(random.one_in(40) ? 0 : sizes[random.below(count)]);
    shapes.push_back(shape);
  }
  return shapes;
}

/// No parts that are optional; then all of them that need no number, which are tried for the best target alone.
template <class Variant>
std::vector<std::vector<std::string>> settings_of() {
  std::vector<std::vector<std::string>> choices = {{}};
  std::vector<std::string> all;
  const auto of_field = [&](const auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(Variant{}.*field.member)>, bool>)
      all.push_back(std::string(field.name) + "=true");
  };
  std::apply([&](const auto&... fields) { (of_field(fields), ...); }, Variant::fields);
  if (!all.empty()) choices.push_back(all);
  return choices;
}

void check(const GuardedChoice& choice, const std::vector<std::string>& shapes) {
  const Found found = GuardedKernel(choice).call(shapes);
  CHECK(found.problem == "");
  tell("calls of " + choice.variant + " for " + choice.target + " in " + choice.types + " between guard pages", found.count);
}

}  // namespace

TEST_CASE("kernels touch their tensors and scratch blocks alone, and give the same bits wherever these lie", "[guard]") {
  check({.variant = "causal"}, few_shapes);
  check({.variant = "grouped_query", .target = "x86-64-v3", .types = "k=bf16,v=bf16"}, few_shapes);
}

namespace {
void check_everywhere(std::string_view variant, const std::vector<std::vector<std::string>>& choices) {
  const std::string best(find_target("host")->name);
  for (const std::vector<std::string>& settings : choices)
    for (const TargetInfo& target : targets()) {
      if (target.device != Device::cpu || !runs_here(target) || (!settings.empty() && target.name != best)) continue;
      for (const char* types : {"f32", "bf16", "f16"})
        check({std::string(variant), settings, std::string(target.name), types}, all_shapes());
    }
}
}  // namespace

TEMPLATE_LIST_TEST_CASE("a variant's kernels for every CPU target and type touch their tensors and scratch blocks alone", "[.hostile]", AnyVariant) {
  check_everywhere(TestType::name, settings_of<TestType>());
}

}  // namespace attune
