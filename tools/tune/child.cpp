#include "tools/tune/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <functional>

namespace attune {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

/// The rest of the child's life: `body` with the writing end of the pipe.
[[noreturn]] void live(int file, const std::function<void(int)>& body) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  body(file);
  _exit(0);
}

/// All that the pipe gives until its end; false if time is up or Ctrl-C was pressed.
bool read_all(int file, double limit_s, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(limit_s);
  std::array<char, 4096> buffer;
  while (true) {
    const double left_s = std::chrono::duration<double>(end - Clock::now()).count();
    if (left_s <= 0 || is_interrupted()) return false;
    pollfd events{file, POLLIN, 0};
    constexpr double longest_s = 0.2;  // Ctrl-C may come just before poll
    if (poll(&events, 1, static_cast<int>(std::min(left_s, longest_s) * 1e3) + 1) <= 0) continue;
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string end_text(int status, bool is_ended, double limit_s) {
  if (is_interrupted()) return "was interrupted";
  if (!is_ended) return "took more than " + std::to_string(static_cast<int>(limit_s)) + " s";
  if (WIFSIGNALED(status)) return std::string("ended by a signal: ") + strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? std::string() : "ended with status " + std::to_string(WEXITSTATUS(status));
}

/// Ends the child and gives its status: politely first, for what it has to remove.
int end(pid_t child) {
  constexpr int polls = 200;
  constexpr timespec pause{0, 10'000'000};
  kill(child, SIGTERM);
  int status = 0;
  for (int i = 0; i < polls; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) return status;
    nanosleep(&pause, nullptr);
  }
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

/// A process that was started, or why there is none.
struct Child {
  pid_t process = -1;
  int pipe = -1;
  std::string problem;
};

Child started(const std::function<void(int)>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {-1, -1, std::string("no pipe: ") + std::strerror(errno)};
  const pid_t process = fork();
  if (process == 0) live(ends[1], body);
  close(ends[1]);
  if (process > 0) return {process, ends[0], {}};
  const std::string problem = std::string("no process: ") + std::strerror(errno);
  close(ends[0]);
  return {-1, -1, problem};
}

ChildAnswer answer_of(const Child& child, double limit_s) {
  if (!child.problem.empty()) return {{}, child.problem};
  ChildAnswer answer;
  const bool is_ended = read_all(child.pipe, limit_s, answer.text);
  int status = 0;
  if (!is_ended) status = end(child.process);
  else while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {}
  answer.problem = end_text(status, is_ended, limit_s);
  close(child.pipe);
  return answer;
}

}  // namespace

ChildAnswer in_child(const std::function<std::string()>& work, double limit_s) {
  return answer_of(started([&](int file) { write_all(file, work()); }), limit_s);
}

std::vector<ChildAnswer> run_selves(std::span<const std::vector<std::string>> commands, double limit_s) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Child> children;
  for (const std::vector<std::string>& arguments : commands)
    children.push_back(started([&](int file) {
      dup2(file, STDERR_FILENO);
      std::vector<char*> words{const_cast<char*>("attune")};
      for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
      words.push_back(nullptr);
      execv("/proc/self/exe", words.data());
      _exit(127);
    }));
  std::vector<ChildAnswer> answers;
  for (const Child& child : children) {
    const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    answers.push_back(answer_of(child, std::max(limit_s - elapsed_s, 0.)));
  }
  return answers;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { interrupted = signal; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }
int interrupting_signal() { return interrupted; }

}  // namespace attune
