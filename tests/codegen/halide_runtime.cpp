#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/halide/halide_runtime.h"
#include "codegen/halide/halide_target.h"

namespace attune {

namespace {

/// Every target alone, and all of an architecture at once.
std::vector<std::vector<const TargetInfo*>> target_lists() {
  std::map<std::string_view, std::vector<const TargetInfo*>> of_architecture;
  std::vector<std::vector<const TargetInfo*>> lists;
  for (const TargetInfo& target : targets()) {
    lists.push_back({&target});
    of_architecture[target.triple].push_back(&target);
  }
  for (const auto& [triple, list] : of_architecture) lists.push_back(list);
  return lists;
}

}  // namespace

TEST_CASE("the program holds Halide's runtime for files of any targets", "[halide_runtime]") {
  for (const std::vector<const TargetInfo*>& list : target_lists()) {
    const std::string name = halide_runtime_target(list).to_string();
    INFO(name);
    const auto runtimes = built_in_runtimes();
    const auto runtime = std::ranges::find_if(runtimes, [&](const BuiltInRuntime& r) { return name == r.target; });
    REQUIRE(runtime != runtimes.end());

    const std::string written = halide_runtime_object(list);
    CHECK(written == std::string(runtime->begin, runtime->end));
    CHECK(written.substr(1, 3) == "ELF");
    CHECK(written.find("halide_do_par_for") != std::string::npos);
    for (const TargetInfo* target : list) {
      if (target->device == Device::opencl) CHECK(written.find("halide_opencl_run") != std::string::npos);
      if (target->device == Device::cuda) CHECK(written.find("halide_cuda_run") != std::string::npos);
    }
  }
}

TEST_CASE("the runtime of a file is for any CPU, whatever its targets", "[halide_runtime]") {
  std::map<std::string_view, std::string> of_architecture;
  for (const TargetInfo& target : targets()) {
    if (target.device != Device::cpu) continue;
    INFO(target.name);
    const TargetInfo* list[] = {&target};
    const std::string name = halide_runtime_target(list).to_string();
    CHECK(of_architecture.try_emplace(target.triple, name).first->second == name);
  }
}

TEST_CASE("an object that comes through memory has the bytes that Halide writes to a file", "[halide_runtime]") {
  const TargetInfo* list[] = {&targets().back()};
  const auto compiled = object_of(Halide::Module("standalone_runtime", halide_runtime_target(list)));
  CHECK(compiled == halide_runtime_object(list));
}

}  // namespace attune
