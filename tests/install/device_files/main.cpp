// Calls code for the CPU and for OpenCL, linked and from a file: exit status 0 if the results agree, 77 where there is no OpenCL.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "device_only.h"
#include "mixed.h"
#include "runtime/library.h"

namespace {

using attune::Kernel;
using attune::Result;
using attune::Tensor;

constexpr std::int64_t queries = 5, keys = 7, depth = 16;

struct Answer {
  std::vector<float> out;
  std::string problem;
};

Answer call(const Result<Kernel>& kernel) {
  if (!kernel) return {{}, kernel.error().message};
  std::vector<float> q(queries * depth), k(keys * depth), v(keys * depth), out(queries * depth, -1.f);
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = std::sin(static_cast<float>(i)), v[i] = std::cos(static_cast<float>(3 * i));
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = std::cos(static_cast<float>(i));
  const Result<void> done = (*kernel)(Tensor(q, {1, 1, queries, depth}), Tensor(k, {1, 1, keys, depth}), Tensor(v, {1, 1, keys, depth}),
                                      Tensor(out, {1, 1, queries, depth}));
  return {out, done ? std::string() : done.error().message};
}

Result<Kernel> linked(const attune_kernel_v5& manifest, const char* device) {
  const Result<Kernel> kernel = Kernel::from(manifest);
  return kernel ? kernel->on(device) : kernel;
}

}  // namespace

int main() {
  const Answer expected = call(linked(attune_kernel_v5_mixed, "cpu"));
  if (!expected.problem.empty()) return std::fprintf(stderr, "%s\n", expected.problem.c_str()), 1;
  const auto library = attune::Library::open(MIXED_FILE);
  if (!library) return std::fprintf(stderr, "%s\n", library.error().message.c_str()), 1;
  const Result<Kernel> others[] = {linked(attune_kernel_v5_mixed, "opencl"), linked(attune_kernel_v5_device_only, "opencl"),
                                   library->kernel("mixed", "cpu"), library->kernel("mixed", "opencl")};
  for (const Result<Kernel>& kernel : others) {
    const Answer answer = call(kernel);
    if (!answer.problem.empty()) {
      std::fprintf(stderr, "%s\n", answer.problem.c_str());
      const bool is_without_device = answer.problem.find("libOpenCL") != std::string::npos || answer.problem.find("clGet") != std::string::npos;
      return is_without_device ? 77 : 1;
    }
    for (std::size_t i = 0; i < answer.out.size(); ++i)
      if (!(std::fabs(answer.out[i] - expected.out[i]) < 1e-5f)) return std::fprintf(stderr, "element %zu: %g, expected %g\n", i, answer.out[i], expected.out[i]), 1;
  }
}
