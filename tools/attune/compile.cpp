#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "tools/attune/commands.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/options.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

struct CompileOptions : Options {
  std::string name, size, directory = ".";
  bool is_shared = false;
};

bool is_keyword(const std::string& name) {
  constexpr std::string_view keywords[] = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
      "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
      "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float",
      "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator",
      "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
      "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"};
  return std::ranges::binary_search(keywords, name);
}

/// What is wrong with the name of a kernel: it names files, and functions in the headers.
std::string name_problem(const std::string& name) {
  constexpr std::size_t longest = 200;  // a file's name has 255 letters at most; while the kernel is written some have 14 more
  const bool is_word = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!is_word || (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))))
    return fmt::format("--name '{}': is not a name; letters, digits and _ are, and no digit first", name);
  if (name.size() > longest) return fmt::format("--name: has {} letters; {} are the most", name.size(), longest);
  return is_keyword(name) ? fmt::format("--name '{}': is a keyword of C++; the kernel's header could not declare a function of that name", name) : std::string();
}

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
  if (const std::string problem = name_problem(options.name); !problem.empty()) return refuse(problem);
  if (const std::string problem = size_problem(options.size); !options.size.empty() && !problem.empty()) return refuse(problem);
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  const std::string& name = options.name.empty() ? prepared.graph.name : options.name;
  if (const std::string problem = overwriting_problem(options, name); !problem.empty()) return refuse(problem);
  MadeFolders folders(options.directory);
  if (!fs::is_directory(options.directory))
    return refuse(fmt::format("-o '{}': is not a folder, and none can be made there: {}", options.directory, folders.error().message()));
  const KernelFile file = compile_kernel(prepared, name, options.directory, options.is_shared, find_size(options.size));
  if (!file.problem.empty()) return refuse(file.problem);
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
  command.text("--size", options->size, "All calls take the schedules for calls of this size: large, small, few or tiny; each those of its own without it");
  command.flag("--shared", options->is_shared, "Also write a shared object that any program can open");
  command.footer(
      "Examples:\n"
      "  attune compile causal --target x86-64-v3,x86-64-v4 --set depth=64 -o kernels --shared\n"
      "  attune compile sliding_window --param window=512 --type bf16\n"
      "  attune compile my_attention.h --struct MyAttention --name my_attention -o kernels");
  command.action([options] { return compile(*options); });
}

}  // namespace attune
