#include <fmt/format.h>

#include "tools/attune/commands.h"
#include "tools/attune/options.h"

int main(int argc, char** argv) {
  CLI::App program{"Attune compiles attention variants ahead of time: a graph of named dims becomes a kernel for CPUs and GPUs."};
  program.set_version_flag("--version", ATTUNE_VERSION);
  program.require_subcommand(1);
  program.footer(
      "A first kernel:\n"
      "  attune list variants\n"
      "  attune check causal --shape queries=129,keys=129\n"
      "  attune compile causal --set depth=64 -o kernels --shared\n"
      "`attune COMMAND --help` shows the options of a command, with examples.");
  attune::Chosen chosen;
  for (const auto add : {attune::add_list, attune::add_show, attune::add_compile, attune::add_run, attune::add_check, attune::add_bench,
                         attune::add_explain})
    add(program, chosen);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return program.exit(error);
    return attune::refuse(error.what());
  }
  return chosen();
}
