#include "tools/attune/graph_source.h"

#include <fmt/format.h>

#include <filesystem>

#include "codegen/dialect/identifier.h"
#include "codegen/dialect/import.h"
#include "codegen/files/read_file.h"
#include "dsl/variant_by_name.h"

namespace attune {
namespace {

/// The settings of a variant as one text.
std::string joined(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& s : settings) text += (text.empty() ? "" : ",") + s.name + "=" + s.value;
  return text;
}

LoadedGraph load_variant(const GraphRequest& request) {
  const ChosenVariant chosen = choose_variant(request.graph, request.settings);
  if (!chosen.problem.empty()) return no_graph(chosen.problem);
  LoadedGraph loaded;
  loaded.name = request.graph;
  loaded.parameters = std::visit([](const auto& variant) { return joined(parameters_of(variant)); }, chosen.variant);
  loaded.graph = build_any(chosen.variant);
  if (!loaded.graph.problem().empty()) return no_graph(fmt::format("variant '{}': {}", request.graph, problem_of(loaded.graph)));
  return loaded;
}

void print_without_type(mlir::Attribute attribute, std::string& into) {
  llvm::raw_string_ostream stream(into);
  attribute.print(stream, /*elideType=*/true);
}

/// The parameters that the text says it was made with, as they are written one after the other; or the problem in words.
struct SaidParameters {
  std::string text, problem;
};
SaidParameters parameters_of(mlir::func::FuncOp function) {
  std::vector<Setting> settings;
  if (const auto said = function->getAttrOfType<mlir::DictionaryAttr>(parameters_attribute))
    for (const mlir::NamedAttribute& one : said) {
      const std::string name = one.getName().str();
      std::string value;
      if (const auto text = llvm::dyn_cast<mlir::StringAttr>(one.getValue())) value = text.getValue();
      else print_without_type(one.getValue(), value);
      if (name.find_first_of(",=") != std::string::npos || value.find(',') != std::string::npos)
        return {{}, fmt::format("parameter '{}' is '{}'; a name without , and = and a value without , are right", excerpt(name), excerpt(value))};
      settings.push_back({name, {}, std::move(value)});
    }
  std::string text = joined(settings);
  if (!is_printable(text)) return {{}, fmt::format("its parameters are '{}'; printable text in UTF-8 is right", excerpt(text))};
  return {std::move(text), {}};
}

LoadedGraph load_mlir(const GraphRequest& request) {
  if (!request.settings.empty()) return no_graph(fmt::format("'{}': has no parameters to set; a variant or a header has", request.graph));
  std::error_code ignored;
  if (std::filesystem::is_directory(request.graph, ignored)) return no_graph(fmt::format("'{}': is a folder; text of MLIR is expected", request.graph));
  const FileBytes text = read_file(request.graph);
  if (text.error) return no_graph(fmt::format("'{}': {}; text of MLIR is expected", request.graph, cannot_be_read(text.error)));
  return graph_from_text(text.bytes, request.graph, "function");
}

}  // namespace

LoadedGraph graph_from_text(std::string_view text, const std::string& source, std::string_view what) {
  // without threads of its own: processes are forked from this one
  auto context = std::make_shared<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  const ParsedModule parsed = parse_module(text, source, *context);
  if (!parsed.problem.empty()) return no_graph(parsed.problem);
  mlir::func::FuncOp function = function_of(*parsed.module);
  SaidParameters parameters = parameters_of(function);
  if (!parameters.problem.empty()) return no_graph(fmt::format("'{}': {}", source, parameters.problem));
  LoadedGraph loaded;
  loaded.name = function.getName().str();
  if (std::string problem = name_problem(what, loaded.name); !problem.empty()) return no_graph(fmt::format("'{}': {}", source, problem));
  loaded.parameters = std::move(parameters.text);
  loaded.graph = to_graph(function);
  loaded.owner = context;
  if (!loaded.graph.problem().empty()) return no_graph(fmt::format("'{}': {}", source, problem_of(loaded.graph)));
  return loaded;
}

LoadedGraph load_graph(const GraphRequest& request) {
  const std::string extension = std::filesystem::path(request.graph).extension().string();
  const bool is_header = extension == ".h" || extension == ".hpp";
  if (!is_header && !request.include_folders.empty())
    return no_graph(fmt::format("-I {}: is a folder of what a header includes; '{}' is no header", request.include_folders.front(), request.graph));
  if (!is_header && !request.struct_name.empty())
    return no_graph(fmt::format("--struct {}: names a struct of a header; '{}' is none", request.struct_name, request.graph));
  if (is_header) return load_header(request);
  const bool is_path = request.graph.find_first_of("./") != std::string::npos;
  if (is_path && extension != ".mlir")
    return no_graph(fmt::format("'{}': is no graph; a variant's name, FILE.mlir, and FILE.h with --struct are", request.graph));
  return extension == ".mlir" ? load_mlir(request) : load_variant(request);
}

}  // namespace attune
