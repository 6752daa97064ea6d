/// Runs programs as a user does: arguments in, exit status and text out.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/folder.h"

namespace attune {

struct Ran {
  int status = -1;  ///< 128 and the signal's number if one ended it
  std::string out, err;
};

using Words = std::vector<std::string>;

/// Runs `words[0]`, looked for in the PATH, with `environment` added to this process's own; gives what it said.
inline Ran run_program(const Words& words, const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  std::fflush(nullptr);  // or the child writes what this process had yet to write
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    if (std::freopen(out.c_str(), "w", stdout) == nullptr || std::freopen(err.c_str(), "w", stderr) == nullptr) _exit(127);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out), contents(err)};
}

/// Runs `attune` with these arguments.
inline Ran run_attune(Words words, const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  words.insert(words.begin(), ATTUNE_PROGRAM);
  return run_program(words, environment);
}

/// The compiler of headers that this process has from ctest, one that has read the language's (tests/read_headers.cmake); the system's elsewhere.
inline std::string own_compiler() {
  const char* chosen = std::getenv("CXX");
  return chosen != nullptr ? chosen : "c++";
}

/// Why no kernel for a device's target runs on this machine; empty if one does.
inline std::string refusal_of_device(const std::string& target) {
  const Ran ran = run_attune({"check", "causal", "--target", target, "--shape", "queries=1,keys=1,depth=1"});
  return ran.status == 0 ? std::string() : ran.err;
}

/// The same where it must succeed; gives what it printed.
inline std::string attune_says(const Words& words) {
  const Ran ran = run_attune(words);
  std::string command;
  for (const std::string& word : words) command += word + " ";
  INFO("attune " << command << "\n" << ran.err);
  REQUIRE(ran.status == 0);
  return ran.out;
}

/// The first program of the name in the PATH, or nothing.
inline std::string find_program(const std::string& name) {
  const Ran ran = run_program({"sh", "-c", "command -v " + name});
  return ran.status == 0 ? ran.out.substr(0, ran.out.find('\n')) : std::string();
}

}  // namespace attune
