#include <fmt/format.h>

#include <algorithm>

#include "tools/attune/commands.h"
#include "tools/attune/options.h"

namespace {

/// What is wrong with the command's name, or nothing.
std::string command_problem(const CLI::App& program, int argc, char** argv) {
  const std::vector<const CLI::App*> commands = program.get_subcommands({});
  std::string names;
  for (const CLI::App* command : commands) names += (names.empty() ? "" : ", ") + command->get_name();
  if (argc < 2) return fmt::format("a command is missing; there are {}; attune --help shows them", names);
  const std::string_view name = argv[1];
  const bool is_command = std::ranges::any_of(commands, [&](const CLI::App* command) { return command->get_name() == name; });
  return is_command || name.starts_with('-') ? std::string() : fmt::format("'{}': is not a command; there are {}", name, names);
}

}  // namespace

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
                         attune::add_explain, attune::add_tune})
    add(program, chosen);
  if (const std::string problem = command_problem(program, argc, argv); !problem.empty()) return attune::refuse(problem);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return program.exit(error);
    const bool is_number = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConversionError);
    return attune::refuse(error.what() + std::string(is_number ? "; a whole number is right" : ""));
  }
  return chosen();
}
