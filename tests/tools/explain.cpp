#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/program.h"

namespace attune {

using nlohmann::json;

TEST_CASE("explain in JSON tells the text's story", "[command line]") {
  const json one = json::parse(attune_says({"explain", "causal", "--json", "--target", "x86-64-v3", "--shape", "batch=1,heads=2,queries=100,keys=100"}));
  for (const char* key : {"variant", "parameters", "target", "type", "sizes", "stages", "call"}) CHECK(one.contains(key));
  REQUIRE(one["stages"].size() == 1);
  CHECK(one["stages"][0]["kind"] == "online_softmax");
  CHECK(one["stages"][0]["schedules"]["large"]["schedule"] == "online_softmax");
  CHECK(one["call"]["pairs"][0] == json{{"visible", 10100}, {"all", 20000}, {"doubt", 0}});
  CHECK(one["call"]["visited_blocks"] <= one["call"]["all_blocks"]);
  CHECK(json::parse(attune_says({"explain", "causal", "--json"}))["call"].is_null());
  CHECK_THAT(attune_says({"explain", "causal", "--shape", "batch=1,heads=2,queries=100,keys=100"}), Catch::Contains("10100 of 20000 visible (50.5 %)"));
}

TEST_CASE("explain says how what stages store for one another lies in memory", "[command line]") {
  // Queries, keys and values head by head for the softmax, its result token by token for the projection back.
  const std::string explained = attune_says({"explain", "multi_head"});
  std::vector<std::string> stores;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find("stores "); at != std::string::npos) stores.push_back(line.substr(line.find('[', at)));
  CHECK(stores == std::vector<std::string>{"[batch x heads x tokens x depth]", "[batch x heads x tokens x depth]", "[batch x heads x tokens x value_depth]",
                                           "[batch x tokens x heads x value_depth]", "[batch x tokens x model]"});
}

TEST_CASE("explain says what is kept in memory, and how much of it", "[command line]") {
  const Words shape = {"--shape", "batch=1,heads=2,queries=1000,keys=500"};
  const auto explained = [&](Words words) {
    words.insert(words.begin(), {"explain", "causal"});
    return attune_says(words);
  };
  CHECK_THAT(explained({"--target", "x86-64-v3"}), Catch::Contains("keeps     tiles of scores alone, never all of them\n"));
  for (const char* target : {"opencl", "cuda"}) {
    CHECK_THAT(explained({"--target", target}), Catch::Contains("keeps     scores [batch x heads x queries x keys], row maxima [batch x heads x queries], "
                                                                "row sums [batch x heads x queries] as f32\n") && !Catch::Contains("never"));
    // 4 bytes of 2 x 1000 x 500 scores, and of 2 x 1000 maxima and sums
    CHECK_THAT(explained({"--target", target, shape[0], shape[1]}), Catch::Contains(" as f32: 4.016 MB\n"));
  }
  const json gpu = json::parse(explained({"--target", "cuda", "--json", shape[0], shape[1]}));
  CHECK(gpu["stages"][0]["kept"][0] == json{{"what", "scores"}, {"dims", {"batch", "heads", "queries", "keys"}}, {"bytes", 4e6}});
  CHECK(json::parse(explained({"--target", "x86-64-v3", "--json"}))["stages"][0]["kept"].empty());
}

}  // namespace attune
