#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "codegen/files/whole_file.h"
#include "tools/attune/commands.h"
#include "tools/attune/mlir_text.h"
#include "tools/npy.h"
#include "tools/onnx/import.h"

namespace attune {
namespace {

struct ImportOptions {
  std::string model, node, output, shape;
  std::vector<std::string> inputs;
};

NpyArray npy_of(const Array& array) {
  if (array.type.kind == Kind::real) return NpyArray::of<float>(array.extents, std::vector<float>(array.data.begin(), array.data.end()));
  if (array.type.kind != Kind::boolean)
    return NpyArray::of<std::int64_t>(array.extents, std::vector<std::int64_t>(array.data.begin(), array.data.end()));
  NpyArray result = NpyArray::of<std::uint8_t>(array.extents, std::vector<std::uint8_t>(array.data.begin(), array.data.end()));
  result.type = NpyType::boolean;
  return result;
}

/// The graph's inputs and what they are of the model, in comments.
std::string comments(const ImportOptions& options, const Imported& imported) {
  std::string text = fmt::format("// node '{}' of the model '{}'\n", options.node, std::filesystem::path(options.model).filename().string());
  for (const ImportedTensor& input : imported.inputs) {
    text += fmt::format("// input '{}' is {} {}", input.name, input.tensor, shape_text(input.extents));
    text += input.declared == input.extents ? "\n" : fmt::format(", declared as {}: the same memory\n", shape_text(input.declared));
  }
  for (const auto& [name, array] : imported.node.constants)
    text += fmt::format("// input '{}' is a constant of the model, {}: {}.npy\n", name, shape_text(array.extents), name);
  return text;
}

/// Writes the numbers that the model holds beside the graph.
std::string write_constants(const std::string& output, const Arrays& constants) {
  for (const auto& [name, array] : constants) {
    const std::filesystem::path file = std::filesystem::path(output).parent_path() / (name + ".npy");
    if (const Result<void> written = write_npy(file, npy_of(array)); !written) return written.error().message;
    fmt::print("{}\n", file.string());
  }
  return {};
}

int import(const ImportOptions& options) {
  const ShapeAnswer symbols = parse_shape(options.shape, "--shape");
  if (!symbols.problem.empty()) return refuse(symbols.problem);
  const ModelAnswer model = read_model(options.model);
  if (!model.problem.empty()) return refuse(model.problem);
  const Imported imported = import_node(model.model, {options.node, options.inputs, symbols.extents});
  if (!imported.problem.empty()) return refuse(imported.problem);
  Prepared prepared;
  prepared.graph.name = imported.name;
  prepared.graph.graph = imported.node.graph;
  const MlirText module = mlir_text(prepared, false);
  if (!module.problem.empty()) return refuse(module.problem);
  const std::string text = comments(options, imported) + module.text;
  if (options.output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  if (const std::string problem = write_whole(options.output, {text}); !problem.empty()) return refuse(problem);
  fmt::print("{}\n", options.output);
  const std::string problem = write_constants(options.output, imported.node.constants);
  return problem.empty() ? 0 : refuse(problem);
}

}  // namespace

void add_import(Program& program) {
  auto options = std::make_shared<ImportOptions>();
  const Command command = program.command("import", "Write a node of an ONNX model, or the part of it that computes attention, as a graph of the dialect attn");
  command.text("MODEL", options->model, "An .onnx file", Need::required);
  command.text("--node", options->node, "The node's name, or that of a tensor that it gives: of an operator of attention, or the product with the values behind a softmax", Need::required);
  command.text("-o", options->output, "The file to write, and beside it NAME.npy for each constant tensor that is an input of the graph; stdout without it");
  command.texts("--input", options->inputs, "A tensor that becomes an input of the graph, whatever gives it; may be given again");
  command.text("--shape", options->shape, "NAME=EXTENT,...: the extents that are symbolic in the model");
  command.footer(
      "Operators of attention are those of `attune conformance`. Other parts may hold MatMul, Softmax, elementwise operations, Where, Cast and what changes shapes;\n"
      "docs/onnx.md says where they begin. What is written is a GRAPH for all commands.\n"
      "Examples:\n"
      "  attune import model.onnx --node attention -o attention.mlir\n"
      "  attune show attention.mlir\n"
      "  attune check attention.mlir --shape queries=5\n"
      "  attune import model.onnx --node attention");
  command.action([options] { return import(*options); });
}

}  // namespace attune
