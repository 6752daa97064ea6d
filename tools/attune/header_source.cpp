#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "codegen/dialect/identifier.h"
#include "codegen/files/read_file.h"
#include "codegen/files/run_program.h"
#include "codegen/files/scratch_folder.h"
#include "codegen/files/whole_file.h"
#include "codegen/passes/compile.h"
#include "dsl/variant_library.h"
#include "tools/attune/compiler_error.h"
#include "tools/attune/graph_source.h"
#include "tools/attune/headers_digest.h"
#include "tools/attune/make_rule.h"
#include "tools/tune/child.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

/// The folder that holds dsl/: from the program ../include/attune, where it is installed and where it was built.
fs::path include_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "include/attune";
}

/// Of a folder with a library: which headers it is made of.
constexpr const char* rule_file = "variant.d";

/// The line of what the library is compiled from that names the struct.
constexpr int line_of_struct = 2;

/// What the library is compiled from. The struct is named from outside of all namespaces: it may be called like something of Attune's that the
/// header is `using`. Without settings the graph is a constant, for which compilers take half the time.
std::string library_source(std::string_view struct_name, bool has_settings) {
  if (struct_name.starts_with("::")) struct_name.remove_prefix(2);
  return fmt::format(
      "#include \"dsl/variant_library.h\"\n"
      "namespace attune_library {{ typedef ::{} Variant; }}\n"
      "extern \"C\" unsigned long attune_described_size() {{ return sizeof(attune::DescribedVariant); }}\n"
      "extern \"C\" void attune_describe([[maybe_unused]] const std::vector<std::string>* settings, attune::DescribedVariant* described) {{\n"
      "  attune::describe<attune_library::Variant>({}*described);\n"
      "}}\n",
      struct_name, has_settings ? "*settings, " : "");
}

/// What is wrong with a header that does not compile.
std::string problem_of(const ProgramEnd& end, const fs::path& header, const CompiledHeader& compiled, const std::string& struct_name) {
  const CompilerError error = first_error(end.output, compiled);
  if (error.sentence.empty()) return fmt::format("'{}': does not compile: {}", header.string(), end.reason);
  if (error.line_of_source == 0) return fmt::format("'{}': {}", header.string(), error.sentence);
  if (error.line_of_source != line_of_struct) return fmt::format("'{}': --struct {}: {}", header.string(), struct_name, error.sentence);
  return fmt::format("'{}': --struct {}: is no struct there: {}; one in a namespace is NAMESPACE::NAME, one of a template NAME<ARGUMENTS>", header.string(), struct_name, error.sentence);
}

/// The compiler and its first arguments: what CXX says, as make takes it ("ccache g++"), or "c++".
std::vector<std::string> compiler_words() {
  const char* chosen = std::getenv("CXX");
  const std::string all = chosen != nullptr ? chosen : "";
  std::error_code ignored;
  if (!all.empty() && fs::exists(all, ignored)) return {all};  // a path may have spaces
  std::istringstream stream(all);
  std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
  return words.empty() ? std::vector<std::string>{"c++"} : words;
}

/// Compiles the library, and writes which headers it read; the problem in words, or nothing.
std::string compile(const GraphRequest& request, const fs::path& folder) {
  const fs::path header = request.graph;
  for (const std::string& of_headers : request.include_folders)
    if (std::error_code ignored; !fs::is_directory(of_headers, ignored)) return fmt::format("-I '{}': is not a folder", of_headers);
  const std::string source = (folder / "variant.cpp").string(), text = library_source(request.struct_name, !request.settings.empty());
  if (const std::error_code error = write_file(source, {text})) return cannot_be_written(source, error);
  if (!fs::exists(include_folder() / "dsl/graph.h"))
    return fmt::format("'{}': needs Attune's headers, and '{}' has none; attune is installed with them", header.string(), include_folder().string());
  const fs::path own_folder = fs::absolute(header).parent_path();
  for (const fs::path& folder_of_headers : {own_folder, include_folder()})  // compilers look beside the header first
    if (fs::exists(folder_of_headers / "dsl/graph.h"))
      if (const std::string problem = headers_problem(folder_of_headers); !problem.empty()) return fmt::format("'{}': {}", header.string(), problem);
  const std::string include = "-I" + include_folder().string(), beside = "-I" + own_folder.string();
  const std::string library = (folder / "variant.so").string();
  const std::string absolute = fs::absolute(header).string();  // as an argument: a path in an #include cannot have every character
  constexpr std::chrono::seconds longest(600);
  std::vector<std::string> words = compiler_words();
  const std::string compiler = words.front();
  words.erase(words.begin());
  words.insert(words.end(), {"-std=c++20", "-O0", "-fPIC", "-shared", include, beside});
  for (const std::string& of_headers : request.include_folders) words.push_back("-I" + of_headers);
  words.insert(words.end(), {"-MMD", "-MF", (folder / rule_file).string(), "-include", absolute, source, "-o", library});
  const ProgramEnd end = run_program(compiler, words, longest, {"LC_ALL=C", "TMPDIR=" + folder.string()});
  if (!end.is_found) return fmt::format("'{}': is compiled by the system's C++ compiler, and there is no '{}'; CXX names another", header.string(), compiler);
  if (end.is_late) return fmt::format("'{}': takes '{}' more than {} s to compile", header.string(), compiler, longest.count());
  return end.is_success ? std::string() : problem_of(end, header, {absolute, source}, request.struct_name);
}

/// What a process of its own says of the graph: text of the dialect `attn` behind a '+', or a problem in words behind a '-'.
std::string described(const GraphRequest& request, const std::string& library) {
  const auto refuse = [&](std::string_view problem) { return fmt::format("-'{}': {}", request.graph, problem); };
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return refuse(dlerror());
  const auto size = reinterpret_cast<unsigned long (*)()>(dlsym(handle, "attune_described_size"));
  const auto describe = reinterpret_cast<void (*)(const std::vector<std::string>*, DescribedVariant*)>(dlsym(handle, "attune_describe"));
  if (size == nullptr || describe == nullptr || size() != sizeof(DescribedVariant))
    return refuse("was compiled with another C++ library than this attune");
  DescribedVariant of;
  describe(&request.settings, &of);
  if (!of.lacks.empty()) return refuse(fmt::format("--struct {}: {}", request.struct_name, of.lacks));
  if (!of.problem.empty()) return "-" + of.problem;
  if (!of.graph.problem().empty()) return refuse(of.graph.problem().view());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  StagedModule imported = compile_to_stages(of.graph, of.name, of.parameters, {}, context, Until::imported);
  if (!imported.problem.empty()) return refuse(imported.problem);
  std::string text = "+";
  llvm::raw_string_ostream stream(text);
  (*imported.module)->print(stream);
  return text;
}

/// The headers that the library in the folder is made of.
std::vector<std::string> headers_of_library(const fs::path& folder) {
  std::vector<std::string> files = files_of_rule(read_file((folder / rule_file).string()).bytes);
  std::erase(files, (folder / "variant.cpp").string());
  return files;
}

/// The same where the header's code throws.
std::string described_or_thrown(const GraphRequest& request, const std::string& library) {
  try {
    return described(request, library);
  } catch (const std::exception& error) {
    return fmt::format("-'{}': building the graph of '{}' threw an exception: {}", request.graph, request.struct_name, excerpt(error.what()));
  } catch (...) {
    return fmt::format("-'{}': building the graph of '{}' threw an exception", request.graph, request.struct_name);
  }
}

/// Empty, or what is wrong with the name of a struct, which may stand in namespaces and be made from a template: "mine::Window<7>".
std::string struct_problem(std::string_view name) {
  const std::size_t arguments = name.find('<');
  if (arguments != std::string_view::npos && (!name.ends_with('>') || name.find_first_of(";#\n\r") != std::string_view::npos))
    return fmt::format("--struct '{}': is not a name; NAME<ARGUMENTS> is one of a template", excerpt(name));
  for (std::string_view rest = name.substr(0, arguments);;) {
    const std::size_t end = rest.find("::");
    const std::string_view part = rest.substr(0, end);
    const bool is_global = part.empty() && rest.data() == name.data() && end == 0;  // "::Name"
    if (!is_global)
      if (std::string problem = name_problem("--struct", part); !problem.empty()) return problem;
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 2);
  }
}

}  // namespace

LoadedGraph load_header(const GraphRequest& request) {
  if (request.struct_name.empty()) return no_graph(fmt::format("'{}': is a header; --struct names the variant in it", request.graph));
  std::error_code error;
  const fs::file_status status = fs::status(request.graph, error);
  if (status.type() == fs::file_type::not_found) return no_graph(fmt::format("'{}': does not exist", request.graph));
  if (error) return no_graph(fmt::format("'{}': {}", request.graph, cannot_be_read(error)));
  if (fs::is_directory(status)) return no_graph(fmt::format("'{}': is a folder; a header is expected", request.graph));
  // of a device there may be no end, and what a pipe gave once is gone
  if (!fs::is_regular_file(status)) return no_graph(fmt::format("'{}': is a device or a pipe; a header is expected", request.graph));
  if (std::string problem = struct_problem(request.struct_name); !problem.empty()) return no_graph(std::move(problem));
  const ScratchFolder folder;
  if (!folder.exists()) return no_graph(no_scratch_folder(folder));
  if (std::string problem = compile(request, folder.path()); !problem.empty()) return no_graph(std::move(problem));
  constexpr double longest_s = 60;
  const std::string library = folder.file("variant.so");
  const ChildAnswer answer = in_child([&] { return described_or_thrown(request, library); }, longest_s);
  if (answer.text.starts_with('+') && answer.problem.empty()) {
    LoadedGraph loaded = graph_from_text(std::string_view(answer.text).substr(1), request.graph, "variant");
    loaded.headers = headers_of_library(folder.path());
    return loaded;
  }
  if (answer.text.starts_with('-') && answer.problem.empty()) return no_graph(answer.text.substr(1));
  return no_graph(fmt::format("'{}': building the graph of '{}' {}; a variant adds operations to its graph and nothing else", request.graph, request.struct_name,
                            answer.problem.empty() ? "ended the process" : answer.problem));
}

}  // namespace attune
