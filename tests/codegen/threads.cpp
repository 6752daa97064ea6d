/// Compiled kernels called from many threads at once, and on one thread and on two.
#include "runtime/threads.h"

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/codegen/kernel_call.h"

namespace attune {
namespace {

constexpr std::size_t callers = 8;

/// What each of eight threads at once finds wrong; empty where nothing is.
std::array<std::string, callers> at_once(const std::function<std::string(std::size_t caller)>& body) {
  std::array<std::string, callers> found;
  std::vector<std::thread> threads;
  for (std::size_t caller = 0; caller < callers; ++caller) threads.emplace_back([&, caller] { found[caller] = body(caller); });
  for (std::thread& thread : threads) thread.join();
  return found;
}

std::string number(std::size_t n) { return std::to_string(n); }

/// Dropout alone and between softmax and matmul, over more elements than a task takes.
struct Drops {
  void operator()(Graph& g) const {
    auto [batch, queries, keys, depth] = g.dims("batch", "queries", "keys", "depth");
    const Value x = g.input("x", {batch, queries, keys});
    const Value v = g.input("v", {batch, keys, depth});
    const Value seed = g.input("seed", {}, Kind::i64);
    const Value offset = g.input("offset", {}, Kind::i64);
    g.output("dropped", dropout(x, 0.25, seed, offset), {batch, queries, keys});
    g.output("attended", matmul(dropout(softmax(x, keys), 0.5, seed, offset), v, keys), {batch, queries, depth});
  }
};

}  // namespace

TEST_CASE("eight threads at once call kernels of two files with extents of their own", "[threads]") {
  const KernelCase causal("causal"), layer("multi_head", {.settings = {"lengths=true"}});
  constexpr std::size_t calls = 6;
  struct Call {
    const KernelCase& kernel;
    std::string shape;
  };
  const auto call_of = [&](std::size_t caller, std::size_t n) {
    const std::string tokens = number(1 + 17 * caller + 5 * n);
    return (caller + n) % 2 == 0 ? Call{causal, "batch=1,queries=" + tokens + ",keys=" + number(37 + 13 * caller) + ",depth=16"}
                                 : Call{layer, "batch=2,tokens=" + tokens + ",depth=" + number(1 + caller)};
  };
  // A KernelCase is one thread's until it has compiled what calls take.
  for (const KernelCase* kernel : {&causal, &layer}) {
    std::vector<Shape> extents;
    for (std::size_t n = 0; n < callers * calls; ++n)
      if (const Call call = call_of(n / calls, n % calls); &call.kernel == kernel) extents.push_back(kernel->filled(call.shape).extents);
    kernel->compile_for(extents);
  }
  REQUIRE(set_num_threads(2));
  const auto found = at_once([&](std::size_t caller) {
    std::string problem;
    for (std::size_t n = 0; n < calls && problem.empty(); ++n) {
      const Call call = call_of(caller, n);
      problem = call.kernel.difference(call.shape, caller + n);
    }
    return problem;
  });
  for (const std::string& problem : found) CHECK(problem == "");
}

TEST_CASE("schedules of every kind agree with the interpreter on two threads, and give the same bits in the next call", "[threads]") {
  REQUIRE(set_num_threads(2));
  for (const KernelCall::Choice& choice : calls_of_every_kind()) {
    KernelCall call(choice);
    INFO(call.name());
    for (int repeated = 0; repeated < 2; ++repeated) CHECK(call.problem_of_next() == "");
  }
}

TEST_CASE("dropout is the same bit by bit on one thread and on two, and drops what the interpreter drops", "[threads]") {
  const Graph graph = build(Drops{});
  const KernelCase kernel(graph, "drops");
  const Shape extents = fill_shape(graph, parse_shape("batch=3,queries=131,keys=301,depth=16", "shape").extents).extents;
  Arrays inputs = random_inputs(graph, extents, 5);
  inputs.at("seed").data = {1234567890123};
  inputs.at("offset").data = {-5};
  REQUIRE(set_num_threads(1));
  const auto one = kernel.outputs(extents, inputs);
  REQUIRE(set_num_threads(2));
  CHECK(kernel.outputs(extents, inputs) == one);
  const Array expected = interpret(graph, inputs).outputs.at("dropped");
  std::size_t others = 0;
  for (std::size_t i = 0; i < expected.data.size(); ++i) others += (one.at("dropped")[i] == 0) != (expected.data[i] == 0);
  CHECK(others == 0);
  CHECK(kernel.difference(extents, inputs) == "");
}

}  // namespace attune
