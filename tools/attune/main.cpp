#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <system_error>

#include "codegen/files/scratch_folder.h"
#include "tools/attune/commands.h"
#include "tools/attune/options.h"

namespace {

int run(int argc, char** argv) {
  attune::Program program{
      "attune", "Attune compiles attention variants ahead of time: a graph of named dims becomes a kernel for CPUs and GPUs.",
      "`attune COMMAND --help` shows the options of a command, with examples.\n"
      "Examples:\n"
      "  attune list variants\n"
      "  attune check causal --shape queries=129,keys=129\n"
      "  attune compile causal --set depth=64 -o kernels --shared",
      ATTUNE_VERSION};
  for (const auto add : {attune::add_list, attune::add_show, attune::add_compile, attune::add_run, attune::add_check, attune::add_bench,
                         attune::add_explain, attune::add_tune, attune::add_conformance, attune::add_import})
    add(program);
  const attune::Program::Chosen chosen = program.parse(argc, argv);
  return chosen.problem.empty() ? chosen.run() : attune::refuse(chosen.problem);
}

/// A disk that is full is noticed by the last write at the latest.
int refuse_output(const std::error_code& error) { return attune::refuse("standard output: cannot be written: " + error.message()); }

/// The first files that are opened must not become standard input, output or error because those were closed.
void fill_standard_files() {
  int file = 0;
  while ((file = open("/dev/null", O_RDONLY)) >= 0 && file <= STDERR_FILENO) {}
  if (file >= 0) close(file);
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_files();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that is too large is a write that fails, with a sentence; so it is for linkers that are started
  attune::remove_scratch_folders_on_signals();
  try {
    const int status = run(argc, argv);
    const bool is_written = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return is_written || status != 0 ? status : refuse_output({errno, std::generic_category()});
  } catch (const std::bad_alloc&) {
    return attune::refuse("there is not enough memory; smaller extents take less");
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return refuse_output(error.code());
    return attune::refuse(fmt::format("internal: {}", error.what()));
  } catch (const std::exception& error) {
    return attune::refuse(fmt::format("internal: {}", error.what()));
  }
}
