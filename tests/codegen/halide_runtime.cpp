#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/halide_runtime.h"
#include "codegen/halide_target.h"
#include "codegen/scratch_folder.h"

namespace attune {

TEST_CASE("the program holds Halide's runtime for every target", "[halide_runtime]") {
  const ScratchFolder folder;
  REQUIRE(folder.exists());
  for (const TargetInfo& target : targets()) {
    INFO(target.name);
    const std::string name = halide_runtime_target(target).to_string();
    const auto runtimes = built_in_runtimes();
    const auto runtime = std::ranges::find_if(runtimes, [&](const BuiltInRuntime& r) { return name == r.target; });
    REQUIRE(runtime != runtimes.end());

    const std::string file = (folder.path() / "runtime.o").string();
    write_halide_runtime(target, file);
    std::ifstream in(file, std::ios::binary);
    const std::string written{std::istreambuf_iterator<char>(in), {}};
    CHECK(written == std::string(runtime->begin, runtime->end));
    CHECK(written.substr(1, 3) == "ELF");
    CHECK(written.find("halide_do_par_for") != std::string::npos);
  }
}

}  // namespace attune
