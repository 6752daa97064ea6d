#include "codegen/halide/rewrites/last_first.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace attune {
namespace {

using Task = int (*)(Halide::JITUserContext*, int, std::uint8_t*);

int do_first_task(Halide::JITUserContext* context, Task task, int min, int, std::uint8_t* closure) { return task(context, min, closure); }

/// 0 to 11 in three tasks; -1 what the tasks that run do not write.
std::vector<int> written(const std::vector<std::string>& last_first, bool all) {
  const Halide::Var x("x"), in_tile("in_tile"), tile("tile");
  Halide::Func f;
  f(x) = x;
  f.split(x, tile, in_tile, 4).parallel(tile);
  Halide::Pipeline pipeline(f);
  turn_last_first(pipeline, f, last_first);
  if (!all) pipeline.jit_handlers().custom_do_par_for = do_first_task;
  Halide::Buffer<int> out(12);
  out.fill(-1);
  pipeline.realize(out);
  return {out.begin(), out.end()};
}

}  // namespace

TEST_CASE("a parallel loop that is last first begins at its end", "[last_first]") {
  CHECK(written({}, false) == std::vector{0, 1, 2, 3, -1, -1, -1, -1, -1, -1, -1, -1});
  CHECK(written({"tile"}, false) == std::vector{-1, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11});
  CHECK(written({"tile"}, true) == std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

}  // namespace attune
