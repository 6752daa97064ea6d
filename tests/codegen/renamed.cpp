/// Kernels of graphs whose results are renamed back, or into another dim of one extent, and merged into the dim that they were split from.
#include <catch2/catch.hpp>

#include <cmath>

#include "dsl/array.h"
#include "tests/codegen/kernel_case.h"

namespace attune {
namespace {

/// Nystrom attention (Xiong et al. 2021): softmax(q k'^T) pinv(softmax(q' k'^T)) softmax(q' k^T) v, with q' and k' means of four segments, and six
/// steps of
///   z = z (13 - a z (15 - a z (7 - a z))) / 4
/// towards the inverse of a, from a^T over the product of its greatest sums of a row and of a column.
Graph nystrom() {
  Graph g;
  const auto [queries, keys, depth, segment, key_segment] = g.dims("queries", "keys", "depth", "segment", "key_segment");
  const Dim m = g.dim("landmarks", 4), n = g.dim("key_landmarks", 4), t = g.dim("third", 4), u = g.dim("fourth", 4);
  const Value q = g.input("q", {queries, depth}), k = g.input("k", {keys, depth}), v = g.input("v", {keys, depth});
  const Value ql = mean(split(q, queries, {{m, 4}, segment}), segment), kl = mean(split(k, keys, {{n, 4}, key_segment}), key_segment);
  const auto scores = [&, depth = depth](const Value& a, const Value& b) { return scale(matmul(a, b, depth), 1 / sqrt(extent(depth))); };
  const Value a = softmax(scores(ql, kl), n), one = to_real(index(m) == index(t));
  const auto times = [&](const Value& x, const Value& y) { return rename(matmul(x, rename(rename(y, t, u), m, t), t), u, t); };
  Value z = a / (max(sum(a, m), n) * max(sum(a, n), m));  // [key_landmarks, landmarks]
  for (int step = 0; step < 6; ++step) {
    const Value az = matmul(a, rename(z, m, t), n);  // [landmarks, third]
    z = rename(0.25 * matmul(z, 13.0 * one - times(az, 15.0 * one - times(az, 7.0 * one - az)), m), t, m);
  }
  g.output("out", matmul(matmul(softmax(scores(q, kl), n), z, n), matmul(softmax(scores(ql, k), keys), v, keys), m), {queries, depth});
  g.finish();
  return g;
}

/// Attention inside blocks of four tokens.
Graph local_blocks() {
  Graph g;
  const auto [batch, tokens, depth, blocks, inside, other] = g.dims("batch", "tokens", "depth", "blocks", "inside", "other");
  const Value q = g.input("q", {batch, tokens, depth}), k = g.input("k", {batch, tokens, depth}), v = g.input("v", {batch, tokens, depth});
  const auto part = [&, tokens = tokens, blocks = blocks](const Value& x, Dim in) { return split(x, tokens, {blocks, {in, 4}}); };
  const Value weights = softmax(matmul(part(q, inside), part(k, other), depth), other);
  g.output("out", v + merge(matmul(weights, part(v, other), other), {blocks, inside}, tokens), {batch, tokens, depth});
  g.finish();
  return g;
}

/// Axial attention: of each column's rows, then of each row's columns, renamed back between them.
Graph axial() {
  Graph g;
  const auto [rows, columns, key_rows, key_columns, depth] = g.dims("rows", "columns", "key_rows", "key_columns", "depth");
  const Value x = g.input("x", {rows, columns, depth});
  const auto attend = [depth = depth](const Value& y, Dim queries, Dim keys) {
    const Value key = rename(y, queries, keys), mixed = matmul(softmax(matmul(y, key, depth), keys), key, keys);
    return rename(key + rename(mixed, queries, keys), keys, queries);
  };
  g.output("out", attend(attend(x, rows, key_rows), columns, key_columns), {rows, columns, depth});
  g.finish();
  return g;
}

void check_renamed(const Graph& g, std::initializer_list<const char*> shapes) {
  REQUIRE(std::string(g.problem().view()) == "");
  const KernelCase kernel(g, "renamed");
  for (const char* shape : shapes) CHECK(kernel.difference(shape, 1) == "");
}

}  // namespace

TEST_CASE("kernels of results that are renamed back are right", "[renamed]") {
  check_renamed(local_blocks(), {"batch=3,tokens=4,depth=5", "batch=1,tokens=36,depth=3"});
  check_renamed(axial(), {"rows=5,columns=7,depth=3", "rows=1,columns=1,depth=1", "rows=37,columns=2,depth=5"});
}

TEST_CASE("Nystrom attention gives what its formula in NumPy gives", "[renamed]") {
  const Graph g = nystrom();
  check_renamed(g, {"queries=12,keys=20,depth=5"});
  const DimExtents extents = {{"queries", 8}, {"keys", 8}, {"depth", 3}};
  Arrays inputs;
  for (const Node& node : g.nodes()) {
    const auto* input = std::get_if<Input>(&node.op);
    if (input == nullptr) continue;
    Array& x = inputs[std::string(input->label)] = Array(node.type, extents);
    for (int i = 0; i < 8; ++i)
      for (int d = 0; d < 3; ++d)
        x.data[static_cast<std::size_t>(3 * i + d)] = input->label == "q"   ? std::sin(1 + 1.3 * i + 0.7 * d)
                                                      : input->label == "k" ? std::cos(0.5 * i - 0.9 * d)
                                                                            : std::sin(0.2 * i * i + d);
  }
  const std::vector<double> expected = {0.303417935720, 0.478880406716, 0.214062440248, 0.207719503245, 0.443737631431, 0.271785427680,
                                        0.018742248865, 0.003758320549, -0.014680990348, 0.051064586977, -0.040291456555, -0.094603720744,
                                        0.263647919456, 0.268915120620, 0.026943000052, 0.295183785441, 0.500855144607, 0.246042593633,
                                        0.178779003394, 0.384355818706, 0.236557666847, 0.002835772026, -0.039729433535, -0.045767581126};
  const Interpretation exact = interpret(g, inputs);
  REQUIRE(exact.problem == "");
  const std::vector<double>& out = exact.outputs.at("out").data;
  REQUIRE(out.size() == expected.size());
  for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == Approx(expected[i]).margin(1e-10));
  const KernelCase kernel(g, "renamed");
  CHECK(kernel.difference(kernel.extents_of(inputs), inputs) == "");
}

}  // namespace attune
