/// Numbers below 2^-126: some CPUs take a hundred cycles over each operation that meets one, so none of attention does where the inputs are ordinary.
#include <catch2/catch.hpp>

#include <string>

#include "dsl/variants/attention.h"
#include "runtime/threads.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/skip.h"
#include "tools/attune/trial.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace attune {
namespace {

#if defined(__x86_64__)

/// "operands", "results" or both, if the CPU says that of the operations of a call on this thread some were below 2^-126; empty otherwise.
std::string met_in(const KernelCase& kernel, const Shape& extents, const Arrays& inputs) {
  constexpr unsigned denormal_operand = 0x02, underflow = 0x10;  // of MXCSR; they stay until they are cleared
  const Kernel& compiled = kernel.kernel_for(extents);
  Trial trial = trial_of(compiled, extents, inputs);
  _mm_setcsr(_mm_getcsr() & ~(denormal_operand | underflow));
  trial.call(compiled).value();
  const unsigned flags = _mm_getcsr();
  CHECK(trial.compare_with_interpreter(kernel.graph()).agrees);
  return std::string((flags & denormal_operand) != 0 ? "operands " : "") + ((flags & underflow) != 0 ? "results" : "");
}

/// None is so small that its product with a weight could be below 2^-126.
Arrays ordinary_inputs(const KernelCase& kernel, const Shape& extents) {
  Arrays inputs = random_inputs(kernel.graph(), extents, 5);
  for (auto& [name, array] : inputs)
    if (array.type.kind == Kind::real)
      for (double& x : array.data) x += x < 0 ? -0.125 : 0.125;
  return inputs;
}

/// Of calls of every size, and so with every schedule.
const char* const shapes_without_subnormals[] = {
    "batch=1,heads=2,queries=3,keys=32,depth=16,value_depth=16", "batch=1,heads=2,queries=1,keys=700,depth=16,value_depth=16",
    "batch=1,heads=2,queries=9,keys=300,depth=16,value_depth=16", "batch=1,heads=2,queries=70,keys=300,depth=16,value_depth=16",
    "batch=1,heads=2,queries=300,keys=700,depth=16,value_depth=16"};

/// Fails where an operation of any of the calls meets such a number.
void check_subnormals(const KernelCase& kernel, Tried tried, std::size_t row) {
  keep_to_part(kernel, shapes_without_subnormals, tried, row);
  for (const Shape& extents : calls_of(kernel, shapes_without_subnormals)) {
    CAPTURE(extents.at("queries"), extents.at("keys"));
    CHECK(met_in(kernel, extents, ordinary_inputs(kernel, extents)) == "");
  }
}

#endif

/// Scores that rise by 5.8 in base 2 a key: beside the last key the weights of all but the last 21 are below 2^-126.
struct Ramp {
  static constexpr std::string_view name = "ramp";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    a.output(a.scores() + to_real(index(a.keys)) * 4);
  }
};

void check_all_subnormals([[maybe_unused]] Tried tried) {
#if defined(__x86_64__)
  const int threads = num_threads();
  set_num_threads(1).value();
  const Graph ramp = build(Ramp{});
  std::size_t row = 0;
  for (const char* types : {"f32", "bf16"}) {
    CAPTURE(types);
    check_subnormals(KernelCase("alibi", {.types = types}), tried, row);
    check_subnormals(KernelCase(ramp, "ramp", {.types = types}), tried, ++row);
  }
  set_num_threads(threads).value();
#else
  skip("the flags that tell are those of x86-64");
#endif
}

}  // namespace

TEST_CASE("no operation of attention meets a number below 2^-126", "[special]") { check_all_subnormals(Tried::part); }

TEST_CASE("no operation of attention of any size of call and storage meets a number below 2^-126", "[.full]") { check_all_subnormals(Tried::whole); }

}  // namespace attune
