/// Why what looks like attention is stored, and what is stored for readers beside it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/codegen/plan_trial.h"
#include "tests/codegen/stage_kinds.h"

namespace attune {
namespace {

using Reasons = std::vector<std::string>;

/// Why the weights of the only softmax are stored; the matmul of the weights has the same words.
std::string why_stored(const Graph& graph) {
  REQUIRE(std::string(graph.problem().view()) == "");
  Reasons all = reasons<RowSoftmaxRoles>(graph);
  REQUIRE(all.size() == 1);
  const Reasons matmuls = reasons<GemmRoles>(graph);
  CHECK(std::find(matmuls.begin(), matmuls.end(), all[0]) != matmuls.end());
  return all[0];
}

}  // namespace

TEST_CASE("weights that are not fused say why", "[plan]") {
  SECTION("weights that are an output") {
    CHECK(why_stored(variant_graph("multi_head", {"weights=true"})) == "the weights are an output and must be stored");
  }
  SECTION("weights that are used twice") {
    OneHead a;
    const Value weights = softmax(a.scores(), a.keys);
    a.output(weights);
    a.g.output("sums", sum(weights, a.queries), {a.keys});
    CHECK(why_stored(a.g) == "the weights are used 2 times and must be stored");
  }
  SECTION("a change of the weights that is not linear") {
    OneHead a;
    a.output(exp(softmax(a.scores(), a.keys)));
    CHECK(why_stored(a.g) == "exp between softmax and matmul is not linear in the weights");
  }
  SECTION("a softmax over another dim than the matmul") {
    OneHead a;
    a.output(softmax(a.scores(), a.queries));
    CHECK(why_stored(a.g) == "the softmax runs over queries, the matmul over keys");
  }
  SECTION("weights without a softmax that are an output") {
    OneHead a;
    const Value weights = select(index(a.queries) >= index(a.keys), a.scores(), 0);
    a.output(weights);
    a.g.output("weights", weights, {a.queries, a.keys});
    CHECK(reasons<GemmRoles>(a.g).back() == "the scores are used elsewhere too and must be stored");
  }
}

TEST_CASE("scores that are not fused say why", "[plan]") {
  SECTION("two products in one score") {
    OneHead a;
    a.output(softmax(a.scores() + matmul(a.q, a.v, a.depth), a.keys));
    CHECK(why_stored(a.g) == "the scores hold 2 products of queries and keys; one can be computed in tiles");
  }
  SECTION("another softmax inside the scores") {
    OneHead a;
    a.output(softmax(softmax(a.scores(), a.queries), a.keys));
    const Reasons all = reasons<RowSoftmaxRoles>(a.g);
    REQUIRE(all.size() == 2);
    CHECK(all[0] == "no matmul sums over its weights");
    CHECK(all[1] == "the scores hold the result of another softmax, which is stored whole");
  }
  SECTION("scores that are used elsewhere") {
    OneHead a;
    const Value scores = a.scores();
    a.output(softmax(scores, a.keys));
    a.g.output("scores", scores, {a.queries, a.keys});
    CHECK(why_stored(a.g) == "the scores are used elsewhere too and must be stored");
  }
  SECTION("scores that are used elsewhere behind their mask") {
    OneHead a;
    const Value scores = mask(a.scores(), index(a.queries) >= index(a.keys));
    a.output(softmax(scores, a.keys));
    a.g.output("greatest", max(scores, a.queries), {a.keys});
    CHECK(why_stored(a.g) == "the scores are used elsewhere too and must be stored");
  }
}

TEST_CASE("products that are no attention say why", "[plan]") {
  SECTION("fusion that is off") {
    OneHead a;
    a.output(softmax(a.scores(), a.keys));
    CHECK(reasons<RowSoftmaxRoles>(a.g, false) == Reasons{"fusion is off"});
    CHECK(reasons<GemmRoles>(a.g, false) == Reasons{"fusion is off", "fusion is off"});
  }
  SECTION("a hidden layer") {
    Graph g;
    const auto [batch, tokens, model, hidden] = g.dims("batch", "tokens", "model", "hidden");
    const Dim out = g.dim("out");
    const Value x = g.input("x", {batch, tokens, model});
    const Value h = linear(x, g.input("w1", {hidden, model}), g.input("b1", {hidden}), model);
    g.output("out", linear(h * 0.5 * (1 + erf(h * 0.7071)), g.input("w2", {out, hidden}), hidden), {batch, tokens, out});
    REQUIRE(std::string(g.problem().view()) == "");
    CHECK(reasons<GemmRoles>(g) == Reasons{"no operand is the result of a softmax",
                                           "the weights are a hidden layer: queries, keys and values share no dim, and no mask is between the products"});
  }
  SECTION("a layer whose residual is normalised: the product is added to what memory holds, and is stored once for all that read it") {
    Graph g;
    const auto [tokens, inner, model, hidden] = g.dims("tokens", "inner", "model", "hidden");
    const Value x = g.input("x", {tokens, model}) + linear(g.input("h", {tokens, inner}), g.input("wo", {model, inner}), inner);
    const Value normal = rms_norm(x, g.input("gain", {model}), model);
    g.output("gate", linear(normal, g.input("wg", {hidden, model}), model), {tokens, hidden});
    g.output("up", linear(normal, g.input("wu", {hidden, model}), model), {tokens, hidden});
    REQUIRE(std::string(g.problem().view()) == "");
    CHECK(reasons<GemmRoles>(g).size() == 3);
    CHECK(reasons<WeightedSumRoles>(g).empty());
  }
  SECTION("nothing to fuse") {
    const Reasons projections = reasons<GemmRoles>(variant_graph("multi_head"));
    CHECK(projections == Reasons(4, "no operand is the result of a softmax"));
  }
}

TEST_CASE("readers of the scores beside the softmax find them stored", "[plan]") {
  // each reader reads the scores as the graph's product gives them, scaled, or masked
  using Reader = void (*)(OneHead&, const Value&);
  const std::vector<Reader> readers = {
      [](OneHead& a, const Value& s) { a.g.output("more", s, {a.queries, a.keys}); },
      [](OneHead& a, const Value& s) { a.g.output("more", exp(s), {a.queries, a.keys}); },
      [](OneHead& a, const Value& s) { a.g.output("more", max(s, a.keys), {a.queries}); },
      [](OneHead& a, const Value& s) { a.g.output("more", max(s * s, {a.queries, a.keys}), {}); },
      [](OneHead& a, const Value& s) { a.g.output("more", log(sum(exp(s - max(s, a.keys)), a.keys)) + max(s, a.keys), {a.queries}); },
      [](OneHead& a, const Value& s) { a.g.output("more", softmax(s, a.queries), {a.queries, a.keys}); },
      [](OneHead& a, const Value& s) { a.g.output("more", matmul(softmax(s * 0.5, a.keys), a.k, a.keys), {a.queries, a.depth}); },
      [](OneHead& a, const Value& s) { a.g.output("more", matmul(sigmoid(s), a.v, a.keys), {a.queries, a.depth}); },
  };
  for (std::size_t reader = 0; reader < readers.size(); ++reader)
    for (const int read : {0, 1, 2}) {
      OneHead a;
      std::vector<Value> values{a.scores()};
      values.push_back(values.back() * 0.25);
      values.push_back(mask(values.back(), index(a.queries) >= index(a.keys)));
      a.output(softmax(values.back(), a.keys));
      readers[reader](a, values[static_cast<std::size_t>(read)]);
      a.g.finish();
      REQUIRE(std::string(a.g.problem().view()) == "");
      INFO("reader " << reader << " of value " << read);
      CHECK(problem_of_plans(a.g) == "");
      int products = 0;
      const Graph plain = expanded(a.g);
      for (const StagePlan& plan : plan_stages(plain))
        for (const int node : plan.nodes) {
          const auto* matmul = std::get_if<Matmul>(&plain.node(node).op);
          products += matmul != nullptr && matmul->over == Names{"depth"};
        }
      CHECK(products == 1);  // the product of queries and keys is computed once
    }
}

// Each step reads the one before it twice, so that there are 2^40 ways down to the product.
TEST_CASE("a value that is read more than once is looked at once", "[plan]") {
  const auto sharpened = [](Value x) {
    for (int step = 0; step < 40; ++step) x = x * (2.0 - x);
    return x;
  };
  OneHead of_sigmoid, of_softmax, of_parts;
  of_sigmoid.output(select(index(of_sigmoid.keys) <= index(of_sigmoid.queries), sharpened(sigmoid(of_sigmoid.scores())), 0.0));
  const Value weights = sharpened(softmax(of_softmax.scores(), of_softmax.keys));
  of_softmax.output(weights / sum(weights, of_softmax.keys));
  const Value position = sharpened(to_real(index(of_parts.keys)));
  const Dim one = of_parts.g.dim("one", 1), all = of_parts.g.dim("all");
  const Value scores = concat({{mask(of_parts.scores(), position < 1.0), of_parts.keys}, {of_parts.g.input("sink", {one}), one}}, all);
  of_parts.output(gather(softmax(scores, all), index(of_parts.keys), all));
  for (OneHead* head : {&of_sigmoid, &of_softmax, &of_parts}) {
    head->g.finish();
    REQUIRE(std::string(head->g.problem().view()) == "");
  }
  CHECK(kinds_of(of_sigmoid.g) == std::vector<std::string>{"weighted_sum"});
  CHECK(kinds_of(of_softmax.g) == std::vector<std::string>{"gemm", "row_softmax", "reduce", "gemm"});
  CHECK(kinds_of(of_parts.g) == std::vector<std::string>{"online_softmax"});
}

TEST_CASE("attention over keys that lie in pages or blocks is fused", "[plan]") {
  CHECK(kinds_of(variant_graph("paged")) == std::vector<std::string>{"online_softmax"});
  OneHead a;
  const Dim blocks = a.g.dim("blocks"), all = a.g.dim("all");
  const Dim inside = a.g.dim("inside", 4);
  const Value block = a.g.input("block", {blocks, inside, a.depth});
  const Value k = merge(block, {blocks, inside}, all);
  const Value squares = maximum(matmul(a.q, k, a.depth), 0.0);
  a.g.output("out", matmul(select(index(all) <= index(a.queries), squares * squares, 0.0), k, all), {a.queries, a.depth});
  a.g.finish();
  REQUIRE(std::string(a.g.problem().view()) == "");
  CHECK(kinds_of(a.g) == std::vector<std::string>{"weighted_sum"});
}

}  // namespace attune
