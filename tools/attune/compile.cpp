#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "codegen/emit.h"
#include "codegen/import.h"
#include "tools/attune/commands.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/options.h"

namespace attune {
namespace {

struct CompileOptions : Options {
  std::string name, directory = ".";
  bool is_shared = false;
};

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

int compile(const CompileOptions& options) {
  if (!options.name.empty() && !is_identifier(options.name))
    return refuse(fmt::format("--name '{}': is not a name; letters, digits and _ are, and no digit first", options.name));
  std::error_code ignored;
  std::filesystem::create_directories(options.directory, ignored);
  if (!std::filesystem::is_directory(options.directory)) return refuse(fmt::format("-o '{}': is not a folder", options.directory));
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  const KernelFile file = compile_kernel(prepared, options.name, options.directory, options.is_shared);
  if (!file.problem.empty()) return refuse(file.problem);
  for (const std::string& written : file.files) fmt::print("{}\n", written);
  return 0;
}

}  // namespace

void add_compile(CLI::App& program, Chosen& chosen) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App* command = program.add_subcommand("compile", "Write a kernel: NAME.o, NAME.h, NAME.hpp, NAME.json, and NAME.so with --shared");
  add_graph_options(*command, *options);
  command->add_option("--name", options->name, "Of the kernel and its files; the variant's without it");
  command->add_option("-o", options->directory, "The folder to write to")->capture_default_str();
  command->add_flag("--shared", options->is_shared, "Also write a shared object that any program can open");
  command->footer(
      "Examples:\n"
      "  attune compile causal --target x86-64-v3,x86-64-v4 --set depth=64 -o kernels --shared\n"
      "  attune compile sliding_window --param window=512 --type bf16\n"
      "  attune compile my_attention.h --struct MyAttention --name my_attention");
  command->callback([options, &chosen] { chosen = [options] { return compile(*options); }; });
}

}  // namespace attune
