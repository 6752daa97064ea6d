/// print_threads [one-cpu]: prints the number of threads that calls use at first; with one-cpu the process may use only one CPU.
#include <sched.h>

#include <iostream>
#include <string_view>

#include "runtime/threads.h"

int main(int argc, char**) {
  if (argc > 1) {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return 1;
  }
  std::cout << "threads: " << attune::num_threads() << std::endl;
}
