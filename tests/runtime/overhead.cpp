/// What a call costs beside its kernel.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>

#include "runtime/kernel.h"
#include "tests/runtime/kernels/kernels.h"
#include "tests/skip.h"

namespace attune {

TEST_CASE("a call of a kernel with four tensors takes under 5 microseconds", "[overhead]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
  return skip("sanitizers and assertions take longer");
#endif
  const Kernel linear = Kernel::from(attune_kernel_v5_linear).value();
  std::array<float, 1> a{2}, b{3}, bias{1}, out{};
  const Tensor ta(a, {1, 1}), tb(b, {1, 1}), tbias(bias, {1}), tout(out, {1, 1});
  using Clock = std::chrono::steady_clock;
  const auto best_of = [&](const auto& call) {
    constexpr int repeats = 300, calls = 100;
    double best = 1e9;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const Clock::time_point start = Clock::now();
      for (int i = 0; i < calls; ++i) REQUIRE_FALSE(!call());
      best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
    }
    return best;
  };
  const double by_order = best_of([&] { return linear(ta, tb, tbias, tout); });
  const double by_name = best_of([&] { return linear({{"a", ta}, {"b", tb}, {"bias", tbias}, {"out", tout}}); });
  std::cout << "a call takes " << by_order << " us by order, " << by_name << " us by name" << std::endl;
  CHECK(out[0] == 7);
  CHECK(by_order < 5);
  CHECK(by_name < 5);
}

}  // namespace attune
