#include "tools/tune/state.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/folder.h"

namespace attune {

TEST_CASE("a state is of the run whose name it has, whatever bytes that has", "[tuning]") {
  const Folder folder;
  const std::string file = folder / "s", run = "tune caf\xe9.mlir", other = "tune caf\xe8.mlir";
  REQUIRE(write_state(file, {run, 1, {}}).empty());
  CHECK(read_state(file, run).problem.empty());
  CHECK(read_state(file, other).problem == "'" + file + "': is the state of another run, 'tune caf\\xE9.mlir'; finish that, remove the file, or name another --out");
}

TEST_CASE("a state with numbers that no run writes is refused in words", "[tuning]") {
  const Folder folder;
  const auto problem = [&](const std::string& numbers) {
    const TuneStateAnswer answer = read_state(folder.write("state", R"({"run": "mine", )" + numbers + "}"), "mine");
    return answer.problem.substr(std::min(answer.problem.find("': ") + 3, answer.problem.size()));
  };
  const auto with_try = [](const char* outcome, const char* ratio) {
    return std::string(R"("elapsed_s": 1, "tasks": [[{"point": [1], "outcome": )") + outcome + ", \"ratio\": " + ratio + "}]]";
  };
  CHECK(problem(with_try("1", "0.5")).empty());
  CHECK(problem(R"("elapsed_s": -5, "tasks": [])") == "'elapsed_s' is -5; it must be from 0 to 1000000000; remove the file to begin anew");
  CHECK(problem(R"("elapsed_s": 1e308, "tasks": [])").find("'elapsed_s' is 1e+308; it must be from 0 to") == 0);
  CHECK(problem(R"("elapsed_s": 1e309, "tasks": [])") == "is not the state of a tuning run; remove it to begin anew");
  CHECK(problem(with_try("3", "1")) == "an 'outcome' is 3; it must be 0, 1 or 2; remove the file to begin anew");
  CHECK(problem(with_try("0", "0")) == "a 'ratio' is 0; it must be 0 or more, and above 0 where the try won; remove the file to begin anew");
  CHECK(read_state(folder / ".", "mine").problem.find("is a folder; a tuning run keeps its state in a file of this name") != std::string::npos);
  const Space space{{{"tile", {2, 4}, 2}}, {}};
  CHECK(space.has({4}));
  CHECK(!space.has({3}));
  CHECK(!space.has({4, 4}));
}

}  // namespace attune
