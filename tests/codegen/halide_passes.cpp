/// Attune's line of Halide's passes gives what Halide's own gives.
#include "codegen/halide/halide_passes.h"

#include <catch2/catch.hpp>

#include <map>

#include "codegen/halide/halide_target.h"
#include "codegen/halide/rewrites/places_before.h"
#include "codegen/halide/rewrites/single_loops.h"
#include "codegen/halide/rewrites/trimmed_loops.h"
#include "codegen/halide/step_code.h"
#include "schedules/common/opaque_condition.h"
#include "tests/codegen/planned.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

using Halide::Expr;
using Halide::Internal::Evaluate;
using Halide::Internal::For;
using Halide::Internal::LetStmt;
using Halide::Internal::Stmt;
using Halide::Internal::Variable;

Expr variable(const char* name) { return Variable::make(Halide::Int(32), name); }

std::vector<std::string> defined_in(const Stmt& s) {
  struct Names : Halide::Internal::IRVisitor {
    std::vector<std::string> names;
    using IRVisitor::visit;
    void visit(const LetStmt* let) override {
      names.push_back(let->name);
      IRVisitor::visit(let);
    }
  } found;
  s.accept(&found);
  return found.names;
}

/// How many loops, arrays and accesses a module has: "for 12, allocate 5, ...".
std::string counted(const Halide::Module& module) {
  struct Counts : Halide::Internal::IRVisitor {
    std::map<std::string, int> of;
    using IRVisitor::visit;
    void visit(const For* op) override { ++of["for"], IRVisitor::visit(op); }
    void visit(const Halide::Internal::Allocate* op) override { ++of["allocate"], IRVisitor::visit(op); }
    void visit(const Halide::Internal::Store* op) override { ++of["store"], IRVisitor::visit(op); }
    void visit(const Halide::Internal::Load* op) override { ++of["load"], IRVisitor::visit(op); }
  } counts;
  for (const auto& function : module.functions()) function.body.accept(&counts);
  std::string text;
  for (const auto& [what, count] : counts.of) text += what + " " + std::to_string(count) + ", ";
  return text;
}

/// The two ways give as many of each for a variant's stages; returns how many codes were compared.
int compared(const char* variant, const char* target_name, const Specialisation& specialisation = {}) {
  const TargetInfo* target = find_target(target_name);
  REQUIRE(target != nullptr);
  const Planned planned(variant_graph(variant), {specialisation});
  const KernelSteps& plan = planned.plan;
  int codes = 0;
  for (const Step& step : plan.steps)
    for (const SizeClass size : {SizeClass::large, SizeClass::few}) {
      const CodeRequest request{plan, step, *target, size, {}};
      if (!schedule_of(request).has_schedule) continue;
      const StepPipeline made = pipeline_of(request);
      Halide::Pipeline pipeline = made.pipeline;
      INFO(variant << " for " << target_name << ", size " << static_cast<int>(size));
      const Halide::Target halide = halide_target(*target);
      const std::string ours = counted(module_through_passes(made.pipeline, made.arguments, "f", halide));
      CHECK(ours == counted(pipeline.compile_to_module(made.arguments, "f", halide, Halide::LinkageType::ExternalPlusArgv)));
      ++codes;
    }
  return codes;
}

}  // namespace

TEST_CASE("definitions that nothing reads are taken out, and those that only such read", "[halide passes]") {
  Stmt s = Evaluate::make(variable("read") + 1);
  s = LetStmt::make("unread", variable("through") * 2, s);
  s = LetStmt::make("i.loop_min.orig", variable("through"), s);
  s = For::make("i", 0, variable("bound"), Halide::Internal::ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, s);
  s = LetStmt::make("i.loop_max", variable("kept") - 1, s);
  s = LetStmt::make("read", variable("twice"), s);
  for (const char* name : {"through", "twice", "kept", "bound"}) s = LetStmt::make(name, 3, s);
  CHECK(defined_in(without_unread(s)) == std::vector<std::string>{"bound", "kept", "twice", "read", "i.loop_max"});
  const Stmt all_read = LetStmt::make("a", 1, Evaluate::make(variable("a")));
  CHECK(without_unread(all_read).same_as(all_read));
}

TEST_CASE("loops that run once by what names stand for are taken out, and others stay", "[halide passes]") {
  const auto loop = [](const std::string& name, const Halide::Expr& first, const Halide::Expr& extent, const Stmt& body) {
    return For::make(name, first, extent, Halide::Internal::ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
  };
  const auto defined = [](Stmt s) {
    s = LetStmt::make("once", variable("end") + 1 - variable("first"), s);
    s = LetStmt::make("end", max(variable("first"), variable("other") / 3), s);
    return LetStmt::make("first", variable("other") / 3, s);
  };
  const Stmt inside = Evaluate::make(variable("i") * variable("k"));
  const Stmt twice = loop("k", 0, variable("once") + 1, inside);
  CHECK(equal(without_single_loops(defined(loop("i", variable("first"), variable("once"), twice))),
              defined(loop("k", 0, variable("once") + 1, Evaluate::make(variable("first") * variable("k"))))));
  const Stmt of_unknown = loop("i", variable("first"), variable("extent"), twice);
  CHECK(without_single_loops(of_unknown).same_as(of_unknown));
  Halide::Internal::PrefetchDirective directive;
  directive.name = "f", directive.at = "i", directive.from = "i", directive.offset = 1;
  const Stmt fetched = Halide::Internal::Prefetch::make("f", {Halide::Float(32)}, {}, directive, Halide::Internal::const_true(), inside);
  const Stmt prefetching = loop("i", variable("first"), 1, fetched);
  CHECK(without_single_loops(prefetching).same_as(prefetching));
}

TEST_CASE("loops take the range that an opaque condition leaves them, and others stay", "[halide passes]") {
  using Halide::Internal::IfThenElse;
  const auto loop = [](const Stmt& body) {
    return For::make("k", 0, variable("extent"), Halide::Internal::ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
  };
  const Expr k = variable("k");
  const Stmt inside = Evaluate::make(k * k), other = Evaluate::make(k);
  const auto when = [&](const Expr& condition, const Stmt& otherwise = {}) { return loop(IfThenElse::make(condition, inside, otherwise)); };
  // The iterations of a loop without a condition, for extents and ends on both sides of each other.
  const auto visited = [&](const Stmt& limited, int extent, int begin, int end) {
    Stmt s = limited;
    for (const auto& [name, value] : std::map<std::string, int>{{"extent", extent}, {"begin", begin}, {"end", end}}) s = substitute(name, value, s);
    while (const auto* let = s.as<LetStmt>()) s = substitute(let->name, let->value, let->body);
    const auto* found = s.as<For>();
    REQUIRE(found != nullptr);
    CHECK(found->body.same_as(inside));
    const auto first = Halide::Internal::as_const_int(Halide::Internal::simplify(found->min)), count = Halide::Internal::as_const_int(Halide::Internal::simplify(found->extent));
    REQUIRE((first && count));
    return std::pair(*first, *count);
  };
  const Stmt below = with_limited_loops(when(opaque_condition(variable("begin") + k < variable("end"))));
  CHECK(visited(below, 10, 3, 8) == std::pair<std::int64_t, std::int64_t>(0, 5));
  CHECK(visited(below, 4, 3, 8) == std::pair<std::int64_t, std::int64_t>(0, 4));
  CHECK(visited(below, 4, 9, 8) == std::pair<std::int64_t, std::int64_t>(0, 0));
  const Stmt between = with_limited_loops(when(opaque_condition(variable("begin") <= k && k < variable("end"))));
  CHECK(visited(between, 10, 3, 8) == std::pair<std::int64_t, std::int64_t>(3, 5));
  CHECK(visited(between, 6, 3, 8) == std::pair<std::int64_t, std::int64_t>(3, 3));
  CHECK(visited(between, 6, 7, 8).second == 0);
  for (const Stmt& same : {when(variable("begin") + k < variable("end")), when(opaque_condition(k < variable("end")), other), when(opaque_condition(k % 2 == 0)),
                           when(opaque_condition(k < variable("begin") || k > variable("end")))})
    CHECK(with_limited_loops(same).same_as(same));
}

TEST_CASE("vectors that begin before an array's first element by a number get a name for it, and others stay", "[halide passes]") {
  using namespace Halide::Internal;
  const Expr hidden = Ramp::make(0, 1, 8) >= Broadcast::make(variable("first"), 8);
  const auto load = [&](const Expr& place, int stride) {
    return Load::make(Halide::Float(32, 8), "array", Ramp::make(place, stride, 8), Halide::Buffer<>(), Halide::Parameter(), hidden, ModulusRemainder());
  };
  const auto store = [&](const Expr& place, const Expr& value) {
    return Store::make("array", value, Ramp::make(place, 1, 8), Halide::Parameter(), hidden, ModulusRemainder());
  };
  for (const Stmt& same : {store(0, load(7, -1)), store(variable("place") - 3, load(variable("place"), 1)), Stmt(Evaluate::make(load(-3, 0) + load(0, 2)))})
    CHECK(with_named_places_before(same).same_as(same) == (same.as<Store>() != nullptr));
  const Stmt named = with_named_places_before(store(-3, load(6, -1)));
  const auto* let = named.as<LetStmt>();
  REQUIRE(let != nullptr);
  const auto* inner = let->body.as<Store>()->value.as<Let>();
  REQUIRE(inner != nullptr);
  CHECK(equal(substitute(let->name, let->value, let->body), store(-3, Let::make(inner->name, 6, load(variable(inner->name.c_str()), -1)))));
}

TEST_CASE("the line of passes gives the loops, arrays and accesses that Halide's own lowering gives", "[halide passes]") {
  CHECK(compared("causal", "x86-64-v3", {{{"depth", 16}, {"value_depth", 16}}, Element::f32, {}}) == 2);
  CHECK(compared("document", "zen5") == 2);
  CHECK(compared("multi_head", "x86-64-v4", {{{"depth", 16}, {"value_depth", 16}}, Element::f32, {}}) > 2);
  CHECK(compared("grouped_query", "cuda") > 0);
  CHECK(compared("soft_cap", "opencl") > 0);
}

TEST_CASE("kernels for Vulkan take words of 32 bits alone", "[halide passes]") {
  using Halide::cast;
  const auto lower = [](const Expr& factor, std::vector<Halide::Argument> arguments) {
    const Halide::ImageParam in(Halide::Float(32), 2, "in");
    const Halide::Var x("x"), y("y"), x_in("x_in"), y_in("y_in");
    Halide::Func f("f");
    f(x, y) = in(x, y) + cast<float>((factor * cast<std::int64_t>(in.dim(0).extent())) % cast<std::int64_t>(y + 1));
    f.gpu_tile(x, y, x_in, y_in, 8, 8);
    arguments.emplace_back(in);
    return module_through_passes(Halide::Pipeline(f), arguments, "f", halide_target(*find_target("vulkan")));
  };
  // the product does not depend on the place: Halide computes it outside
  const Halide::Param<int> words("words");
  CHECK(lower(cast<std::int64_t>(words), {words}).functions().size() == 1);
  const Halide::Param<std::int64_t> factor("factor");
  CHECK_THROWS_WITH(lower(factor, {factor}), "internal: a kernel for Vulkan takes 'factor', which is no word of 32 bits");
}

}  // namespace attune
