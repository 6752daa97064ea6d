#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "codegen/halide_runtime.h"
#include "codegen/halide_target.h"

namespace attune {

TEST_CASE("the program holds Halide's runtime for every target", "[halide_runtime]") {
  for (const TargetInfo& target : targets()) {
    INFO(target.name);
    const std::string name = halide_runtime_target(target).to_string();
    const auto runtimes = built_in_runtimes();
    const auto runtime = std::ranges::find_if(runtimes, [&](const BuiltInRuntime& r) { return name == r.target; });
    REQUIRE(runtime != runtimes.end());

    const std::string written = halide_runtime_object(target);
    CHECK(written == std::string(runtime->begin, runtime->end));
    CHECK(written.substr(1, 3) == "ELF");
    CHECK(written.find("halide_do_par_for") != std::string::npos);
  }
}

TEST_CASE("an object that comes through memory has the bytes that Halide writes to a file", "[halide_runtime]") {
  const TargetInfo& target = targets().back();
  const auto compiled = object_of(Halide::Module("standalone_runtime", halide_runtime_target(target)));
  CHECK(compiled == halide_runtime_object(target));
}

}  // namespace attune
