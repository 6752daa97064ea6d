#include "tools/onnx/model.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

#include "codegen/dialect/identifier.h"

namespace attune {
namespace {

template <class Numbers>
void append(std::vector<double>& values, const Numbers& numbers) {
  for (const auto number : numbers) values.push_back(static_cast<double>(number));
}

/// The numbers of a tensor that stands in the message: raw, or in the field for its type. 16-bit reals are bits in int32_data.
std::vector<double> values_of(const onnx::TensorProto& tensor, const OnnxElement& element) {
  if (tensor.has_raw_data()) return onnx_numbers(element, std::as_bytes(std::span(tensor.raw_data())));
  std::vector<double> values;
  if (element.number == 10 || element.number == 16) {
    for (const std::int32_t bits : tensor.int32_data()) {
      const auto half = static_cast<std::uint16_t>(bits);
      values.push_back(onnx_numbers(element, std::as_bytes(std::span(&half, 1)))[0]);
    }
    return values;
  }
  append(values, tensor.float_data());
  append(values, tensor.double_data());
  append(values, tensor.int32_data());
  append(values, tensor.int64_data());
  append(values, tensor.uint64_data());
  return values;
}

OnnxTensor tensor_of(const onnx::TensorProto& tensor) {
  OnnxTensor result;
  result.extents.assign(tensor.dims().begin(), tensor.dims().end());
  result.element = find_element(tensor.data_type());
  if (result.element == nullptr) {
    result.element = find_element("float32");
    result.problem = fmt::format("constant '{}': is of ONNX's type {}, which is not supported", tensor.name(), tensor.data_type());
  } else if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    result.problem = fmt::format("constant '{}': its numbers are in another file (external data); a model that holds them itself is right", tensor.name());
  } else {
    result.values = values_of(tensor, *result.element);
    if (static_cast<std::int64_t>(result.values.size()) != element_count(result.extents))
      result.problem = fmt::format("constant '{}': has {} numbers for {}", tensor.name(), result.values.size(), shape_text(result.extents));
  }
  return result;
}

/// Names stand in sentences and in MLIR: those of the message that cannot, in words, or nothing. Documentation is not read.
std::string names_problem(const google::protobuf::Message& message) {
  using Field = google::protobuf::FieldDescriptor;
  std::vector<const Field*> fields;
  const google::protobuf::Reflection& content = *message.GetReflection();
  content.ListFields(message, &fields);
  for (const Field* field : fields) {
    const bool is_read = field->name() != "doc_string" && field->name() != "metadata_props";
    const int count = field->is_repeated() ? content.FieldSize(message, field) : 1;
    for (int i = 0; is_read && i < count; ++i) {
      if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
        const auto& inner = field->is_repeated() ? content.GetRepeatedMessage(message, field, i) : content.GetMessage(message, field);
        if (std::string problem = names_problem(inner); !problem.empty()) return problem;
      } else if (field->type() == Field::TYPE_STRING) {
        const std::string text = field->is_repeated() ? content.GetRepeatedString(message, field, i) : content.GetString(message, field);
        if (one_line(text) != text)
          return fmt::format("the {} '{}' of a {} has a control character in it", field->name(), one_line(text), message.GetTypeName());
      }
    }
  }
  return {};
}

/// ONNX's graphs have no cycles: a tensor is given once, before it is taken. What is wrong in words, or nothing.
std::string order_problem(const OnnxSubgraph& graph) {
  std::map<std::string_view, std::size_t> givers;
  for (std::size_t i = 0; i < graph.operations.size(); ++i)
    for (const std::string& output : graph.operations[i].outputs)
      if (!output.empty() && !givers.emplace(output, i).second) return fmt::format("tensor '{}' is given by two nodes", output);
  for (std::size_t i = 0; i < graph.operations.size(); ++i)
    for (const std::string& input : graph.operations[i].inputs)
      if (const auto giver = givers.find(input); giver != givers.end() && giver->second >= i)
        return fmt::format("tensor '{}' is taken by a node that does not stand behind the one that gives it; nodes in the order in which they run are right", input);
  return {};
}

OnnxSubgraph subgraph_of(const onnx::GraphProto& graph);

OnnxAttribute attribute_of(const onnx::AttributeProto& attribute) {
  switch (attribute.type()) {
    case onnx::AttributeProto::FLOAT: return static_cast<double>(attribute.f());
    case onnx::AttributeProto::STRING: return one_line(attribute.s());
    case onnx::AttributeProto::TENSOR: return tensor_of(attribute.t());
    case onnx::AttributeProto::GRAPH: return std::make_shared<const OnnxSubgraph>(subgraph_of(attribute.g()));
    case onnx::AttributeProto::FLOATS: return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case onnx::AttributeProto::INTS: return std::vector<double>(attribute.ints().begin(), attribute.ints().end());
    case onnx::AttributeProto::INT: return static_cast<double>(attribute.i());
    default: return fmt::format("of the type {}", static_cast<int>(attribute.type()));
  }
}

OnnxDeclared declared_of(const onnx::ValueInfoProto& value) {
  OnnxDeclared declared{value.name(), {}, {}};
  const onnx::TypeProto_Tensor& type = value.type().tensor_type();
  declared.tensor.element = find_element(type.elem_type());
  if (declared.tensor.element == nullptr) declared.tensor.problem = fmt::format("'{}': is no tensor of a supported type; its type is {}", value.name(), type.elem_type());
  else if (!type.has_shape()) declared.tensor.problem = fmt::format("'{}': has no shape; shape inference (onnx.shape_inference) gives one", value.name());
  for (const auto& dim : type.shape().dim()) {
    declared.tensor.extents.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    declared.symbols.push_back(dim.has_dim_value() ? "" : dim.has_dim_param() ? dim.dim_param() : "?");
  }
  return declared;
}

OnnxOperation operation_of(const onnx::NodeProto& node) {
  OnnxOperation operation{
      node.name(), node.op_type(), node.domain(), {node.input().begin(), node.input().end()}, {node.output().begin(), node.output().end()}, {}};
  for (const onnx::AttributeProto& attribute : node.attribute()) operation.attributes.emplace(attribute.name(), attribute_of(attribute));
  return operation;
}

OnnxSubgraph subgraph_of(const onnx::GraphProto& graph) {
  OnnxSubgraph result;
  result.name = graph.name();
  for (const onnx::NodeProto& node : graph.node()) result.operations.push_back(operation_of(node));
  for (const auto& value : graph.input()) result.inputs.push_back(declared_of(value));
  for (const auto& value : graph.output()) result.outputs.push_back(declared_of(value));
  for (const auto& value : graph.value_info()) result.values.push_back(declared_of(value));
  for (const auto& tensor : graph.initializer()) result.constants.emplace(tensor.name(), tensor_of(tensor));
  return result;
}

}  // namespace

ModelAnswer read_model(const std::string& path) {
  const auto refused = [&](std::string_view problem) { return ModelAnswer{{}, fmt::format("model '{}': {}", path, problem)}; };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return refused("is a folder; an .onnx file is right");
  std::ifstream file(path, std::ios::binary);
  if (!file) return refused("cannot be read");
  google::protobuf::io::IstreamInputStream bytes(&file);
  google::protobuf::io::CodedInputStream coded(&bytes);
  google::protobuf::SetLogHandler(nullptr);  // what is wrong is said here
  onnx::ModelProto model;
  if (!model.ParsePartialFromCodedStream(&coded) || !coded.ConsumedEntireMessage() || model.graph().node().empty())
    return refused("is no ONNX model, or has no nodes");
  if (const std::string problem = names_problem(model.graph()); !problem.empty()) return refused(problem);
  ModelAnswer answer;
  for (const auto& opset : model.opset_import()) answer.model.opsets[opset.domain() == "ai.onnx" ? "" : opset.domain()] = opset.version();
  answer.model.graph = subgraph_of(model.graph());
  if (const std::string problem = order_problem(answer.model.graph); !problem.empty()) return refused(problem);
  return answer;
}

SubgraphAnswer subgraph_of_json(const std::string& text) {
  onnx::GraphProto graph;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &graph, options);
  if (!status.ok()) return {{}, fmt::format("is no GraphProto in protobuf's JSON: {}", std::string(status.message()))};
  if (std::string problem = names_problem(graph); !problem.empty()) return {{}, std::move(problem)};
  return {subgraph_of(graph), {}};
}

}  // namespace attune
