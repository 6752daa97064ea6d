#include "codegen/files/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

/// The variables, those of this process that they do not replace, and the null that ends the list.
std::vector<char*> with_own(const std::vector<std::string>& variables) {
  std::vector<char*> all;
  for (const std::string& variable : variables) all.push_back(const_cast<char*>(variable.c_str()));
  for (char** own = environ; *own != nullptr; ++own) {
    const std::string_view text(*own), name = text.substr(0, text.find('=') + 1);
    if (std::ranges::none_of(variables, [&](const std::string& variable) { return variable.starts_with(name); })) all.push_back(*own);
  }
  all.push_back(nullptr);
  return all;
}

/// Starts the program, as a process group of its own, with its outputs in the pipe; an error number, or 0.
int start(const std::string& program, const std::vector<std::string>& arguments, const std::vector<std::string>& environment, const int ends[2],
          pid_t& child) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::vector<char*> variables = with_own(environment);
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0) return error;
  int error = 0;
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, ends[1], output);
  posix_spawnattr_t attributes;
  if (error == 0) error = posix_spawnattr_init(&attributes);
  if (error == 0) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    error = posix_spawnp(&child, program.c_str(), &actions, &attributes, words.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// Milliseconds until then, as poll takes them.
int left(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left_ms)>(left_ms, 0, 1 << 30));
}

/// All that comes before the deadline; `is_late` if there might be more.
std::string read_all(int file, const Deadline& deadline, bool& is_late) {
  std::string text;
  std::array<char, 4096> chunk;
  while (true) {
    pollfd readable{file, POLLIN, 0};
    const int ready = poll(&readable, 1, left(deadline));
    if (ready < 0 && errno == EINTR) continue;
    is_late = ready == 0;
    if (is_late) return text;
    const ssize_t count = read(file, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

std::string reason_of(const std::string& output, int status) {
  const std::size_t begin = output.find_first_not_of('\n');
  if (begin != std::string::npos) return output.substr(begin, output.find('\n', begin) - begin);
  if (WIFSIGNALED(status)) return std::string("it was ended by a signal: ") + strsignal(WTERMSIG(status));
  return "it ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ProgramEnd run_program(const std::string& program, const std::vector<std::string>& arguments, std::optional<std::chrono::seconds> longest,
                       const std::vector<std::string>& environment) {
  const Deadline deadline = longest ? Deadline(Clock::now() + *longest) : std::nullopt;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {true, false, false, {}, std::string("no pipe: ") + std::strerror(errno)};
  pid_t child = -1;
  const int error = start(program, arguments, environment, ends, child);
  close(ends[1]);
  ProgramEnd end;
  if (error == 0) {
    end.output = read_all(ends[0], deadline, end.is_late);
    if (end.is_late) kill(-child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    end.is_success = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!end.is_success) end.reason = reason_of(end.output, status);
  } else {
    end.is_found = error != ENOENT;
    end.reason = std::strerror(error);
  }
  close(ends[0]);
  return end;
}

}  // namespace attune
