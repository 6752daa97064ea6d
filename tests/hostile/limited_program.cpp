#include "tests/hostile/limited_program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace attune {
namespace {

/// The rest of the child's life.
[[noreturn]] void become(const std::vector<std::string>& words, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

LimitedEnd run_limited(const std::vector<std::string>& words, std::size_t largest_file) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  std::fflush(nullptr);  // or the child writes what this process had yet to write
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{largest_file, largest_file};
    setrlimit(RLIMIT_FSIZE, &limit);
    become(words, ends[1]);
  }
  close(ends[1]);
  LimitedEnd end;
  std::array<char, 4096> chunk;
  for (ssize_t count; (count = read(ends[0], chunk.data(), chunk.size())) > 0;)
    end.said.append(chunk.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  end.status = end_of(child);
  return end;
}

pid_t start_program(const std::vector<std::string>& words) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) become(words, open("/dev/null", O_WRONLY));
  return child;
}

int end_of(pid_t program) {
  int status = 0;
  if (waitpid(program, &status, 0) != program) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace attune
