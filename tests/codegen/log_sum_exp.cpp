/// Kernels that store the logarithm of what a softmax divides by beside the result, with every schedule, and what is made of it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dsl/variants.h"
#include "runtime/merge.h"
#include "tests/codegen/fitting_shape.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tools/measure/example.h"

namespace attune {
namespace {

/// Of calls of every size: tiny, few queries of many keys, few queries, many; with nothing, too.
const char* const shapes_of_every_size[] = {"queries=1,keys=1,depth=1",           "queries=5,keys=37,depth=5,value_depth=1", "queries=37,keys=5,depth=37,value_depth=129",
                              "batch=1,queries=129,keys=129",       "batch=1,heads=1,queries=3,keys=601",      "batch=1,heads=1,queries=9,keys=131",
                              "queries=5,keys=0",                   "queries=0,keys=5",                        "queries=5,keys=7,value_depth=0",
                              "batch=1,heads=1,queries=70,keys=641"};

const char* const shapes_of_known_depth[] = {"queries=37,keys=5,depth=64,value_depth=64", "batch=1,queries=3,keys=601,depth=64,value_depth=64",
                                             "queries=9,keys=131,depth=64,value_depth=64", "batch=1,queries=129,keys=641,depth=64,value_depth=64"};

/// Attention whose scores end in a change, where base 2 cannot be folded into the query.
struct WithBias {
  static constexpr std::string_view name = "biased";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value scores = tanh(a.scores()) * 3 + g.input("bias", {a.heads, a.queries, a.keys});
    a.output(scores);
    a.output_lse(scores);
  }
};

/// Attention of which whole heads are hidden once it is computed: its logarithms are wanted all the same.
struct HiddenHeads {
  static constexpr std::string_view name = "hidden_heads";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value is_shown = g.input("is_shown", {a.batch, a.heads}, Kind::boolean), scores = a.scores();
    g.output("out", select(is_shown, matmul(softmax(scores, a.keys), a.v, a.keys), 0), {a.batch, a.heads, a.queries, a.value_depth});
    a.output_lse(scores);
  }
};

/// Attention that stores the logarithm: on another target, in 16 bits, of known extents, not fused, beside its weights, of a mask and of changed
/// scores.
void check_every_schedule(Tried tried) {
  std::size_t row = 0;
  const auto check = [&](const KernelCase& kernel, std::span<const char* const> shapes) { check_part(kernel, shapes, tried, row++); };
  const std::string attention = "scaled_dot_product";
  const std::vector<std::string> lse = {"lse=true"}, depths = {"depth=64", "value_depth=64"};
  check(KernelCase(attention, {.settings = lse}), shapes_of_every_size);
  check(KernelCase(attention, {.settings = lse, .target = "x86-64-v3"}), shapes_of_every_size);
  check(KernelCase(attention, {.settings = lse, .types = "bf16"}), shapes_of_every_size);
  for (const char* types : {"f32", "bf16"}) check(KernelCase(attention, {.settings = lse, .types = types, .set = depths}), shapes_of_known_depth);
  check(KernelCase(attention, {.settings = lse, .types = "lse=bf16"}), shapes_of_every_size);
  check(KernelCase(attention, {.settings = lse, .schedule = "unfused"}), shapes_of_every_size);
  check(KernelCase(attention, {.settings = {"lse=true", "weights=true"}}), shapes_of_every_size);
  check(KernelCase("padded", {.settings = lse}), shapes_of_every_size);
  const Graph biased = build(WithBias{});
  check(KernelCase(biased, "biased"), shapes_of_every_size);
}

}  // namespace

TEST_CASE("the logarithm is stored where the result beside it is hidden", "[lse]") {
  const Graph graph = build(HiddenHeads{});
  const KernelCase kernel(graph, "hidden_heads");
  using Size = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [queries, keys] : {Size{5, 7}, Size{3, 601}, Size{9, 131}, Size{70, 641}}) {
    const Shape shape{{"batch", 1}, {"heads", 2}, {"queries", queries}, {"keys", keys}, {"depth", 5}, {"value_depth", 4}};
    Arrays inputs = random_inputs(kernel.graph(), shape, 11);
    for (const bool is_shown : {false, true}) {
      CAPTURE(queries, keys, is_shown);
      inputs.at("is_shown").data = {is_shown ? 1.0 : 0.0, 0.0};
      CHECK(kernel.difference(shape, inputs) == "");
    }
  }
}

TEST_CASE("the logarithm of a softmax's total comes out of every schedule", "[lse]") { check_every_schedule(Tried::part); }

TEST_CASE("the logarithm of a softmax's total comes out of every schedule of every kernel", "[.full]") { check_every_schedule(Tried::whole); }

TEST_CASE("a row that sees nothing has minus infinity, one that sees NaN has NaN", "[lse]") {
  const KernelCase kernel("padded", {.settings = {"lse=true"}});
  for (const std::int64_t queries : {2, 9, 70})
    for (const std::int64_t keys : {3, 131, 641}) {
      CAPTURE(queries, keys);
      const Shape shape{{"batch", 3}, {"heads", 1}, {"queries", queries}, {"keys", keys}, {"depth", 5}, {"value_depth", 4}};
      Arrays inputs = random_inputs(kernel.graph(), shape, 7);
      inputs.at("lengths").data = {0, static_cast<double>(keys), static_cast<double>(keys)};
      inputs.at("q").data[static_cast<std::size_t>(2 * queries * 5)] = std::nan("");  // the first query of the last sequence
      CHECK(kernel.difference(shape, inputs) == "");
      const std::vector<double> lse = kernel.outputs(shape, inputs).at("lse");
      const auto rows = static_cast<std::size_t>(queries);
      for (std::size_t row = 0; row < rows; ++row) {
        CHECK(lse[row] == -std::numeric_limits<double>::infinity());
        CHECK(std::isfinite(lse[rows + row]));
        CHECK(std::isnan(lse[2 * rows + row]) == (row == 0));
      }
    }
}

namespace {
/// Attention of two sequences to keys that are cut into parts.
namespace keys_in_parts {
constexpr std::int64_t heads = 2, queries = 7, depth = 16, value_depth = 5;

Shape shape_of(std::int64_t keys) {
  return {{"batch", 2}, {"heads", heads}, {"queries", queries}, {"keys", keys}, {"depth", depth}, {"value_depth", value_depth}};
}

Shape shape_of_parts(std::int64_t count) {
  return {{"parts", count}, {"batch", 2}, {"heads", heads}, {"queries", queries}, {"value_depth", value_depth}};
}

/// Rows `first` and the following ones of every head.
std::vector<double> rows_of(const Array& all, std::int64_t first, std::int64_t count) {
  const std::int64_t width = all.extents.back(), keys = all.extents[2];
  std::vector<double> rows;
  for (std::int64_t head = 0; head < 2 * heads; ++head) {
    const auto begin = all.data.begin() + (head * keys + first) * width;
    rows.insert(rows.end(), begin, begin + count * width);
  }
  return rows;
}

/// The inputs of the attention to some keys: with their part of each sequence's length.
Arrays part_of(const KernelCase& attention, const Arrays& whole, std::int64_t first, std::int64_t count) {
  Arrays part = random_inputs(attention.graph(), shape_of(count), 1);
  part.at("q").data = whole.at("q").data;
  for (const char* name : {"k", "v"}) part.at(name).data = rows_of(whole.at(name), first, count);
  for (std::size_t b = 0; b < 2; ++b)
    part.at("lengths").data[b] = std::clamp(whole.at("lengths").data[b] - static_cast<double>(first), 0.0, static_cast<double>(count));
  return part;
}

/// What the runtime has merged of the parts so far.
struct Merged {
  std::vector<float> out, lse;

  void add(std::vector<float> o, std::vector<float> l) {
    if (out.empty()) {
      out = std::move(o), lse = std::move(l);
      return;
    }
    const auto partial = [](std::vector<float>& of_out, std::vector<float>& of_lse) {
      return Partial{{of_out, {2, heads, queries, value_depth}}, {of_lse, {2, heads, queries}}};
    };
    const Partial into = partial(out, lse);
    REQUIRE(merge_partials(into, partial(o, l), into));
  }
};
}  // namespace keys_in_parts
}  // namespace

TEST_CASE("attention to the parts of any split of the keys, merged, is attention to all of them", "[lse]") {
  constexpr std::int64_t keys = 150;
  const KernelCase attention("padded", {.settings = {"lse=true"}}), merge("merge_partials");
  Arrays whole = random_inputs(attention.graph(), keys_in_parts::shape_of(keys), 3);
  whole.at("lengths").data = {static_cast<double>(keys), 64};  // the second sequence sees nothing of the last parts
  const auto expected = attention.outputs(keys_in_parts::shape_of(keys), whole);
  for (const std::vector<std::int64_t>& ends : {std::vector<std::int64_t>{150}, {1, 150}, {64, 128, 150}, {5, 5, 37, 129, 150}}) {
    CAPTURE(ends);
    const Shape parts = keys_in_parts::shape_of_parts(std::ssize(ends));
    Arrays inputs = random_inputs(merge.graph(), parts, 1);
    inputs.at("partial").data.clear();
    inputs.at("partial_lse").data.clear();
    keys_in_parts::Merged by_runtime;
    std::int64_t first = 0;
    for (const std::int64_t end : ends) {
      const auto part = attention.outputs(keys_in_parts::shape_of(end - first), keys_in_parts::part_of(attention, whole, first, end - first));
      const std::vector<double>&out = part.at("out"), &lse = part.at("lse");
      inputs.at("partial").data.insert(inputs.at("partial").data.end(), out.begin(), out.end());
      inputs.at("partial_lse").data.insert(inputs.at("partial_lse").data.end(), lse.begin(), lse.end());
      by_runtime.add({out.begin(), out.end()}, {lse.begin(), lse.end()});
      first = end;
    }
    const auto by_kernel = merge.outputs(parts, inputs);
    for (const auto& [name, merged] : {std::pair("out", &by_runtime.out), std::pair("lse", &by_runtime.lse)})
      for (std::size_t i = 0; i < merged->size(); ++i) {
        CHECK(by_kernel.at(name)[i] == Approx(expected.at(name)[i]).margin(2e-6));
        CHECK(static_cast<double>((*merged)[i]) == Approx(expected.at(name)[i]).margin(2e-6));
      }
  }
}

TEST_CASE("partial results merge on any extents", "[lse]") {
  for (const char* types : {"f32", "bf16"}) {
    const KernelCase kernel("merge_partials", {.types = types});
    for (const char* shape : {"parts=1,queries=1,value_depth=1", "parts=5,queries=37,value_depth=129", "parts=129,queries=5,value_depth=5", "parts=2,queries=0",
                              "parts=3,value_depth=0", "parts=0"})
      CHECK(kernel.difference(fitting(shape, kernel.graph()), 11) == "");
  }
}

}  // namespace attune
