#include "codegen/targets/targets.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <vector>

#include "runtime/cpu.h"
#include "tests/skip.h"
#include "tests/tools/program.h"

namespace attune {

TEST_CASE("list says of each target why it is the machine's best, or what it lacks", "[targets]") {
  const TargetInfo* host = find_target("host");
  std::istringstream lines(attune_says({"list", "targets"}));
  for (const TargetInfo& target : targets()) {
    CAPTURE(target.name);
    std::string line;
    std::getline(lines, line);
    CHECK(line.starts_with(target.name));
    const auto says = [&](const std::string& words) { return line.find("; " + words) != std::string::npos; };
    CHECK(says("this machine's best: ") == (&target == host));
    CHECK(says("lacking here: ") == (target.device == Device::cpu && opens_here(target) && !lacking_features(target).empty()));
    CHECK(says("runs here") == (runs_here(target) && &target != host));
  }
}

TEST_CASE("the best of some targets has this CPU's defaults, or is the first that runs here", "[targets]") {
  const TargetInfo* host = find_target("host");
  if (host == nullptr) return skip("this CPU is none of the targets");
  TargetInfo others = *host, ours = *host, lacking = *host;
  others.cpus = "nobody/1";
  lacking.features = "warp_drive";
  const std::string kind = kind_of_cpu();
  CHECK(best_here(std::vector<const TargetInfo*>{}) == nullptr);
  CHECK(best_here(std::vector<const TargetInfo*>{&lacking}) == nullptr);
  CHECK(best_here(std::vector<const TargetInfo*>{&lacking, &others, host}) == (is_tuned_for_this_cpu(*host) ? host : &others));
  if (kind.empty()) return;
  const std::string kinds = "nobody/1 " + kind;
  ours.cpus = kinds;
  CHECK(best_here(std::vector<const TargetInfo*>{&lacking, &others, &ours}) == &ours);
}

}  // namespace attune
