/// The programs of samples, as a user runs them.
#pragma once

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>

#include "tests/folder.h"

namespace attune {

struct Run {
  int status;
  std::string out, err;
};

/// Runs a program with these words of a shell.
inline Run run(const std::string& program, const std::string& words = {}) {
  const Folder folder;
  const std::string command = program + " " + words + " >'" + (folder / "out").string() + "' 2>'" + (folder / "err").string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder / "out"), contents(folder / "err")};
}

/// That the program refuses the words, with one sentence on stderr that has this in it; gives the run.
inline Run check_refusal(const std::string& program, const std::string& words, const std::string& sentence) {
  CAPTURE(words);
  const Run result = run(program, words);
  CHECK(result.status == 2);
  CHECK_THAT(result.err, Catch::Matchers::Contains(sentence));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  return result;
}

}  // namespace attune
