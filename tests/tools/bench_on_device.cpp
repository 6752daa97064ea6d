#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/skip.h"
#include "tests/tools/program.h"

namespace attune {

TEST_CASE("bench measures kernels for devices beside what the device can do", "[command line]") {
  if (const std::string problem = refusal_of_device("opencl"); !problem.empty()) return skip(problem);
  const auto one = nlohmann::json::parse(attune_says({"bench", "causal", "--target", "opencl", "--json", "--shape", "batch=1,heads=1,queries=5,keys=37,depth=4"}));
  CHECK(one["target"] == "opencl");
  CHECK(one["device"].get<std::string>().find("opencl:0 (") == 0);
  CHECK(!one.contains("threads"));
  CHECK(one["gflops"].get<double>() > 0);
  CHECK(one["peak_share"].get<double>() == Approx(one["gflops"].get<double>() / one["peak_gflops"].get<double>()));
  // q, k, v and out of f32
  CHECK(one["gbytes"].get<double>() == Approx(4 * 4 * (5 + 37 + 37 + 5) / one["milliseconds_min"].get<double>() * 1e-6));
  CHECK(one["copy_gbytes"].get<double>() > 0);
}

}  // namespace attune
