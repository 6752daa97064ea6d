/// failing_allocations FILE: opens a kernel file as often as opening it allocates, and each time another allocation fails. Each of these opens is in a
/// process of its own, and has to end with a sentence, leave nothing in memory, and let the file be opened behind it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <new>
#include <string>
#include <string_view>

#include "runtime/attune.h"

namespace {

constexpr long none = -1;
long allocations_left = none;  // behind so many one fails
bool has_failed = false;

enum End { opened = 10, no_sentence, left_in_memory, not_opened_again };

bool is_in_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:") != std::string::npos) return true;
  return false;
}

/// How a process in which allocation `number` fails ends.
int open_without(long number, const char* path) {
  constexpr unsigned longest_s = 60;
  alarm(longest_s);
  allocations_left = number;
  attune_library* first = attune_open(path);
  allocations_left = none;
  if (!has_failed) return opened;
  if (first == nullptr && std::strcmp(attune_last_error(), "attune: there is no memory") != 0) return no_sentence;
  attune_close(first);
  if (is_in_memory()) return left_in_memory;
  attune_library* again = attune_open(path);
  if (again == nullptr) return not_opened_again;
  attune_close(again);
  return EXIT_SUCCESS;
}

std::string_view text_of(int status) {
  if (!WIFEXITED(status)) return "a signal, which is the alarm if it hung";
  switch (WEXITSTATUS(status)) {
    case no_sentence: return "without a sentence";
    case left_in_memory: return "with the file still in memory";
    case not_opened_again: return "and the file did not open any more";
    default: return "otherwise";
  }
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (allocations_left == 0) has_failed = true;
  void* memory = allocations_left == 0 ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (allocations_left >= 0) --allocations_left;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  for (long number = 0;; ++number) {
    const pid_t child = fork();
    if (child == 0) _exit(open_without(number, argv[1]));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return EXIT_FAILURE;
    if (WIFEXITED(status) && WEXITSTATUS(status) == opened) {
      std::cout << number << " allocations failed, one in each process" << std::endl;
      return number > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (status != 0) {
      std::cout << "where allocation " << number << " failed, the process ended " << text_of(status) << std::endl;
      return EXIT_FAILURE;
    }
  }
}
