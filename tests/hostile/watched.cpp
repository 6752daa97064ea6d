#include "tests/hostile/watched.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>

#include "tests/hostile/guarded_memory.h"

namespace attune {
namespace {

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t bytes = write(descriptor, text.data() + done, text.size() - done);
    if (bytes <= 0) _exit(2);
    done += static_cast<std::size_t>(bytes);
  }
}

/// The child: its report is "COUNT\nPROBLEM"; that of a fault has no first line.
[[noreturn]] void run_child(const std::function<Found()>& body, int descriptor, int limit_s) {
  report_faults(descriptor);
  alarm(static_cast<unsigned>(limit_s));
  Found found;
  try {
    found = body();
  } catch (const std::exception& exception) {
    found.problem = std::string("exception: ") + exception.what();
  }
  write_all(descriptor, std::to_string(found.count) + "\n" + found.problem);
  _exit(0);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t bytes = 0; (bytes = read(descriptor, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace

Found watched(const std::function<Found()>& body, int limit_s) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {0, "pipe: " + std::string(std::strerror(errno))};
  std::fflush(nullptr);  // or the child writes what this process had yet to write
  const pid_t child = fork();
  if (child < 0) return {0, "fork: " + std::string(std::strerror(errno))};
  if (child == 0) {
    close(ends[0]);
    run_child(body, ends[1], limit_s);
  }
  close(ends[1]);
  const std::string report = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGALRM) return {0, "did not end within " + std::to_string(limit_s) + " s"};
    return {0, "ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")" +
                   (report.empty() ? "" : ": " + report)};
  }
  const std::size_t line = report.find('\n');
  if (WEXITSTATUS(status) != 0 || line == std::string::npos) return {0, report.empty() ? "ended without a report" : report};
  return {std::atoll(report.c_str()), report.substr(line + 1)};
}

void tell(const std::string& trials, std::int64_t count) { std::cout << "trials: " << count << " " << trials << std::endl; }

}  // namespace attune
