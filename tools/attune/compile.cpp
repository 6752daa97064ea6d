#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "codegen/dialect/identifier.h"
#include "codegen/files/whole_file.h"
#include "tools/attune/commands.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/make_rule.h"
#include "tools/attune/options.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

struct CompileOptions : Options {
  std::string name, size, directory = ".", codes_folder, depfile;
  bool is_shared = false;
  int jobs = 0;
};

/// Folders on the way to a path, made where they are missing and, unless they are kept, removed again.
class MadeFolders {
 public:
  explicit MadeFolders(const fs::path& path) {
    std::error_code ignored;
    for (fs::path folder = path; !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path()) made_.push_back(folder);
    fs::create_directories(path, error_);
  }
  ~MadeFolders() {
    std::error_code ignored;
    for (const fs::path& folder : made_) fs::remove(folder, ignored);
  }
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  void keep() { made_.clear(); }
  const std::error_code& error() const { return error_; }

 private:
  std::vector<fs::path> made_;  // the innermost first
  std::error_code error_;
};

/// A kernel of my.h that is called `my` would be written over it.
std::string overwriting_problem(const CompileOptions& options, const std::string& name) {
  for (const char* suffix : {".h", ".hpp"}) {
    const fs::path file = fs::path(options.directory) / (name + suffix);
    std::error_code ignored;
    if (fs::equivalent(file, options.graph.graph, ignored))
      return fmt::format("'{}': would be written over the header that it is compiled from; -o names another folder, --name another kernel", file.string());
  }
  return {};
}

int compile(const CompileOptions& options) {
  if (!options.name.empty())
    if (const std::string problem = name_problem("--name", options.name); !problem.empty()) return refuse(problem);
  if (const std::string problem = size_problem(options.size); !options.size.empty() && !problem.empty()) return refuse(problem);
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  const std::string& name = options.name.empty() ? prepared.graph.name : options.name;
  if (const std::string problem = overwriting_problem(options, name); !problem.empty()) return refuse(problem);
  if (std::error_code ignored; !options.codes_folder.empty() && !fs::is_directory(options.codes_folder, ignored))
    return refuse(fmt::format("--codes '{}': is not a folder", options.codes_folder));
  MadeFolders folders(options.directory);
  if (std::error_code error; !fs::is_directory(options.directory, error))
    return refuse(fmt::format("-o '{}': is not a folder, and none can be made there: {}", options.directory, (error ? error : folders.error()).message()));
  const WrittenKernel file = compile_kernel(prepared, {.name = name,
                                                   .directory = options.directory,
                                                   .files = options.is_shared ? KernelFiles::object_and_shared : KernelFiles::object,
                                                   // Kept codes are of candidates, which are measured and thrown away.
                                                   .has_machine_code = options.codes_folder.empty(),
                                                   .size = find_size(options.size),
                                                   .jobs = options.jobs,
                                                   .codes_folder = options.codes_folder});
  if (!file.problem.empty()) return refuse(file.problem);
  if (!options.depfile.empty())
    if (std::string problem = write_whole(options.depfile, {rule_of((fs::path(options.directory) / (name + ".o")).string(), prepared.graph.headers)}); !problem.empty())
      return refuse(fmt::format("--depfile {}", problem));
  folders.keep();
  for (const std::string& written : file.files) fmt::print("{}\n", written);
  return 0;
}

}  // namespace

void add_compile(Program& program) {
  auto options = std::make_shared<CompileOptions>();
  const Command command = program.command("compile", "Write a kernel: NAME.o, NAME.h, NAME.hpp, NAME.json, and NAME.so with --shared");
  add_graph_options(command, *options);
  command.text("--name", options->name, "Of the kernel and its files; the variant's without it");
  command.text("-o", options->directory, "The folder to write to");
  command.text("--size", options->size, "All calls take the schedules for calls of this size: large, small, few, shared or tiny; each those of its own without it");
  command.number("--jobs", options->jobs, 1, 1024, "How many processes compile at once; as many as the machine has CPUs without it. The files are the same");
  command.text("--codes", options->codes_folder,
               "A folder of this program's codes of stages: those of it are taken, new ones are put there. Two such kernels cannot be linked into one program: codes that they share have one name");
  command.text("--depfile", options->depfile, "Also write this rule of make: which headers NAME.o is made of; build tools then know when to compile again");
  command.flag("--shared", options->is_shared, "Also write a shared object that any program can open");
  command.footer(
      "Examples:\n"
      "  attune compile causal --target x86-64-v3,x86-64-v4 --set depth=64 -o kernels --shared\n"
      "  attune compile sliding_window --param window=512 --type bf16\n"
      "  attune compile my_attention.h --struct MyAttention --name my_attention -o kernels");
  command.action([options] { return compile(*options); });
}

}  // namespace attune
