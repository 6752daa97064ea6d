/// The programs of tests/rejected as functions: what each `Example` builds, and what its valid twin builds.
#pragma once

#include <vector>

#include "dsl/gradients.h"

namespace attune {

template <class Variant>
Graph build() {
  return build(Variant{});
}

struct RejectedProgram {
  const char* file;
  Graph (*wrong)();
  Graph (*valid)();
};
std::vector<RejectedProgram> rejected_programs();

}  // namespace attune
