#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <sstream>

#include "codegen/compile.h"
#include "codegen/identifier.h"
#include "codegen/run_program.h"
#include "codegen/scratch_folder.h"
#include "codegen/whole_file.h"
#include "tools/attune/graph_source.h"
#include "tools/tune/child.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

LoadedGraph refuse(std::string problem) {
  LoadedGraph loaded;
  loaded.problem = std::move(problem);
  return loaded;
}

/// The folder that holds dsl/: from the program ../include/attune, where it is installed and where it was built.
fs::path include_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "include/attune";
}

/// What the library is compiled from. A variant that compiles with its defaults is a valid graph; other parameters are
/// checked when it is built.
std::string library_source(const std::string& struct_name) {
  return fmt::format(
      "#include \"dsl/parameters.h\"\n"
      "static_assert(attune::graph<{0}{{}}>.problem().empty());\n"
      "extern \"C\" unsigned long attune_graph_size() {{ return sizeof(attune::Graph); }}\n"
      "extern \"C\" void attune_build(const std::vector<std::string>* settings, attune::Graph* graph, std::string* name, std::string* parameters, "
      "std::string* problem) {{\n"
      "  {0} variant;\n"
      "  for (const std::string& setting : *settings)\n"
      "    if (problem->empty()) *problem = attune::set_parameter(variant, setting);\n"
      "  *name = std::string({0}::name);\n"
      "  for (const attune::Setting& s : attune::parameters_of(variant)) *parameters += (parameters->empty() ? \"\" : \",\") + s.name + \"=\" + s.value;\n"
      "  if (problem->empty()) *graph = attune::build(variant);\n"
      "}}\n",
      struct_name);
}

/// "PATH:7:3: error: TEXT" as "line 7: TEXT" if the path is the header's, as "--struct NAME: TEXT" if it is that of the source
/// around it.
std::string located(const std::string& error, const fs::path& header, const std::string& source, const std::string& struct_name) {
  const std::size_t text = error.find("error: ") + 7;
  const std::string beginning = fs::absolute(header).string() + ":";
  if (error.starts_with(source + ":")) return fmt::format("--struct {}: {}", struct_name, error.substr(text));
  if (!error.starts_with(beginning)) return error;
  return fmt::format("line {}: {}", error.substr(beginning.size(), error.find(':', beginning.size()) - beginning.size()), error.substr(text));
}

/// The sentence in a compiler's message: what stands in graph_error<Text{"..."}> of GCC or a static_assert of Clang; the
/// first line with an error otherwise, or how the compiler ended.
std::string sentence_of(const ProgramEnd& end, const fs::path& header, const std::string& source, const std::string& struct_name) {
  std::istringstream in(end.output);
  std::string line, first;
  while (std::getline(in, line)) {
    const std::size_t error = line.find("error: ");
    if (error == std::string::npos) continue;
    if (first.empty()) first = line;
    const std::size_t open = line.find("Text{\"");
    const std::size_t close = open == std::string::npos ? open : line.find("\", ", open);
    if (close != std::string::npos) return line.substr(open + 6, close - open - 6);
  }
  return first.empty() ? "does not compile: " + end.reason : located(first, header, source, struct_name);
}

/// Compiles the library; the problem in words, or nothing.
std::string compile(const fs::path& header, const std::string& struct_name, const fs::path& folder) {
  const char* chosen = std::getenv("CXX");
  const std::string compiler = chosen != nullptr && *chosen != '\0' ? chosen : "c++";
  const std::string source = (folder / "variant.cpp").string();
  if (const std::error_code error = write_file(source, {library_source(struct_name)})) return cannot_be_written(source, error);
  if (!fs::exists(include_folder() / "dsl/graph.h"))
    return fmt::format("'{}': needs Attune's headers, and '{}' has none; attune is installed with them", header.string(), include_folder().string());
  const std::string include = "-I" + include_folder().string(), beside = "-I" + fs::absolute(header).parent_path().string();
  const std::string library = (folder / "variant.so").string();
  const std::string absolute = fs::absolute(header).string();  // as an argument: a path in an #include cannot have every character
  constexpr std::chrono::seconds longest(600);
  const ProgramEnd end =
      run_program(compiler, {"-std=c++20", "-O0", "-fPIC", "-shared", include, beside, "-include", absolute, source, "-o", library}, longest);
  if (!end.is_found) return fmt::format("'{}': is compiled by the system's C++ compiler, and there is no '{}'; CXX names another", header.string(), compiler);
  if (end.is_late) return fmt::format("'{}': takes '{}' more than {} s to compile", header.string(), compiler, longest.count());
  return end.is_success ? std::string() : fmt::format("'{}': {}", header.string(), sentence_of(end, header, source, struct_name));
}

/// What a process of its own says of the graph: text of the dialect `attn` behind a '+', or a problem in words behind a '-'.
std::string described(const GraphRequest& request, const std::string& library) {
  const auto refuse = [&](std::string_view problem) { return fmt::format("-'{}': {}", request.graph, problem); };
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return refuse(dlerror());
  const auto size = reinterpret_cast<unsigned long (*)()>(dlsym(handle, "attune_graph_size"));
  using Build = void (*)(const std::vector<std::string>*, Graph*, std::string*, std::string*, std::string*);
  const auto build = reinterpret_cast<Build>(dlsym(handle, "attune_build"));
  if (size == nullptr || build == nullptr || size() != sizeof(Graph)) return refuse("was compiled with another version of Attune's headers than this attune");
  Graph graph;
  std::string name, parameters, problem;
  build(&request.settings, &graph, &name, &parameters, &problem);
  if (!problem.empty()) return "-" + problem;
  if (!graph.problem().empty()) return refuse(graph.problem().view());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  StagedModule imported = compile_to_stages(graph, name, parameters, {}, context, Until::imported);
  if (!imported.problem.empty()) return refuse(imported.problem);
  std::string text = "+";
  llvm::raw_string_ostream stream(text);
  (*imported.module)->print(stream);
  return text;
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

/// Empty, or what is wrong with the name of a struct, which may stand in namespaces.
std::string struct_problem(std::string_view name) {
  for (std::string_view rest = name;;) {
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
  if (request.struct_name.empty()) return refuse(fmt::format("'{}': is a header; --struct names the variant in it", request.graph));
  if (!fs::exists(request.graph)) return refuse(fmt::format("'{}': does not exist", request.graph));
  if (fs::is_directory(request.graph)) return refuse(fmt::format("'{}': is a folder; a header is expected", request.graph));
  if (std::string problem = struct_problem(request.struct_name); !problem.empty()) return refuse(std::move(problem));
  const ScratchFolder folder;
  if (!folder.exists()) return refuse(no_scratch_folder(folder));
  if (std::string problem = compile(request.graph, request.struct_name, folder.path()); !problem.empty()) return refuse(std::move(problem));
  constexpr double longest_s = 60;
  const std::string library = folder.file("variant.so");
  const ChildAnswer answer = in_child([&] { return described_or_thrown(request, library); }, longest_s);
  if (answer.text.starts_with('+') && answer.problem.empty()) return graph_from_text(std::string_view(answer.text).substr(1), request.graph, "variant");
  if (answer.text.starts_with('-') && answer.problem.empty()) return refuse(answer.text.substr(1));
  return refuse(fmt::format("'{}': building the graph of '{}' {}; a variant adds operations to its graph and nothing else", request.graph, request.struct_name,
                            answer.problem.empty() ? "ended the process" : answer.problem));
}

}  // namespace attune
