#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "dsl/variant_by_name.h"
#include "runtime/signature.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/decoder_block.h"
#include "tests/skip.h"
#include "tests/thinned.h"

namespace attune {
namespace {

/// Odd extents, extents around a vector and a tile, one, and none, of calls of every size. A variant takes the dims that it has.
const char* const odd_shapes[] = {
    "queries=1,keys=1,tokens=1,depth=1", "queries=5,keys=37,tokens=5,depth=5", "queries=37,keys=5,tokens=37,depth=16",
    "batch=1,heads=1,queries=129,keys=129,tokens=129,depth=37", "queries=16,keys=64,tokens=17,depth=64", "queries=3,keys=0,tokens=0",
    "queries=0,keys=3,batch=0", "batch=1,queries=3,keys=601,depth=33", "batch=1,queries=9,keys=131,depth=17"};

/// A variant's optional parts: each alone, and all at once, of the values of one the last. A number that is 0 otherwise becomes 0.1.
template <class Variant>
std::vector<std::vector<std::string>> optional_parts() {
  std::vector<std::vector<std::string>> choices = {{}};
  std::vector<std::string> all;
  const auto add = [&](std::string_view name, std::string_view value) {
    choices.push_back({std::string(name) + "=" + std::string(value)});
    std::erase_if(all, [&](const std::string& other) { return other.starts_with(std::string(name) + "="); });
    all.push_back(choices.back()[0]);
  };
  const auto of_field = [&](const auto& field) {
    const auto usual = Variant{}.*field.member;
    using Value = std::remove_cv_t<decltype(usual)>;
    if constexpr (std::is_same_v<Value, bool>) add(field.name, usual ? "false" : "true");
    if constexpr (std::is_floating_point_v<Value>)
      if (usual == 0) add(field.name, "0.1");
    if constexpr (std::is_enum_v<Value>)
      for (const std::string_view value : enumerators(Value{}))
        if (value != enumerators(Value{})[static_cast<std::size_t>(usual)]) add(field.name, value);
  };
  std::apply([&](const auto&... fields) { (of_field(fields), ...); }, Variant::fields);
  // Parts that rule one another out are not all at once.
  while (!all.empty() && !build_any(choose_variant(Variant::name, all).variant).problem().empty()) all.erase(all.begin());
  if (all.size() > 1) choices.push_back(all);
  return choices;
}

/// Compares at each shape that says something, as most do: not where rounding to f32 alone changes a result (an entropy over one key, a state that grows).
void check_comparable(const KernelCase& kernel) {
  kernel.compile_for(calls_of(kernel, odd_shapes));
  std::size_t compared = 0, seed = 1;
  for (const char* shape : odd_shapes) {
    const std::string difference = kernel.difference(fitting(shape, kernel.graph()), seed++);
    const bool says_nothing = difference.find("cannot be compared for these inputs: rounding to f32 alone") != std::string::npos;
    CHECK((says_nothing ? std::string() : difference) == "");
    compared += !says_nothing;
  }
  CHECK(compared > std::size(odd_shapes) / 2);
}

/// Every two of a choice of parts, a target of this CPU and a storage type; all three where there are fewer choices than types, or a pair would be missing.
void check_every_pair(std::string_view variant, const std::vector<std::vector<std::string>>& choices) {
  constexpr std::array types = {"f32", "bf16", "f16"};
  std::size_t row = 0;
  for (const TargetInfo& target : targets()) {
    if (target.device != Device::cpu || !runs_here(target)) continue;
    for (std::size_t choice = 0; choice < choices.size(); ++choice)
      for (std::size_t type = 0; type < types.size(); ++type) {
        if (choices.size() >= types.size() && (row + choice) % types.size() != type) continue;
        const KernelOptions options{.settings = choices[choice], .target = std::string(target.name), .types = types[type]};
        CAPTURE(variant, options.settings, options.target, options.types);
        check_comparable(KernelCase(std::string(variant), options));
      }
    ++row;
  }
}

void check_any_extents(std::string_view variant, std::size_t place) {
  const KernelCase kernel{std::string(variant)};
  check_part(kernel, odd_shapes, Tried::part, place);
  // more tasks than threads, and parts of keys
  const char* const shared_out[] = {"batch=1,heads=5,queries=129,keys=300,tokens=129,depth=16", "batch=1,heads=1,queries=3,keys=1100,tokens=3,depth=16"};
  check_threads(kernel, shared_out);
}

/// Layers with their optional parts, of which each kernel has some.
void check_parts_of_layers(Tried tried) {
  std::size_t row = 0;
  for (const std::vector<std::string>& settings : {std::vector<std::string>{"biases=true", "mask=true", "lengths=true"},
                                                   {"score_weights=true", "dropout=0.1", "weights=true"},
                                                   {"in_out=true", "head_mask=true", "residual=true"},
                                                   {"biases=true", "panels=true"}})
    check_part(KernelCase("multi_head", {.settings = settings}), odd_shapes, tried, row++);
}

/// Weights in panels of a known width.
void check_panels(Tried tried) {
  std::size_t row = 0;
  for (const char* width : {"8", "16", "64"}) {
    const std::string w = width, rest = ",heads=3,panels=3,depth=" + w + ",value_depth=" + w + ",column=" + w;
    const std::string shapes[] = {"tokens=1" + rest, "tokens=5" + rest, "tokens=37" + rest, "tokens=129" + rest};
    const char* const texts[] = {shapes[0].c_str(), shapes[1].c_str(), shapes[2].c_str(), shapes[3].c_str()};
    const KernelOptions options{.settings = {"biases=true", "panels=true"}, .set = {"depth=" + w, "value_depth=" + w, "column=" + w}};
    check_part(KernelCase("multi_head", options), texts, tried, row++);
  }
}

/// A mask and a layer on the targets of other CPUs than this one, where it can run them.
void check_other_targets(Tried tried) {
  std::size_t row = 0;
  for (const char* target : {"x86-64-v3", "x86-64-v4"}) {
    if (!runs_here(*find_target(target))) {
      skip("this CPU cannot run " + std::string(target));
      continue;
    }
    check_part(KernelCase("causal", {.target = target}), odd_shapes, tried, row);
    check_part(KernelCase("multi_head", {.settings = {"weights=true"}, .target = target}), odd_shapes, tried, row + 1);
    ++row;
  }
}

constexpr const char* sixteen_bits[] = {"bf16", "f16"};

/// A storage of 16 bits: of all tensors on every target, of keys and values alone, and of what a layer's stages store for one another.
void check_sixteen_bits(Tried tried, std::size_t column) {
  const std::string type = sixteen_bits[column];
  std::size_t row = 0;
  for (const TargetInfo& target : targets()) {
    if (target.device != Device::cpu || !runs_here(target)) continue;
    if (is_tried(tried, row, column, std::size(sixteen_bits)))
      check_part(KernelCase("causal", {.target = std::string(target.name), .types = type}), odd_shapes, tried, row);
    ++row;
  }
  check_part(KernelCase("grouped_query", {.types = "k=" + type + ",v=" + type}), odd_shapes, tried, row++);
  check_part(KernelCase("multi_head", {.settings = {"weights=true"}, .types = type}), odd_shapes, tried, row++);
}

/// Values that are copied once: in groups of vectors and in one group, of any width, and values that heads share or that are not f32.
void check_copied_values(Tried tried) {
  std::size_t row = 0;
  for (const char* schedule : {"online_softmax,copy_values=1,register_vectors=1", "online_softmax,copy_values=1,register_vectors=2"})
    for (const char* depth : {"value_depth=37", "value_depth=64"}) {
      for (const auto& [column, types] : {std::pair<std::size_t, const char*>{0, "f32"}, {1, "v=f16"}})
        if (is_tried(tried, row, column, 2)) {
          const KernelCase kernel("grouped_query", {.types = types, .schedule = schedule, .set = {depth}});
          CHECK(kernel.difference("queries=67,keys=301,depth=16", 3) == "");
        }
      ++row;
    }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a variant's kernels with each optional part, for every CPU target and in every type agree with the interpreter", "[.full]", AnyVariant) {
  check_every_pair(TestType::name, optional_parts<TestType>());
}

TEMPLATE_LIST_TEST_CASE("a variant's kernel agrees with the interpreter on any extents", "[variant]", AnyVariant) {
  check_any_extents(TestType::name, place_in<TestType>(static_cast<const AnyVariant*>(nullptr)));
}

TEST_CASE("the optional parts of multi_head agree with the interpreter", "[variant]") {
  check_parts_of_layers(Tried::part);
  CHECK(KernelCase("multi_head", {.settings = {"in_out=true", "projected=false"}}).difference("tokens=37,depth=16", 3) == "");
}

TEST_CASE("weights in panels agree with the interpreter, where panels are as wide as the machine's and where not", "[variant]") {
  check_panels(Tried::part);
}

TEST_CASE("kernels for other CPUs agree with the interpreter", "[target]") { check_other_targets(Tried::part); }

TEST_CASE("kernels of bf16 agree with the interpreter", "[type]") { check_sixteen_bits(Tried::part, 0); }

TEST_CASE("kernels of f16 agree with the interpreter", "[type]") { check_sixteen_bits(Tried::part, 1); }

TEST_CASE("layers, other CPUs and storages of 16 bits agree with the interpreter at every size of call", "[.full]") {
  check_parts_of_layers(Tried::whole);
  check_panels(Tried::whole);
  check_other_targets(Tried::whole);
  for (std::size_t column = 0; column < std::size(sixteen_bits); ++column) check_sixteen_bits(Tried::whole, column);
  check_copied_values(Tried::whole);
}

TEST_CASE("infinity, NaN, subnormal numbers and what is too large in f16 are IEEE's", "[type]") {
  const KernelCase kernel("scaled_dot_product", {.types = "f16", .set = {"batch=1", "heads=1", "queries=1", "keys=1", "depth=1"}});
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  // the weight of one key is 1, so that the value comes out as it went in
  std::vector<double> values = {0, 0x1p-24, 3 * 0x1p-24, 0x1p-15, 0x1p-14, 1, 65504, infinity, nan};
  for (std::size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
  const auto extents = static_cast<std::int64_t>(values.size());
  const auto given = parse_shape("batch=1,heads=1,queries=1,keys=1,depth=1,value_depth=" + std::to_string(extents), "shape");
  const Shape shape = fill_shape(kernel.graph(), given.extents).extents;
  Arrays inputs = random_inputs(kernel.graph(), shape, 1);
  inputs.at("v").data = values;
  const std::vector<double> got = kernel.outputs(shape, inputs).at("out");
  REQUIRE(got.size() == values.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i, values[i], got[i]);
    CHECK((got[i] == values[i] || (std::isnan(got[i]) && std::isnan(values[i]))));
  }
}

TEST_CASE("a few queries take keys and values of bf16 by the pair, whatever vectors the depth fills", "[type]") {
  const auto check = [](const KernelCase& kernel, int depth, int value_depth) {
    CAPTURE(depth, value_depth);
    const std::string depths = ",depth=" + std::to_string(depth) + ",value_depth=" + std::to_string(value_depth);
    for (const char* few : {"queries=1,keys=65,group=5", "queries=4,keys=129,group=1", "batch=1,queries=3,keys=601"})
      CHECK(kernel.difference(few + depths, static_cast<std::uint64_t>(depth)) == "");
  };
  for (const auto& [target, types] : {std::pair{"host", "bf16"}, {"host", "k=bf16"}, {"host", "v=bf16"}, {"x86-64-v3", "k=bf16,v=bf16"}}) {
    const KernelCase kernel("grouped_query", {.target = target, .types = types});
    for (const int depth : {1, 5, 31, 32, 37, 129, 144}) check(kernel, depth, 129 - depth / 2);
  }
  for (const int depth : {16, 48, 80, 144}) {
    const std::string known = std::to_string(depth);
    check(KernelCase("grouped_query", {.types = "k=bf16,v=bf16", .set = {"depth=" + known, "value_depth=" + known}}), depth, depth);
  }
}

TEST_CASE("infinity and NaN in keys and values of bf16 stay in their elements", "[type]") {
  const KernelCase kernel("grouped_query", {.types = "k=bf16,v=bf16", .set = {"depth=32", "value_depth=64"}});
  const auto few = parse_shape("batch=1,heads=1,group=3,queries=1,keys=70,depth=32,value_depth=64", "shape");
  const Shape extents = fill_shape(kernel.graph(), few.extents).extents;
  const auto changed = [&](const char* input, std::size_t element, double value) {
    Arrays inputs = random_inputs(kernel.graph(), extents, 5);
    inputs.at(input).data[element] = value;
    return kernel.difference(extents, inputs);
  };
  for (const double value : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::nan("")})
    for (const std::size_t element : {69 * 64 + 0, 69 * 64 + 1, 3 * 64 + 62, 3 * 64 + 63}) {
      CAPTURE(value, element);
      CHECK(changed("v", element, value) == "");
      CHECK(changed("k", element / 2, value) == "");
    }
}

TEST_CASE("a kernel for some calls holds their codes alone, and is right for all", "[size]") {
  const auto functions = [](const Kernel& kernel) {
    std::set<const void*> distinct;
    for (const attune_code_v3& code : codes_of(steps_of(kernel.manifest())[0])) distinct.insert(reinterpret_cast<const void*>(code.run));
    return distinct.size();
  };
  const KernelCase kernel("causal");
  const auto extents = [&](const char* shape) { return kernel.filled(shape).extents; };
  const std::vector<Shape> calls = {extents("batch=1,queries=1,keys=700,depth=5"), extents("batch=1,queries=2,keys=300,depth=5"), extents("queries=5,keys=5,depth=5")};
  kernel.compile_for(calls);
  const Kernel& some = kernel.kernel_for(calls[0]);
  CHECK(&kernel.kernel_for(calls[2]) == &some);
  CHECK(functions(some) == 2);
  for (const char* shape : {"queries=1,keys=700,depth=5", "queries=5,keys=5,depth=5", "queries=37,keys=53,depth=5", "queries=129,keys=129,depth=17"}) {
    Trial trial = trial_of(some, extents(shape), random_inputs(kernel.graph(), extents(shape), 1));
    REQUIRE(trial.call(some));
    CHECK(trial.compare_with_interpreter(kernel.graph()).agrees);
  }
  CHECK(functions(kernel.kernel()) == 4);
}

TEST_CASE("extents that are known when a kernel is compiled change no result", "[specialise]") {
  const KernelCase kernel("sliding_window", {.settings = {"window=9"}, .set = {"depth=16", "value_depth=24"}});
  CHECK(kernel.difference("queries=37,keys=53,depth=16,value_depth=24", 1) == "");
  CHECK(kernel.difference("queries=2,keys=129,depth=16,value_depth=24", 2) == "");
}

TEST_CASE("stages that are not fused agree with the interpreter", "[unfused]") {
  check_shapes(KernelCase("soft_cap", {.schedule = "unfused"}), odd_shapes);
}

TEST_CASE("the parameters of a schedule change no result", "[schedule]") {
  for (const char* schedule : {"online_softmax,query_tile=24,key_tile=128", "online_softmax,register_rows=4,edge_tile=64"})
    CHECK(KernelCase("causal", {.schedule = schedule}).difference("queries=130,keys=301,depth=37", 3) == "");
  check_copied_values(Tried::part);
}

TEST_CASE("a block of a decoder agrees with the interpreter, and one with wrong angles does not", "[decoder]") {
  const Graph right = build(DecoderBlock{}), wrong = build(DecoderBlock{.angle = 1.001});
  const KernelCase kernel(right, "decoder_block"), wrong_kernel(wrong, "decoder_block");
  const std::string others = ",model=48,kv_heads=2,group=2,half=8,value_depth=16,hidden=40";
  // One has the codes of large calls, the other those of small ones.
  kernel.keep_to(std::vector{kernel.filled("batch=1,tokens=129" + others).extents});
  wrong_kernel.keep_to(std::vector{wrong_kernel.filled("tokens=5" + others).extents});
  for (const char* sizes : {"tokens=1", "tokens=5", "tokens=37", "batch=1,tokens=129"}) {
    CHECK(kernel.difference(sizes + others, 1) == "");
    const Shape extents = wrong_kernel.filled(sizes + others).extents;
    const Kernel& compiled = wrong_kernel.kernel_for(extents);
    Trial trial = trial_of(compiled, extents, random_inputs(right, extents, 1));
    REQUIRE(trial.call(compiled));
    CHECK(trial.compare_with_interpreter(wrong).agrees);
    // A single token has position 0, where every angle is 0.
    CHECK(trial.compare_with_interpreter(right).agrees == (extents.at("tokens") == 1));
  }
}

}  // namespace attune
