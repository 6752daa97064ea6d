/// Which stages tensor cores take and which they leave to Halide's schedules, and what ptxas makes of their kernels.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>
#include <sstream>

#include "codegen/output/code_generators.h"
#include "tests/codegen/planned.h"
#include "tests/folder.h"
#include "tests/ptxas.h"
#include "tests/skip.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

StageOptions storing(Element reals, std::int64_t depth = 64, std::int64_t value_depth = 64) {
  StageOptions options;
  options.specialisation.reals = reals;
  if (depth > 0) options.specialisation.extents = {{"depth", depth}, {"value_depth", value_depth}};
  return options;
}

ScheduleChoice chosen(const std::string& text) {
  const ScheduleChoiceAnswer answer = parse_schedule_choice(text);
  REQUIRE(answer.problem == "");
  return answer.choice;
}

StepSchedule named(std::string name) {
  StepSchedule schedule;
  schedule.name = std::move(name);
  return schedule;
}

/// The schedule of the attention in a variant's kernel for CUDA, or the problem in place of its name.
StepSchedule attention_of(const std::string& variant, const StageOptions& options, const ScheduleChoice& choice = {},
                          const std::vector<std::string>& settings = {}, SizeClass size = SizeClass::large) {
  const Planned planned(variant_graph(variant, settings), options);
  for (const Step& step : planned.plan.steps) {
    if (step.kind() != "online_softmax") continue;
    GeneratorAnswer answer = generator_of({planned.plan, step, *find_target("cuda"), size, choice});
    if (!answer.problem.empty()) return named(answer.problem);
    return std::move(answer.schedule);
  }
  return named("no attention");
}

/// Why tensor cores leave a variant's attention to Halide.
std::string declined(const std::string& variant, const StageOptions& options, const std::vector<std::string>& settings = {}) {
  const StepSchedule schedule = attention_of(variant, options, {}, settings);
  CHECK(schedule.name == "gpu_online_softmax");
  return schedule.declined;
}

/// The text of a variant's kernel for CUDA.
std::string ptx_of(const std::string& variant, const StageOptions& options, const ScheduleChoice& choice = {}, SizeClass size = SizeClass::large) {
  const Planned planned(variant_graph(variant), options);
  CodeAnswer answer = code_of({planned.plan, planned.plan.steps.at(0), *find_target("cuda"), size, choice}, "kernel", CodeForm::assembly);
  REQUIRE(answer.problem == "");
  return answer.bytes;
}

/// Passes the modules of a text to ptxas.
class Assembler {
 public:
  /// False where there is none: the test case is skipped then.
  bool is_there() const { return !program_.empty(); }

  /// A module that has passed is not read again: schedules that differ in one kernel share the other.
  void check(const std::string& modules, int most_spilled = 0) {
    const std::string_view begin = ".version";
    for (std::size_t first = modules.find(begin), next = 0; first != std::string::npos; first = next) {
      next = modules.find(begin, first + 1);
      if (const std::string module = modules.substr(first, next - first); checked_.emplace(module, most_spilled).second) check_module(module, most_spilled);
    }
  }
  /// Of the first step, with a schedule or by default.
  void check_products(Element element, const std::string& schedule) {
    CAPTURE(name_of(element), schedule);
    const Planned of(variant_graph("multi_head"), storing(element, 0));
    check(code_of({of.plan, of.plan.steps.at(0), *find_target("cuda"), SizeClass::large, chosen(schedule)}, "kernel", CodeForm::assembly).bytes);
  }
  void check_attention(Element element, std::initializer_list<const char*> variants, SizeClass size, int most_spilled = 0) {
    for (const char* variant : variants) {
      CAPTURE(variant, name_of(element));
      check(ptx_of(variant, storing(element, 128, 128), {}, size), most_spilled);
    }
  }

 private:
  void check_module(const std::string& ptx, int most_spilled) const {
    const std::string path = folder_.write("kernel.ptx", ptx);
    const std::string architecture = ptx.find(".target sm_90a") != std::string::npos ? "sm_90a" : "sm_90";
    REQUIRE(std::system((program_ + " -v -arch=" + architecture + " -o " + path + ".cubin " + path + " > " + path + ".log 2>&1").c_str()) == 0);
    std::istringstream said(contents(path + ".log"));
    int kernels = 0;
    for (std::string line; std::getline(said, line);) {
      const std::string frame = " bytes stack frame, ";
      const std::size_t spilled = line.find(frame);
      if (spilled == std::string::npos) continue;
      ++kernels;
      INFO(line);
      CHECK(std::stoi(line.substr(spilled + frame.size())) <= most_spilled);
    }
    CHECK(kernels > 0);
    CHECK_THAT(said.str(), !Catch::Contains("serialized"));  // what ptxas says of products of warpgroups that wait for each other
  }

  std::string program_ = ptxas();
  Folder folder_;
  std::set<std::pair<std::string, int>> checked_;
};
constexpr const char* no_assembler = "there is no ptxas on the PATH or in /usr/local/cuda/bin";

// Parts of f32 and 16 rows of queries and of sums are more than registers; beside masks some addresses wait outside of registers for the next block of keys.
constexpr int spilled_of_few = 200, spilled_beside_masks = 24;

}  // namespace

TEST_CASE("tensor cores take attention whose depths are known", "[tensor cores]") {
  for (const char* variant : {"scaled_dot_product", "causal", "causal_offset", "sliding_window", "sinks", "prefix_lm", "document", "soft_cap",
                              "alibi", "padded", "masked", "grouped_query"})
    for (const Element element : {Element::bf16, Element::f16, Element::f32}) {
      CAPTURE(variant, name_of(element));
      const StepSchedule schedule = attention_of(variant, storing(element));
      CHECK(schedule.name == "mma_online_softmax");
      CHECK(schedule.declined == "");
    }
  CHECK(attention_of("relative_bias", storing(Element::bf16)).name == "mma_online_softmax");
  CHECK(attention_of("scaled_dot_product", storing(Element::bf16), {}, {"lse=true"}).name == "mma_online_softmax");
}

TEST_CASE("attention of aligned rows has a kernel of warpgroups beside the one for all devices", "[tensor cores]") {
  for (const Element element : {Element::bf16, Element::f16}) {
    const StepSchedule schedule = attention_of("causal", storing(element, 128, 72));
    REQUIRE(schedule.beside.size() == 1);
    CHECK(schedule.beside[0].name == "wgmma_online_softmax");
    CHECK(schedule.beside[0].devices == "compute capability 9.0");
  }
  CHECK(attention_of("causal", storing(Element::bf16, 65, 64)).beside.empty());
  CHECK(attention_of("causal", storing(Element::bf16), chosen("mma_online_softmax")).beside.empty());
  const StepSchedule small = attention_of("causal", storing(Element::bf16), chosen("wgmma_online_softmax,key_tile=96,stages=3"));
  REQUIRE(small.beside.size() == 1);
  CHECK(value_of(small.beside[0].parameters, "key_tile") == 96);
  CHECK(attention_of("causal", storing(Element::bf16, 128, 128), chosen("wgmma_online_softmax,key_tile=176,stages=3")).name ==
        "schedule 'wgmma_online_softmax': a block shares 303104 bytes; at most 232448 are there on compute capability 9.0");
}

TEST_CASE("tensor cores split the keys of few queries, unless another of their schedules is named", "[tensor cores]") {
  const auto of_few = [](const StageOptions& options, const std::string& choice = {}) {
    return attention_of("grouped_query", options, choice.empty() ? ScheduleChoice{} : chosen(choice), {}, SizeClass::few);
  };
  for (const Element element : {Element::bf16, Element::f16, Element::f32}) {
    const StepSchedule schedule = of_few(storing(element));
    CHECK(schedule.name == "mma_split_keys");
    CHECK(schedule.is_made_for_size);
    REQUIRE(schedule.limits.value().size() == 2);
    CHECK(schedule.limits->at(0).dim == "queries");
    CHECK(schedule.limits->at(0).largest == 16);
    CHECK(schedule.limits->at(1).dim == "keys");
    CHECK(schedule.beside.empty());
  }
  CHECK(of_few(storing(Element::bf16), "mma_online_softmax").name == "mma_online_softmax");
  CHECK(of_few(storing(Element::bf16), "wgmma_online_softmax").name == "mma_online_softmax");
  CHECK(of_few(storing(Element::bf16), "gpu_split_keys").name == "gpu_split_keys");
  CHECK(attention_of("grouped_query", storing(Element::bf16), chosen("mma_split_keys")).name == "mma_split_keys");
  const StepSchedule unknown = of_few(storing(Element::bf16, 0));
  CHECK(unknown.name == "gpu_split_keys");
  CHECK(unknown.declined == "tensor cores need 'depth' known when the kernel is compiled: --set depth=64");
  CHECK(of_few(storing(Element::bf16), "mma_split_keys,size=few,row_tile=32,key_warps=1,key_tile=16").name ==
        "schedule 'mma_split_keys': row_tile = 32 queries need as many rows of shared memory as a block's key_tile x key_warps = 16 x 1");
  CHECK(of_few(storing(Element::bf16, 128, 128), "mma_split_keys,size=few,stages=4").name ==
        "schedule 'mma_split_keys': a block shares 65536 bytes; at most 49152 are there on every device");
}

TEST_CASE("tensor cores take attention inside of layers, whose stages store f32 for one another", "[tensor cores]") {
  for (const Element element : {Element::bf16, Element::f32}) CHECK(attention_of("multi_head", storing(element)).name == "mma_online_softmax");
}

TEST_CASE("attention that tensor cores do not take has Halide's schedule, and the reason is said", "[tensor cores]") {
  CHECK(declined("causal", storing(Element::bf16, 0)) == "tensor cores need 'depth' known when the kernel is compiled: --set depth=64");
  CHECK(declined("causal", storing(Element::bf16, 129, 64)) == "tensor cores take 1 to 128 columns, and depth = 129");
  CHECK(declined("causal", storing(Element::bf16, 64, 200)) == "tensor cores take 1 to 128 columns, and value_depth = 200");
  CHECK(declined("additive", storing(Element::bf16, 0)) ==
        "tensor cores multiply one matrix of queries with one of keys, and the scores are none such product");
  StageOptions mixed = storing(Element::bf16);
  mixed.specialisation.storage = {{"k", Element::f32}};
  CHECK(declined("causal", mixed) == "tensor cores multiply operands of one storage: 'q' is bf16 and 'k' is f32");
}

TEST_CASE("a schedule that the command line names has the step, whichever generator it is of", "[tensor cores]") {
  for (const Element element : {Element::bf16, Element::f32})
    CHECK(attention_of("causal", storing(element), chosen("gpu_online_softmax")).name == "gpu_online_softmax");
  const StepSchedule small = attention_of("causal", storing(Element::bf16), chosen("mma_online_softmax,query_tile=64,key_tile=32,warp_rows=16"));
  CHECK(small.name == "mma_online_softmax");
  CHECK(value_of(small.parameters, "key_tile") == 32);
  REQUIRE(small.blocks.has_value());
  CHECK(small.blocks->query_tile == 64);
  CHECK(attention_of("causal", storing(Element::bf16, 128, 128), chosen("mma_online_softmax,key_tile=128")).name ==
        "schedule 'mma_online_softmax': a block shares 65536 bytes; at most 49152 are there on every device");
}

TEST_CASE("tensor cores leave what they compute too roughly to Halide", "[tensor cores]") {
  Graph g;
  const Dim rows = g.dim("rows"), columns = g.dim("columns"), over = g.dim("over");
  g.output("out", cos(matmul(g.input("a", {rows, over}), g.input("b", {columns, over}), over)), {rows, columns});
  g.finish();
  const Planned planned(g, storing(Element::bf16, 0));
  const GeneratorAnswer answer = generator_of({planned.plan, planned.plan.steps.at(0), *find_target("cuda"), SizeClass::large, {}});
  CHECK(answer.schedule.name == "gpu_gemm");
  CHECK(answer.schedule.declined == "tensor cores have no code for 'cos' of the result");
}

TEST_CASE("tensor cores take products of bf16, f16 and f32 that are stored by rows, and warpgroups those of 16 bits", "[tensor cores]") {
  const Planned planned(variant_graph("multi_head"), storing(Element::bf16, 0));
  std::vector<std::string> schedules;
  for (const Step& step : planned.plan.steps) {
    const GeneratorAnswer answer = generator_of({planned.plan, step, *find_target("cuda"), SizeClass::large, {}});
    schedules.push_back(answer.schedule.name + (answer.schedule.declined.empty() ? "" : ", since " + answer.schedule.declined));
  }
  CHECK(schedules == std::vector<std::string>{"mma_gemm", "mma_gemm", "mma_gemm",
                                              "gpu_online_softmax, since tensor cores need 'depth' known when the kernel is compiled: --set depth=64",
                                              "mma_gemm"});
  for (const Element element : {Element::bf16, Element::f32}) {
    StageOptions mixed = storing(Element::bf16, 0);
    mixed.specialisation.storage = {{"wq", element}};
    const Planned of(variant_graph("multi_head"), mixed);
    const GeneratorAnswer answer = generator_of({of.plan, of.plan.steps.at(0), *find_target("cuda"), SizeClass::large, {}});
    CHECK(answer.schedule.name == "mma_gemm");
    CHECK(answer.schedule.beside.size() == (element == Element::f32 ? 0 : 1));
  }
}

TEST_CASE("a schedule for some devices stands beside that for all, and each has the parameters that are said of it", "[tensor cores]") {
  const Planned planned(variant_graph("multi_head"), storing(Element::bf16, 0));
  const auto of = [&](const std::string& choice) {
    return generator_of(
        {planned.plan, planned.plan.steps.at(0), *find_target("cuda"), SizeClass::large, choice.empty() ? ScheduleChoice{} : chosen(choice)});
  };
  const StepSchedule by_default = of("").schedule;
  CHECK(by_default.name == "mma_gemm");
  REQUIRE(by_default.beside.size() == 1);
  CHECK(by_default.beside[0].name == "wgmma_gemm");
  CHECK(by_default.beside[0].devices == "compute capability 9.0");
  const StepSchedule said = of("wgmma_gemm,row_tile=64,column_tile=64").schedule;
  CHECK(said.name == "mma_gemm");
  CHECK(said.origin == "default");
  REQUIRE(said.beside.size() == 1);
  CHECK(value_of(said.beside[0].parameters, "row_tile") == 64);
  CHECK(said.beside[0].origin == "command line");
  CHECK(of("mma_gemm,stages=2").schedule.beside.empty());
  CHECK(of("gpu_gemm").schedule.name == "gpu_gemm");
  CHECK(of("wgmma_gemm,row_tile=64,group_rows=128,column_tile=128").problem ==
        "schedule 'wgmma_gemm': row_tile = 64 is not a multiple of group_rows = 128");
  CHECK(of("wgmma_gemm,row_tile=128,group_rows=128,column_tile=256").problem ==
        "schedule 'wgmma_gemm': a thread has 256 sums of group_rows x column_tile = 128 x 256; at most 128 stay in registers");
  CHECK(of("wgmma_gemm,row_tile=256,group_rows=64,column_tile=256").problem ==
        "schedule 'wgmma_gemm': the 512 threads of a block have more sums than registers; smaller tiles have fewer");
  CHECK(of("wgmma_gemm,row_tile=128,column_tile=256,stages=5").problem ==
        "schedule 'wgmma_gemm': a block shares 245760 bytes; at most 232448 are there on compute capability 9.0");
}

// ptxas takes a second for a kernel: of each kind of mask and of what changes scores there is one, in one type. Those of attention, causal and grouped
// queries stand in docs/gpu.md; depth 64 takes fewer registers.
TEST_CASE("kernels of tensor cores pass ptxas with at most 255 registers, and spill nothing, or beside the walk over keys", "[tensor cores]") {
  Assembler assembler;
  if (!assembler.is_there()) return skip(no_assembler);
  assembler.check_attention(Element::bf16, {"padded", "soft_cap"}, SizeClass::few);
  assembler.check_attention(Element::f32, {"masked"}, SizeClass::few, spilled_of_few);
  assembler.check_attention(Element::bf16, {"sliding_window", "alibi", "document", "masked"}, SizeClass::large);
  assembler.check_attention(Element::f32, {"padded", "prefix_lm"}, SizeClass::large, spilled_beside_masks);
}

TEST_CASE("kernels of tensor cores of other variants pass ptxas with at most 255 registers, and spill nothing, or beside the walk over keys", "[tensor cores][.full]") {
  Assembler assembler;
  if (!assembler.is_there()) return skip(no_assembler);
  const auto few = {"grouped_query", "padded", "masked", "soft_cap"};
  assembler.check_attention(Element::bf16, few, SizeClass::few);
  assembler.check_attention(Element::f32, few, SizeClass::few, spilled_of_few);
  assembler.check_attention(Element::bf16, {"sliding_window", "grouped_query", "padded", "alibi", "document", "masked", "soft_cap", "prefix_lm"}, SizeClass::large);
  assembler.check_attention(Element::f32, {"padded", "masked", "soft_cap", "prefix_lm"}, SizeClass::large, spilled_beside_masks);
}

TEST_CASE("kernels of tensor cores of other tiles pass ptxas with at most 255 registers, and spill nothing", "[tensor cores]") {
  Assembler assembler;
  if (!assembler.is_there()) return skip(no_assembler);
  for (const char* schedule : {"mma_gemm,warp_columns=32", "mma_gemm,warp_rows=32", "mma_gemm,row_tile=64,column_tile=64,warp_rows=32,warp_columns=32"})
    assembler.check_products(Element::f32, schedule);
  for (const char* tiles : {"row_tile=128,column_tile=256,group_rows=64,stages=4", "row_tile=256,column_tile=128,group_rows=128,stages=4",
                            "row_tile=256,column_tile=128,group_rows=64,stages=3", "row_tile=64,column_tile=64,group_rows=64,stages=6"})
    assembler.check_products(Element::bf16, "wgmma_gemm," + std::string(tiles));
  for (const char* tiles : {"query_tile=128,key_tile=176,stages=2", "query_tile=192,key_tile=64,stages=3,turns=1",
                            "query_tile=128,key_tile=128,stages=3,turns=1", "query_tile=128,key_tile=128,stages=2,query_registers=1"})
    assembler.check(ptx_of("scaled_dot_product", storing(Element::bf16, 128, 128), chosen("wgmma_online_softmax," + std::string(tiles))));
}

}  // namespace attune
