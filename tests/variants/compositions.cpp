/// Masks made of masks by and, or and not, and a user's own predicate: the interpreter sees what plain loops see, a kernel what the interpreter sees.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <span>

#include "tests/codegen/kernel_case.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

constexpr std::int64_t chunk = 16, window = 9, prefix = 21, sinks = 3;

struct Composition {
  Name name;
  Value (*predicate)(Value i, Value j);
  bool (*is_visible)(std::int64_t i, std::int64_t j);
};

constexpr std::array compositions = {
    Composition{"causal_window_in_chunks",
                [](Value i, Value j) { return j <= i && i - j < window && floor_div(i, chunk) == floor_div(j, chunk); },
                [](std::int64_t i, std::int64_t j) { return j <= i && i - j < window && i / chunk == j / chunk; }},
    Composition{"prefix_or_window", [](Value i, Value j) { return j < prefix || abs(i - j) <= window; },
                [](std::int64_t i, std::int64_t j) { return j < prefix || (i - j <= window && j - i <= window); }},
    Composition{"causal_but_no_window", [](Value i, Value j) { return j <= i && !(i - j < window); },
                [](std::int64_t i, std::int64_t j) { return j <= i && i - j >= window; }},
    Composition{"neither_chunk_nor_sinks", [](Value i, Value j) { return !(floor_div(i, chunk) == floor_div(j, chunk) || j < sinks); },
                [](std::int64_t i, std::int64_t j) { return i / chunk != j / chunk && j >= sinks; }},
    Composition{"either_of_two", [](Value i, Value j) { return (j < prefix || j <= i) && !(j < prefix && j <= i); },
                [](std::int64_t i, std::int64_t j) { return (j < prefix) != (j <= i); }},
    Composition{"below_a_parabola", [](Value i, Value j) { return j * j <= i * 30 + 7; },
                [](std::int64_t i, std::int64_t j) { return j * j <= i * 30 + 7; }}};

/// What is said of the queries alone, or leaves one of their tiles in each block of keys.
constexpr std::array of_queries = {
    Composition{"first_queries", [](Value i, Value) { return i < 60; }, [](std::int64_t i, std::int64_t) { return i < 60; }},
    Composition{"later_queries", [](Value i, Value) { return i >= 96; }, [](std::int64_t i, std::int64_t) { return i >= 96; }},
    Composition{"first_queries_or_keys", [](Value i, Value j) { return i < 5 || j < 64; }, [](std::int64_t i, std::int64_t j) { return i < 5 || j < 64; }},
    Composition{"later_queries_or_keys", [](Value i, Value j) { return i >= 128 || j >= 128; },
                [](std::int64_t i, std::int64_t j) { return i >= 128 || j >= 128; }},
    Composition{"chunks_of_24_up_to_keys", [](Value i, Value j) { return floor_div(i, 24) <= floor_div(j, 24); },
                [](std::int64_t i, std::int64_t j) { return i / 24 <= j / 24; }},
    Composition{"not_of_one_chunk", [](Value i, Value j) { return !(floor_div(i, chunk) == floor_div(j, chunk) || j < sinks); },
                [](std::int64_t i, std::int64_t j) { return i / chunk != j / chunk && j >= sinks; }}};

/// Attention under each of these, one output each.
struct Composed {
  std::span<const Composition> masks = compositions;

  void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    const Value q = g.input("q", {queries, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, depth});
    double size = 1;
    for (const Composition& c : masks) {
      const Value scores = matmul(q * (size *= 0.75), k, depth);  // of its own, so that the whole attention is one stage
      const Value is_visible = c.predicate(index(queries), index(keys));
      g.output(c.name, matmul(softmax(mask(scores, is_visible), keys), v, keys), {queries, depth});
    }
  }
};

}  // namespace

TEST_CASE("masks are made of masks by and, or and not", "[compositions]") {
  const Graph graph = build(Composed{});
  for (const char* shape : {"queries=37,keys=53,depth=5", "queries=130,keys=301,depth=16"}) {
    const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
    Arrays inputs = random_inputs(graph, extents, 3);
    if (extents.at("queries") > 64) CHECK(KernelCase(graph, "composed", {.set = known_extents(graph, inputs)}).difference(extents, inputs) == "");
    // equal scores, and the value of a key is its number plus one: the mean of what is visible
    std::ranges::fill(inputs.at("q").data, 0.0);
    const std::int64_t depth = extents.at("depth"), keys = extents.at("keys"), queries = extents.at("queries");
    std::vector<double>& v = inputs.at("v").data;
    for (std::size_t n = 0; n < v.size(); ++n) v[n] = static_cast<double>(static_cast<std::int64_t>(n) / depth + 1);
    const Arrays got = outputs_of(graph, inputs);
    for (const Composition& c : compositions) {
      INFO(c.name << ", " << shape);
      Array expected = got.at(std::string(c.name));
      for (std::int64_t i = 0; i < queries; ++i) {
        double total = 0, count = 0;
        for (std::int64_t j = 0; j < keys; ++j)
          if (c.is_visible(i, j)) total += static_cast<double>(j + 1), ++count;
        for (std::int64_t d = 0; d < depth; ++d) expected.data[static_cast<std::size_t>(i * depth + d)] = count > 0 ? total / count : 0;
      }
      check_close(got.at(std::string(c.name)), expected, rounding(512, 300));
    }
  }
}

TEST_CASE("masks that leave one tile of queries say nothing about where a kernel's memory begins", "[compositions]") {
  const Graph graph = build(Composed{of_queries});
  const std::string schedule = GENERATE("online_softmax,query_tile=64,register_rows=4", "online_softmax,query_tile=96,register_rows=6",
                                        "online_softmax,query_tile=16,register_rows=4,key_tile=64");
  for (const char* shape : {"queries=130,keys=301,depth=16", "queries=60,keys=70,depth=16", "queries=65,keys=64,depth=16"}) {
    const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
    const Arrays inputs = random_inputs(graph, extents, 3);
    CAPTURE(schedule, shape);
    CHECK(KernelCase(graph, "composed", {.schedule = schedule, .set = known_extents(graph, inputs)}).difference(extents, inputs) == "");
  }
}

}  // namespace attune
