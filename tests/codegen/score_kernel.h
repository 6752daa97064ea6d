/// Kernels of graphs of attention, for shapes that reach each size of call.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "dsl/variants/attention.h"
#include "tests/codegen/kernel_case.h"
#include "tests/codegen/odd_shapes.h"
#include "tests/codegen/stage_kinds.h"

namespace attune {

/// A graph whose results, for several shapes, are the interpreter's: by codes for a part of the sizes of call.
inline void check_kernel(const std::string& name, void (*make)(Graph&, const Attention&), Tried tried, std::size_t row, const std::string& type = "f32") {
  Graph g;
  make(g, Attention(g));
  g.finish();
  INFO(name << ", " << type);
  REQUIRE(std::string(g.problem().view()) == "");
  KernelOptions options;
  options.types = type;
  const char* const shapes[] = {"batch=2,heads=2,depth=5,value_depth=5,queries=1,keys=1", "batch=2,heads=2,depth=5,value_depth=5,queries=5,keys=37",
                                "batch=2,heads=2,depth=5,value_depth=5,queries=37,keys=5", "batch=2,heads=2,depth=5,value_depth=5,queries=129,keys=129",
                                "batch=2,heads=2,depth=5,value_depth=5,queries=1,keys=129", "batch=2,heads=2,depth=5,value_depth=5,queries=5,keys=0"};
  check_part(KernelCase(g, "scores", options), shapes, tried, row);
}

/// The kinds of the stages that the whole compiler makes.
inline std::vector<std::string> kinds_of(void (*make)(Graph&, const Attention&)) {
  Graph g;
  make(g, Attention(g));
  g.finish();
  return kinds_of(g);
}

}  // namespace attune
