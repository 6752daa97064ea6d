/// The main of every test program: exit status 0 passed, 1 failed, 77 nothing failed and something was skipped.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <iostream>

#include "tests/skip.h"

namespace attune {

namespace {
bool was_skipped = false;
}

void skip(std::string_view reason) {
  was_skipped = true;
  std::cout << "skipped: " << Catch::getResultCapture().getCurrentTestName() << ": " << reason << std::endl;
  SUCCEED("skipped");  // a test case without any assertion fails
}

}  // namespace attune

#if defined(__SANITIZE_ADDRESS__)
/// The threads of PoCL run until the process ends, and the search for leaks crashes on their stacks.
extern "C" int __lsan_is_turned_off() { return dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr; }
#endif

int main(int argc, char** argv) {
  constexpr int failed = 1, skipped = 77;
  Catch::Session session;
  session.configData().warnings = static_cast<Catch::WarnAbout::What>(Catch::WarnAbout::NoAssertions | Catch::WarnAbout::NoTests);
  if (session.run(argc, argv) != 0) return failed;  // Catch's status counts failures: 77 of them are no skip
  return attune::was_skipped ? skipped : 0;
}
