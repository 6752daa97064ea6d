#include "codegen/files/jobs.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>

namespace attune {
namespace {

/// A process that works on a job, and what it has said so far: a letter for bytes or a problem, and these.
struct Worker {
  std::size_t job;
  pid_t process;
  int pipe;
  std::string said;
};

constexpr char says_bytes = 'b', says_problem = 'p';

/// The handlers of this process are about what it has, such as folders that are gone with it.
void forget_signal_handlers() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
}

bool say_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Of the process that works: does not return, and runs nothing that the other one would at its end.
[[noreturn]] void work(const std::function<JobResult()>& job, int pipe, pid_t parent) {
  forget_signal_handlers();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  JobResult result;
  try {
    result = job();
  } catch (const std::exception& error) {
    result = {{}, std::string("internal: ") + error.what()};
  }
  const char kind = result.problem.empty() ? says_bytes : says_problem;
  const bool is_said = say_all(pipe, {&kind, 1}) && say_all(pipe, result.problem.empty() ? result.bytes : result.problem);
  _exit(is_said ? 0 : 1);
}

std::string cannot_start(int error) { return std::string("no process can be started to compile in: ") + std::strerror(error); }

/// Starts a process for the job; the problem in words.
std::string start(std::span<const std::function<JobResult()>> jobs, std::size_t job, std::vector<Worker>& workers) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start(errno);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    work(jobs[job], ends[1], parent);
  }
  const int error = errno;
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    return cannot_start(error);
  }
  workers.push_back({job, process, ends[0], {}});
  return {};
}

/// Waits for the end of a process whose pipe is at its end.
JobResult end_of(Worker& worker) {
  close(worker.pipe);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {{}, std::string("internal: the compiler of a stage ended by the signal ") + strsignal(WTERMSIG(status))};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || worker.said.empty()) return {{}, "internal: the compiler of a stage ended without a result"};
  std::string text = worker.said.substr(1);
  return worker.said[0] == says_bytes ? JobResult{std::move(text), {}} : JobResult{{}, std::move(text)};
}

/// Reads what some worker says. True if it has said all.
bool read_some(Worker& worker) {
  std::array<char, 65536> chunk;
  const ssize_t count = read(worker.pipe, chunk.data(), chunk.size());
  if (count > 0) worker.said.append(chunk.data(), static_cast<std::size_t>(count));
  return count == 0 || (count < 0 && errno != EINTR);
}

/// Waits until a worker says something; the index of one that is done, or of none.
std::size_t next_done(std::vector<Worker>& workers) {
  std::vector<pollfd> pipes;
  for (const Worker& worker : workers) pipes.push_back({worker.pipe, POLLIN, 0});
  while (poll(pipes.data(), pipes.size(), -1) < 0 && errno == EINTR) {
  }
  for (std::size_t i = 0; i < workers.size(); ++i)
    if (pipes[i].revents != 0 && read_some(workers[i])) return i;
  return workers.size();
}

}  // namespace

std::vector<JobResult> run_jobs(std::span<const std::function<JobResult()>> jobs, int at_once) {
  std::vector<JobResult> results(jobs.size());
  std::vector<Worker> workers;
  std::size_t next = 0;
  std::string problem;
  while (next < jobs.size() || !workers.empty()) {
    while (next < jobs.size() && static_cast<int>(workers.size()) < std::max(at_once, 1) && problem.empty()) {
      problem = start(jobs, next, workers);
      if (problem.empty()) ++next;
      else if (!workers.empty()) break;
    }
    // Where there is no room for one more process, those that run make some.
    if (!problem.empty() && workers.empty()) {
      for (; next < jobs.size(); ++next) results[next].problem = problem;
      return results;
    }
    problem.clear();
    const std::size_t done = next_done(workers);
    if (done == workers.size()) continue;
    results[workers[done].job] = end_of(workers[done]);
    workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(done));
  }
  return results;
}

int jobs_of_this_machine() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(CPU_COUNT(&allowed), 1) : 1;
}

}  // namespace attune
