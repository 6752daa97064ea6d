/// A function's stages as a kernel calls them, and the processes that compile them.
#include "codegen/steps/steps.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/files/jobs.h"
#include "tests/codegen/planned.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

const StepTensor& tensor(const KernelSteps& plan, std::string_view name) { return *std::ranges::find(plan.tensors, name, &StepTensor::name); }

using Names_ = std::vector<std::string>;

}  // namespace

TEST_CASE("a kernel's steps read and write tensors of the call and what steps store", "[steps]") {
  const Planned planned(variant_graph("multi_head"));
  CHECK(text_of(planned.plan) == Names_{"gemm x wq -> step0", "gemm x wk -> step1", "gemm x wv -> step2", "online_softmax step0 step1 step2 -> step3",
                                 "gemm wo step3 -> out"});
  CHECK(tensor(planned.plan, "x").role == StepTensor::Role::input);
  CHECK(tensor(planned.plan, "out").role == StepTensor::Role::output);
  CHECK(tensor(planned.plan, "step3").role == StepTensor::Role::stored);
  CHECK(tensor(planned.plan, "step1").dims == Names_{"batch", "heads", "tokens", "depth"});
}

TEST_CASE("a step knows which of its dims follow from others of it", "[steps]") {
  // The table of a relative bias has a row for each difference of a query and a key.
  const Planned bias(variant_graph("relative_bias"), {{{{"depth", 64}}, Element::f32, {}}});
  REQUIRE(bias.plan.steps.size() == 2);
  const Step& attention = bias.plan.steps[1];
  REQUIRE(attention.derivations.size() == 1);
  CHECK(attention.derivations[0].dim == "span");
  for (const Name operand : attention.derivations[0].operands) CHECK(std::ranges::find(attention.dims, operand) != attention.dims.end());
  // The step that fills the table has queries and keys as numbers of its own, or does not know what span is made of.
  for (const Derivation& derivation : bias.plan.steps[0].derivations)
    for (const Name operand : derivation.operands) CHECK(std::ranges::find(bias.plan.steps[0].dims, operand) != bias.plan.steps[0].dims.end());

  // The same body is other code where an extent follows from others, and where operands lie in another order.
  const auto identity = [](bool follows, bool is_turned) {
    Graph g;
    const Dim rows = g.dim("rows"), columns = follows ? g.dim("columns") : g.dim("others");
    const Value x = follows ? rename(g.input("x", {rows}), rows, columns) : g.input("x", {columns});
    const Value y = is_turned ? g.input("y", {columns, rows}) : g.input("y", {rows, columns});
    g.output("out", matmul(y, x, columns), {rows});
    g.finish();
    return Planned(g).plan.steps.back().identity;
  };
  CHECK(identity(false, false) == identity(false, false));
  CHECK(identity(true, false) != identity(false, false));
  CHECK(identity(false, true) != identity(false, false));
}

TEST_CASE("steps are the same code where body, numbers, storage and known extents are the same", "[steps]") {
  const Planned planned(variant_graph("multi_head"));
  CHECK(planned.plan.steps[1].identity == planned.plan.steps[2].identity);
  CHECK(planned.plan.steps[0].identity != planned.plan.steps[1].identity);  // queries are scaled
  const Planned known(variant_graph("multi_head"), {{{{"depth", 64}}, Element::f32, {}}});
  CHECK(known.plan.steps[1].identity != known.plan.steps[2].identity);  // the depth of keys is known, that of values is not
  CHECK(std::ranges::find(known.plan.steps[1].dims, "depth") == known.plan.steps[1].dims.end());
  CHECK(std::ranges::find(planned.plan.steps[1].dims, "depth") != planned.plan.steps[1].dims.end());
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns");
  const Value x = g.input("x", {rows, columns}), y = g.input("y", {rows, columns});
  g.output("a", x * 0.1, {rows, columns});
  g.output("b", y * 0.1, {rows, columns});
  g.output("c", x * 0.2, {rows, columns});
  g.output("turned", x * 0.1, {columns, rows});
  g.finish();
  const Planned four(g);
  std::set<std::string> identities;
  for (const Step& step : four.plan.steps) identities.insert(step.identity);
  CHECK(identities.size() == four.plan.steps.size() - 1);  // those of a and b are the same
}

TEST_CASE("what operands of products may be rounded to is how products store them for one another", "[steps]") {
  const auto elements = [](const Graph& graph, Element products) {
    StageOptions options;
    options.specialisation.products = products;
    const Planned planned(graph, options);
    std::vector<Element> stored;
    for (const StepTensor& tensor : planned.plan.tensors)
      if (tensor.role == StepTensor::Role::stored) stored.push_back(tensor.element);
    return stored;
  };
  const std::vector<Element> exact(4, Element::f32), rounded(4, Element::bf16);
  CHECK(elements(variant_graph("multi_head"), Element::f32) == exact);
  CHECK(elements(variant_graph("multi_head"), Element::bf16) == rounded);
  // One that something else reads, too, stays as it is.
  Graph g;
  const auto [rows, inner, hidden, model] = g.dims("rows", "inner", "hidden", "model");
  const Value first = linear(g.input("x", {rows, model}), g.input("a", {inner, model}), model);
  g.output("out", linear(first, g.input("b", {hidden, inner}), inner), {rows, hidden});
  g.output("norm", sum(first * first, inner), {rows});
  g.finish();
  CHECK(elements(g, Element::bf16) == std::vector{Element::f32});
  // Products that may be rounded are other code than those that may not.
  const auto identity = [](Element products) {
    StageOptions options;
    options.specialisation.products = products;
    return Planned(variant_graph("causal"), options).plan.steps[0].identity;
  };
  CHECK(identity(Element::bf16) != identity(Element::f32));
}

TEST_CASE("a result that another storage or order is wanted of is copied by a step of its own", "[steps]") {
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns");
  const Value x = g.input("x", {rows, columns});
  const Value y = exp(x);
  g.output("half", y, {rows, columns});
  g.output("whole", y, {rows, columns});
  g.output("turned", y, {columns, rows});
  g.output("sums", sum(y, columns), {rows});
  g.finish();
  const Planned planned(g, {{{}, Element::f32, {{"half", Element::bf16}}}});
  std::size_t copies = 0;
  for (const Step& step : planned.plan.steps) copies += step.reason.starts_with("stored as ");
  CHECK(copies == 2);
  CHECK(planned.plan.steps.back().key.stage == "");
  for (const Step& step : planned.plan.steps)
    if (step.reason == "stored as bf16") CHECK(planned.plan.tensors[step.outputs[0]].name == "half");
}

TEST_CASE("a stage that stores two results is one step, and each lies as it is read", "[steps]") {
  const Planned planned(variant_graph("scaled_dot_product", {"lse=true"}));
  CHECK(text_of(planned.plan) == std::vector<std::string>{"online_softmax q k v -> out lse"});
  CHECK(tensor(planned.plan, "lse").dims == std::vector<std::string>{"batch", "heads", "queries"});
  CHECK(planned.plan.steps[0].key.types == "f32 f32 f32 -> f32 f32");
}

TEST_CASE("weights beside a result come from what the softmax divides by, not from stored scores", "[steps]") {
  const Planned planned(variant_graph("multi_head", {"weights=true"}));
  CHECK(text_of(planned.plan) == std::vector<std::string>{"gemm x wq -> step0", "gemm x wk -> step1", "gemm x wv -> step2",
                                                   "online_softmax step0 step1 step2 -> step3 step3_1", "gemm wo step3 -> out",
                                                   "gemm step0 step1 step3_1 -> weights"});
  for (const StepTensor& tensor : planned.plan.tensors) {
    const bool holds_pairs = std::ranges::count(tensor.dims, "tokens") != 0 && std::ranges::count(tensor.dims, "keys") != 0;
    CHECK(holds_pairs == (tensor.name == "weights"));
  }
}

TEST_CASE("jobs give their bytes in their order, whatever the others do and however many run at once", "[steps]") {
  std::vector<std::function<JobResult()>> jobs;
  static int count = 0;
  for (int i = 0; i < 7; ++i)
    jobs.emplace_back([i] {
      return JobResult{std::string(static_cast<std::size_t>(i) * 100000, static_cast<char>('a' + i)) + std::to_string(++count), {}};
    });
  jobs.emplace_back([] { return JobResult{{}, "a sentence"}; });
  jobs.emplace_back([]() -> JobResult { throw std::runtime_error("thrown"); });
  jobs.emplace_back([]() -> JobResult {
    std::signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return {};
  });
  jobs.emplace_back([]() -> JobResult { _exit(0); });
  for (const int at_once : {1, 3, 100}) {
    const std::vector<JobResult> results = run_jobs(jobs, at_once);
    REQUIRE(results.size() == 11);
    for (std::size_t i = 0; i < 7; ++i) {
      CHECK(results[i].problem == "");
      CHECK(results[i].bytes == std::string(i * 100000, static_cast<char>('a' + i)) + "1");  // each begins with what this process has
    }
    CHECK(results[7].problem == "a sentence");
    CHECK(results[8].problem == "internal: thrown");
    CHECK(results[9].problem == "internal: the compiler of a stage ended by the signal Segmentation fault");
    CHECK(results[10].problem == "internal: the compiler of a stage ended without a result");
  }
  CHECK(count == 0);
  CHECK(run_jobs({}, 4).empty());
}

}  // namespace attune
