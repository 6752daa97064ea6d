/// Children of a process whose threads call kernels.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "runtime/threads.h"
#include "tests/runtime/kernels/kernels.h"
#include "tests/runtime/process_threads.h"
#include "tests/runtime/product_case.h"
#include "tests/skip.h"

namespace attune {
namespace {

/// The call gives the right numbers.
bool is_right(const Kernel& kernel) {
  ProductCase product(64, 16, 32);
  return product.run(kernel) && product.out == product.expected;
}

/// What `body` gives in a child of this process, as its exit status; a child that hangs is ended by a signal.
template <class Body>
int status_in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned patience_s = 30;
    alarm(patience_s);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a child made by fork calls kernels while the threads of its parent do", "[fork]") {
#if defined(__SANITIZE_ADDRESS__)
  return skip("the allocator of the address sanitizer may be locked for good in a child of a process whose threads allocate");
#endif
  set_num_threads(4).value();
  const Kernel kernel = Kernel::from(attune_kernel_v5_product).value();
  std::atomic<bool> is_over = false;
  std::atomic<int> wrong = 0, right = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      while (!is_over) ++(is_right(kernel) ? right : wrong);
    });
  int failed = 0;
  for (int child = 0; child < 200; ++child) failed += status_in_child([&] { return is_right(kernel) && is_right(kernel); }) == 0 ? 0 : 1;
  is_over = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(failed == 0);
  CHECK(wrong == 0);
  CHECK(right > 0);
}

TEST_CASE("a child made by fork has a pool of its own, and so has its child", "[fork]") {
#if defined(__SANITIZE_THREAD__)
  return skip("the thread sanitizer has a thread of its own, and this counts threads");
#endif
  set_num_threads(3).value();
  const Kernel kernel = Kernel::from(attune_kernel_v5_product).value();
  const auto uses_three_threads = [&] { return num_threads() == 3 && is_right(kernel) && threads_of_this_process() == 3; };
  REQUIRE(is_right(kernel));
  CHECK(status_in_child([&] { return uses_three_threads() && status_in_child(uses_three_threads) == 0; }) == 0);
  CHECK(uses_three_threads());
}

}  // namespace attune
