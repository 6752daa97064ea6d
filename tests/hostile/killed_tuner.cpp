/// SIGKILL at random moments while the tuner keeps its state: the file is whole or not there, and the next run goes on with it.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/hostile/random.h"
#include "tests/hostile/watched.h"
#include "tests/skip.h"
#include "tests/tools/program.h"
#include "tools/tune/state.h"

namespace attune {
namespace {

/// A state whose numbers follow from how much it has tried.
TuneState state_of(std::size_t tries) {
  TuneState state{"run", static_cast<double>(tries), {{}}};
  for (std::size_t i = 0; i < tries; ++i) state.tries[0].push_back({Point(20, 7), Outcome::lost, 1.5});
  return state;
}

/// Starts `life` in a child, and kills it once `wait` has come back; false if it had ended by itself.
template <class Life, class Wait>
bool kill_after(const Wait& wait, const Life& life) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    life();
    _exit(0);
  }
  REQUIRE(child > 0);
  wait();
  kill(child, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void wait_up_to(std::size_t microseconds, Random& random) { usleep(static_cast<useconds_t>(random.below(microseconds))); }

/// Writes states of more and more tries for as long as it lives.
void write_states(const std::string& path) {
  for (std::size_t tries = 1;; tries = tries % 200 + 1)
    if (!write_state(path, state_of(tries)).empty()) _exit(1);
}

/// The same in place, as it must not be done.
void write_states_in_place(const std::string& path) {
  const std::string whole = path + ".whole";
  for (std::size_t tries = 1;; tries = tries % 200 + 1) {
    if (!write_state(whole, state_of(tries)).empty()) _exit(1);
    std::ofstream(path, std::ios::binary) << contents(whole);
  }
}

/// Kills the writer at random moments until its file is not whole; what is wrong with it then, empty if it was whole after all kills.
std::string problem_after_kills(std::size_t kills, void (*writer)(const std::string&)) {
  const Folder folder;
  const std::string path = folder / "tuned.json.state";
  Random random(1);
  for (std::size_t i = 0; i < kills; ++i) {
    REQUIRE(kill_after([&] { wait_up_to(5000, random); }, [&] { writer(path); }));
    const TuneStateAnswer read = read_state(path, "run");
    if (!read.problem.empty()) return read.problem;
    const std::size_t tries = read.state.tries.empty() ? 0 : read.state.tries[0].size();
    if (read.state.elapsed_s != static_cast<double>(tries)) return "is of two states";
  }
  return std::filesystem::exists(path) ? "" : "was never written";
}

/// Runs `attune tune` with its output thrown away, until it is killed.
void run_tuner(const Words& words) {
  if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr) _exit(127);
  std::vector<char*> arguments{const_cast<char*>(ATTUNE_PROGRAM)};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

/// How many candidates the state in the file has; 0 if there is none. A file that is not whole ends the test.
std::size_t tries_of(const std::string& state) {
  if (!std::filesystem::exists(state)) return 0;
  const auto json = nlohmann::json::parse(contents(state));
  return json["tasks"].empty() ? 0 : json["tasks"][0].size();
}

}  // namespace

TEST_CASE("the state of a tuner is whole whenever its writer is killed", "[kill]") {
  constexpr std::size_t kills = 60;
  CHECK(problem_after_kills(kills, write_states) == "");
  tell("kills of a process that writes a tuner's state", kills);
  const std::string problem = problem_after_kills(1000, write_states_in_place);
  CHECK(problem.find("is not the state of a tuning run; remove it to begin anew") != std::string::npos);
}

TEST_CASE("the state of a tuner is whole however often its writer is killed", "[.hostile]") {
  constexpr std::size_t kills = 5000;
  CHECK(problem_after_kills(kills, write_states) == "");
  tell("kills of a process that writes a tuner's state", kills);
}

TEST_CASE("attune tune that is killed again and again goes on with whole files", "[.hostile]") {
  if (run_attune({"explain", "causal"}).status != 0) return skip("this CPU is none of the targets");
  const Folder folder, temporary;
  setenv("TMPDIR", (temporary / ".").c_str(), 1);  // SIGKILL leaves the tuner's scratch folders behind: not in the system's
  const std::string out = folder / "tuned.json", state = out + ".state";
  Words command = {"tune", "causal",   "--shape", "batch=1,heads=1,queries=40,keys=70,depth=16", "--threads", "1", "--out",
                   out,    "--budget", "100000s"};
  Random random(1);
  constexpr int kills = 8;  // few enough that the search is not over before
  std::size_t tried = 0;
  const auto wait_for_progress = [&] {
    constexpr int most_polls = 1200;
    for (int polls = 0; polls < most_polls && tries_of(state) <= tried; ++polls) usleep(100'000);
    wait_up_to(1'000'000, random);
  };
  for (int i = 0; i < kills; ++i) {
    const auto wait = [&] { i % 2 == 0 ? wait_up_to(10'000'000, random) : wait_for_progress(); };
    REQUIRE(kill_after(wait, [&] { run_tuner(command); }));
    CHECK(!std::filesystem::exists(out));
    CHECK(tries_of(state) >= tried);
    tried = tries_of(state);
  }
  CHECK(tried >= kills / 2);
  command.back() = "1s";
  command.push_back("--json");
  const auto json = nlohmann::json::parse(attune_says(command));
  CHECK(json["stages"][0]["tried"] == tried);
  CHECK(!std::filesystem::exists(state));
  tell("kills of attune tune", kills);
}

}  // namespace attune
