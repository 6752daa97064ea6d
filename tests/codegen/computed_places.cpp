/// Kernels of graphs in which much is computed of indices: places that bits make, and angles of angles.
#include <catch2/catch.hpp>

#include "tests/codegen/kernel_case.h"

namespace attune {
namespace {

/// Products of quaternions, whose element c is a sum over a of r[a] x[a xor c]; and x at places that other operations on bits make.
struct OfBits {
  void operator()(Graph& g) const {
    auto [heads, tokens] = g.dims("heads", "tokens");
    const Dim four = g.dim("four", 4), axis = g.dim("axis", 4);
    const Value x = g.input("x", {heads, tokens, four}), r = g.input("r", {tokens, axis});
    g.output("product", sum(gather(x, bit_xor(index(four), index(axis)), four) * r, axis), {heads, tokens, four});
    g.output("either", gather(x, bit_or(index(four), index(axis)), four), {four, axis, heads, tokens});
    g.output("both", gather(x, bit_and(index(four), index(axis)), four), {four, axis, heads, tokens});
    g.output("of_tokens", gather(x, bit_xor(bit_and(index(tokens), 2), index(axis)), four), {tokens, axis, heads});
  }
};

/// Attention whose queries are turned by an angle that each function reads more than once.
struct OfAngles {
  void operator()(Graph& g) const {
    auto [tokens, keys, depth] = g.dims("tokens", "keys", "depth");
    const Value q = g.input("q", {tokens, depth}), k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, depth});
    const Value steps = pow(to_real(2 + index(depth)), -to_real(index(depth)) / 8.0);
    const Value angle = to_real(index(tokens)) * steps * (1.0 - minimum(steps, 0.5));
    const Value scores = matmul(q * cos(angle + sin(angle)), rename(k, tokens, keys), depth);
    g.output("out", matmul(softmax(mask(scores, index(keys) <= index(tokens)), keys), rename(v, tokens, keys), keys), {tokens, depth});
  }
};

/// Rows of a table at places and weights that follow from a chain of functions, each of which reads its operand three times.
struct OfNestedReals {
  void operator()(Graph& g) const {
    auto [rows, tokens, places] = g.dims("rows", "tokens", "places");
    const Value table = g.input("table", {rows, places});
    Value x = g.input("x", {rows, tokens});
    for (int i = 0; i < 20; ++i) x = x * sigmoid(x) + 0.75 * x;
    const Value place = minimum(x * x, to_real(extent(places) - 1)), low = floor(place), part = place - low;
    const Value lower = gather(table, to_i64(low), places), upper = gather(table, minimum(to_i64(low) + 1, extent(places) - 1), places);
    g.output("out", upper * part + lower * (1.0 - part), {rows, tokens});
  }
};

/// Attention under a mask of a chain of whole numbers, each of which is read twice.
struct OfNestedWholes {
  void operator()(Graph& g) const {
    auto [tokens, keys, depth] = g.dims("tokens", "keys", "depth");
    const Value q = g.input("q", {tokens, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, depth});
    Value distance = index(tokens) - index(keys);
    for (int i = 0; i < 30; ++i) distance = abs(distance - 7) + minimum(distance, 3);
    g.output("out", matmul(softmax(mask(matmul(q, k, depth), distance > 20), keys), v, keys), {tokens, depth});
  }
};

}  // namespace

TEST_CASE("a gather at places that bits make of known dims reads those places", "[places]") {
  const Graph graph = build(OfBits{});
  const KernelCase kernel(graph, "of_bits");
  CHECK(kernel.difference("heads=3,tokens=37", 1) == "");
  CHECK(kernel.difference("heads=1,tokens=1", 2) == "");
}

// Expressions share their parts: what looks at each part as often as it occurs does not end.
TEST_CASE("a factor that is a long calculation of indices is compiled in time", "[places]") {
  const Graph graph = build(OfAngles{});
  const KernelCase kernel(graph, "of_angles");
  CHECK(kernel.difference("tokens=5,depth=17", 1) == "");
}

TEST_CASE("places and masks whose parts are shared all along are compiled in time", "[places]") {
  const Graph of_reals = build(OfNestedReals{}), of_wholes = build(OfNestedWholes{});
  CHECK(KernelCase(of_reals, "of_nested_reals").difference("rows=3,tokens=37,places=5", 1) == "");
  const KernelCase masked(of_wholes, "of_nested_wholes");
  CHECK(masked.difference("tokens=37,keys=53,depth=17", 1) == "");
  CHECK(masked.difference("tokens=129,keys=131,depth=17", 2) == "");
}

}  // namespace attune
