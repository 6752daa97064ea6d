// Recurrences in kernels: against the reference implementation of ONNX, and by what must not change a result.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "dsl/interpret.h"
#include "dsl/variants/recurrent_attention.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tools/npy.h"

namespace attune {
namespace {

/// The arrays of a case by name, of make_cases.py.
Arrays arrays_of(const std::string& name, bool are_results) {
  Arrays arrays;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ATTUNE_RECURRENT_CASES) / name)) {
    const std::string array = entry.path().stem().string();
    if ((array == "out" || array == "present_state") != are_results) continue;
    const NpyArray stored = read_npy(entry.path()).value();
    const auto values = stored.values<float>().value();
    Array& read = arrays[array];
    read.extents = stored.shape;
    read.data.assign(values.begin(), values.end());
  }
  return arrays;
}

/// The farthest that an element is off, of numbers around 1; NaN for arrays of other lengths.
double farthest(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return std::nan("");
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) most = std::max(most, std::abs(got[i] - expected[i]) / (1 + std::abs(expected[i])));
  return most;
}

struct ReferenceCase {
  const char* name;
  UpdateRule rule;
  bool has_channel_decay = false, has_state = true;
};
constexpr ReferenceCase reference_cases[] = {
    {"linear", UpdateRule::linear, false, false},
    {"gated", UpdateRule::gated},
    {"gated_by_channel", UpdateRule::gated, true, false},
    {"delta", UpdateRule::delta},
    {"gated_delta", UpdateRule::gated_delta},
    {"gated_delta_by_channel", UpdateRule::gated_delta, true},
    {"gated_delta_with_resets", UpdateRule::gated_delta, false, false},
    {"gated_delta_step", UpdateRule::gated_delta},
};

Graph graph_of(const ReferenceCase& of) {
  return build(RecurrentAttention{.rule = of.rule, .channel_decay = of.has_channel_decay, .grouped = true, .state = of.has_state});
}

const KernelCase& kernel_with_state() {
  static const KernelCase kernel("recurrent_attention", {.settings = {"state=true"}});
  return kernel;
}
const KernelCase& kernel_of_channels() {
  static const KernelCase kernel("recurrent_attention", {.settings = {"state=true", "channel_decay=true"}});
  return kernel;
}

/// From token `first` on, `count` tokens of an array whose dim of that number is the tokens.
Array part_of(const Array& whole, std::size_t dim, std::int64_t first, std::int64_t count) {
  Array part;
  part.extents = whole.extents;
  part.extents[dim] = count;
  std::size_t inner = 1, outer = 1;
  for (std::size_t d = 0; d < whole.extents.size(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : static_cast<std::size_t>(whole.extents[d]);
  const auto all = static_cast<std::size_t>(whole.extents[dim]);
  for (std::size_t o = 0; o < outer; ++o) {
    const auto begin = whole.data.begin() + static_cast<std::ptrdiff_t>((o * all + static_cast<std::size_t>(first)) * inner);
    part.data.insert(part.data.end(), begin, begin + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(count) * inner));
  }
  return part;
}

}  // namespace

TEST_CASE("recurrences are those of ONNX's reference", "[recurrence]") {
  for (const ReferenceCase& of : reference_cases) {
    CAPTURE(of.name);
    const Graph graph = graph_of(of);
    const Arrays inputs = arrays_of(of.name, false), expected = arrays_of(of.name, true);
    const Interpretation interpreted = interpret(graph, inputs);
    REQUIRE(interpreted.problem.empty());
    const KernelCase kernel(graph, "recurrent_attention", {.set = known_extents(graph, inputs)});
    const auto got = kernel.outputs(kernel.extents_of(inputs), inputs);
    REQUIRE(got.size() == expected.size());
    for (const auto& [name, array] : expected) {
      CAPTURE(name);
      CHECK(farthest(interpreted.outputs.at(name).data, array.data) < 1e-6);
      CHECK(farthest(got.at(name), array.data) < 1e-5);
    }
  }
}

TEST_CASE("every rule of a recurrence agrees with the interpreter, with features, groups and states", "[recurrence]") {
  const char* const shapes[] = {"tokens=1,depth=1,value_depth=5", "tokens=5,depth=5,value_depth=1", "batch=1,heads=1,tokens=129,depth=40,value_depth=37",
                                "tokens=17,depth=16,value_depth=64", "tokens=0", "tokens=37,depth=0", "value_depth=0", "batch=0"};
  check_shapes(KernelCase("recurrent_attention", {.settings = {"rule=linear", "feature_map=elu_plus_1"}, .types = "bf16"}), shapes);
  check_shapes(KernelCase("recurrent_attention", {.settings = {"rule=delta", "grouped=true", "state=true"}}), shapes);
  check_shapes(KernelCase("recurrent_attention", {.settings = {"rule=gated", "channel_decay=true", "state=true"}, .types = "f16"}), shapes);
  check_shapes(KernelCase("recurrent_attention", {.settings = {"channel_decay=true", "grouped=true", "state=true"}}), shapes);
}

TEST_CASE("chunks of tokens give what token by token gives, whatever the chunk", "[recurrence]") {
  for (const char* cut : {"chunk=16,register_rows=2,vectors=1,register_vectors=1", "chunk=128,register_rows=8,vectors=2,register_vectors=2"}) {
    const std::string schedule = std::string("chunked_scan,size=large,") + cut;
    for (const char* decay : {"channel_decay=false", "channel_decay=true"}) {
      CAPTURE(cut, decay);
      const KernelCase kernel("recurrent_attention", {.settings = {"state=true", decay}, .schedule = schedule, .set = {"depth=16", "value_depth=40"}});
      for (const char* tokens : {"tokens=127,batch=1", "tokens=128,batch=1", "tokens=129,batch=1"}) CHECK(kernel.difference(tokens, 3) == "");
    }
  }
}

namespace {

/// A decay of each column of the state, or of each element of it.
struct ColumnDecay {
  bool has_channels = false, has_delta = false;
  static constexpr std::string_view name = "column_decay";
  static constexpr auto fields = std::tuple{Field{"has_channels", &ColumnDecay::has_channels}, Field{"has_delta", &ColumnDecay::has_delta}};
  constexpr void operator()(Graph& g) const {
    auto [batch, tokens, channels, states] = g.dims("batch", "tokens", "channels", "states");
    const Value rate = g.input("rate", {batch, tokens, channels}), x = g.input("x", {batch, tokens, channels});
    const Value b = g.input("b", {batch, tokens, states}), c = g.input("c", {batch, tokens, states});
    RecurrentParts parts{.log_decay = has_channels ? rate * g.input("a", {states, channels}) : rate};
    if (has_delta) parts.beta = 0.0625;
    const auto [result, last] = recurrence_with_state(c, b, x, parts, tokens, states);
    g.output("y", result, {batch, tokens, channels});
    g.output("last", last, {batch, states, channels});
  }
};

}  // namespace

TEST_CASE("decays by column agree with the interpreter, in whole vectors and beyond", "[recurrence]") {
  const char* const shapes[] = {"batch=1,tokens=5,channels=1,states=1", "batch=2,tokens=37,channels=37,states=5", "batch=1,tokens=17,channels=64,states=16",
                                "batch=1,tokens=18,channels=300,states=3", "channels=0", "states=0", "tokens=0"};
  for (const bool has_channels : {false, true})
    for (const bool has_delta : {false, true}) check_shapes(KernelCase(build(ColumnDecay{has_channels, has_delta}), "column_decay", {}), shapes);
}

TEST_CASE("a sequence in parts, whose state is carried over, gives what the whole gives", "[recurrence]") {
  const KernelCase& kernel = kernel_with_state();
  const Shape extents = fill_shape(kernel.graph(), {{"batch", 1}, {"heads", 2}, {"tokens", 150}, {"depth", 16}, {"value_depth", 5}}).extents;
  Arrays inputs = random_inputs(kernel.graph(), extents, 5);
  const auto whole = kernel.outputs(extents, inputs);
  Arrays part = inputs;
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 70}, {70, 1}, {71, 79}}) {
    for (const char* name : {"q", "k", "v", "log_decay", "beta"}) {
      const Type type = part.at(name).type;
      part.at(name) = part_of(inputs.at(name), 2, first, count);
      part.at(name).type = type;
    }
    Shape own = extents;
    own.at("tokens") = count;
    const auto got = kernel.outputs(own, part);
    Array out;
    out.extents = {1, 2, 150, 5};
    out.data = whole.at("out");
    CHECK(farthest(got.at("out"), part_of(out, 2, first, count).data) < 1e-5);
    part.at("past_state").data = got.at("present_state");
  }
  CHECK(farthest(part.at("past_state").data, whole.at("present_state")) < 1e-5);
}

TEST_CASE("what is not finite reaches no earlier token of its chunk", "[recurrence][special]") {
  for (const KernelCase* kernel : {&kernel_with_state(), &kernel_of_channels()}) {
    const Shape extents = fill_shape(kernel->graph(), {{"batch", 1}, {"heads", 1}, {"tokens", 70}, {"depth", 8}, {"value_depth", 8}}).extents;
    for (const char* name : {"k", "v", "q"}) {
      CAPTURE(name);
      Arrays inputs = random_inputs(kernel->graph(), extents, 7);
      const auto before = kernel->outputs(extents, inputs).at("out");
      inputs.at(name).data[37 * 8 + 3] = std::nan("");
      const auto out = kernel->outputs(extents, inputs).at("out");
      for (std::size_t i = 0; i < 37 * 8; ++i) REQUIRE(out[i] == before[i]);
      CHECK(std::isnan(out[37 * 8 + 3]));
      CHECK(std::isnan(out[69 * 8 + 3]) == (std::string(name) != "q"));
    }
  }
}

TEST_CASE("channels that forget all, keep all and grow are exact beside one another", "[recurrence][special]") {
  const KernelCase& kernel = kernel_of_channels();
  const Shape extents = fill_shape(kernel.graph(), {{"batch", 1}, {"heads", 1}, {"tokens", 70}, {"depth", 8}, {"value_depth", 8}}).extents;
  Arrays inputs = random_inputs(kernel.graph(), extents, 9);
  std::vector<double>& decay = inputs.at("log_decay").data;
  for (std::size_t t = 0; t < 70; ++t) {
    decay[t * 8] = t % 5 == 2 ? -HUGE_VAL : -0.1;
    decay[t * 8 + 1] = t == 20 || t == 40 ? -1000 : 0;
    decay[t * 8 + 2] = 0.05;
    decay[t * 8 + 3] = t % 16 == 0 ? -HUGE_VAL : -30;
  }
  const Interpretation expected = interpret(kernel.graph(), inputs);
  REQUIRE(expected.problem.empty());
  const auto got = kernel.outputs(extents, inputs);
  for (const char* name : {"out", "present_state"}) CHECK(farthest(got.at(name), expected.outputs.at(name).data) < 2e-5);
}

}  // namespace attune
