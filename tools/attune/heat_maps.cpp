#include "tools/attune/heat_maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/attune/label_file.h"
#include "tools/attune/trial.h"
#include "tools/attune/work.h"
#include "tools/picture/heat_map.h"

namespace attune {
namespace {

constexpr std::size_t most_heat_panels = 32;

std::vector<int> softmaxes_of(const Graph& graph) {
  std::vector<int> all;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (std::holds_alternative<Softmax>(graph.node(id).op)) all.push_back(id);
  return all;
}

/// The array with the queries and the keys as its last dims.
HeatValues as_matrices(const Array& array, Name queries, Name keys, const DimExtents& extents) {
  HeatValues result;
  const bool has_queries = array.type.dims.has(queries);
  Names order = array.type.dims.without({queries, keys});
  if (has_queries) order.add(queries);
  order.add(keys);
  for (const Name dim : order) {
    if (dim == keys && !has_queries) result.dims.emplace_back(queries), result.extents.push_back(1);
    result.dims.emplace_back(dim);
    result.extents.push_back(extents.at(dim));
  }
  Walk(order, extents, {&array}).run([&](std::span<const std::size_t> at) { result.values.push_back(array.data[at[0]]); });
  return result;
}

/// What is wrong with the number of labels for one side.
std::string label_problem(const std::string& option, const std::string& file, const std::vector<std::string>& labels, std::int64_t positions,
                          const std::string& dim) {
  if (labels.empty() || static_cast<std::int64_t>(labels.size()) == positions) return {};
  return fmt::format("{} '{}': has {} labels; there are {} {}", option, file, labels.size(), positions, dim);
}

/// What --at says of the dims beside rows and columns: the position of each, or -1 for all.
struct HeatPlaces {
  std::vector<std::int64_t> at;
  std::string problem;
};
HeatPlaces places_of(const std::string& text, const HeatValues& values) {
  const ShapeAnswer chosen = parse_shape(text, "--at", "DIM=INDEX with an index");
  HeatPlaces places{{}, chosen.problem};
  const std::size_t outer = values.dims.size() - 2;
  for (std::size_t i = 0; i < outer; ++i) {
    const auto found = chosen.extents.find(values.dims[i]);
    places.at.push_back(found == chosen.extents.end() ? -1 : found->second);
    if (places.problem.empty() && places.at[i] >= values.extents[i])
      places.problem = fmt::format("--at {}={}: there are {} positions; 0 to {} are right", values.dims[i], places.at[i], values.extents[i], values.extents[i] - 1);
  }
  for (const auto& [dim, place] : chosen.extents)
    if (places.problem.empty() && std::find(values.dims.begin(), values.dims.end() - 2, dim) == values.dims.end() - 2)
      places.problem = fmt::format("--at {}={}: the weights have no dim '{}' beside rows and columns; they are [{}]", dim, place, dim, fmt::join(values.dims, " x "));
  return places;
}

/// A panel for each place, in order.
std::vector<HeatPanel> panels_of(const HeatValues& values, const std::vector<std::int64_t>& places) {
  const std::size_t outer = places.size();
  const std::int64_t size = values.extents[outer] * values.extents[outer + 1];
  std::vector<HeatPanel> panels;
  for (std::int64_t first = 0; first < static_cast<std::int64_t>(values.values.size()) && panels.size() <= most_heat_panels; first += size) {
    std::int64_t rest = first / size;
    bool is_drawn = true;
    std::string title;
    for (std::size_t i = outer; i-- > 0; rest /= values.extents[i]) {
      const std::int64_t at = rest % values.extents[i];
      is_drawn = is_drawn && (places[i] < 0 || places[i] == at);
      if (values.extents[i] > 1) title = fmt::format("{} {}{}{}", values.dims[i], at, title.empty() ? "" : ", ", title);
    }
    if (is_drawn) panels.push_back({title, {values.values.begin() + first, values.values.begin() + first + size}});
  }
  return panels;
}

}  // namespace

HeatRequest read_heat_request(const HeatOptions& options) {
  HeatRequest request;
  const std::pair<const std::string&, const char*> of_pictures[] = {
      {options.labels, "--labels"}, {options.key_labels, "--key-labels"}, {options.places, "--at"}};
  for (const auto& [value, option] : of_pictures)
    if (!value.empty() && options.picture.empty()) request.problem = fmt::format("{}: is for the heat map; --heatmap FILE.png draws it", option);
  if (options.picture.empty() || !request.problem.empty()) return request;
  const std::size_t equals = options.picture.find('=');
  if (equals != std::string::npos) request.output = options.picture.substr(0, equals);
  request.path = equals == std::string::npos ? options.picture : options.picture.substr(equals + 1);
  request.places = options.places;
  if (request.path.empty() || equals == 0) request.problem = fmt::format("--heatmap '{}': is neither FILE.png nor OUTPUT=FILE.png", options.picture);
  const auto read = [&](const char* option, const std::string& file, std::vector<std::string>& labels) {
    if (file.empty() || !request.problem.empty()) return;
    LabelFile found = read_labels(option, file);
    request.problem = found.problem.empty() && found.labels.empty() ? fmt::format("{} '{}': has no labels; each line is one", option, file) : std::move(found.problem);
    labels = std::move(found.labels);
  };
  request.labels_file = options.labels;
  request.key_labels_file = options.key_labels;
  read("--labels", options.labels, request.labels);
  read("--key-labels", options.key_labels, request.key_labels);
  return request;
}

std::string weights_output(const Graph& described) {
  const Graph graph = expanded(described);
  for (const Output& output : graph.outputs())
    for (const int id : softmaxes_of(graph)) {
      const Name keys = std::get<Softmax>(graph.node(id).op).over, queries = queries_of(graph, id, keys);
      const auto size = output.dims.size();
      if (size >= 2 && output.dims[size - 2] == queries && output.dims[size - 1] == keys) return std::string(output.name);
    }
  return {};
}

SoftmaxWeights softmax_weights(const Graph& described, const FileInputs& files) {
  const Graph graph = expanded(described);
  const std::vector<int> all = softmaxes_of(graph);
  if (all.size() != 1)
    return {{}, fmt::format("--heatmap: the graph has {} softmaxes; where there is not one, OUTPUT=FILE.png draws an output", all.empty() ? "no" : std::to_string(all.size()))};
  const InterpretedInputs given = interpreted_inputs(graph, files);
  if (!given.problem.empty()) return {{}, given.problem};
  const Bound bound = bind_extents(graph, given.arrays);
  if (!bound.problem.empty()) return {{}, bound.problem};
  if (std::string problem = memory_problem(graph, {bound.extents.begin(), bound.extents.end()}, 1, "--heatmap"); !problem.empty())
    return {{}, std::move(problem)};
  SoftmaxWeights weights;
  const WalkedGraph walked = walk(graph, given.arrays, 1, [&](const Evaluated& step) {
    const auto* softmax = std::get_if<Softmax>(&step.graph.node(step.node).op);
    if (softmax != nullptr)
      weights.values = as_matrices(step.lanes[0], queries_of(step.graph, step.node, softmax->over), softmax->over, step.extents);
  });
  weights.problem = walked.problem;
  return weights;
}

std::string draw_heat_map(const HeatRequest& request, const std::string& title, const HeatValues& values) {
  const std::size_t rank = values.dims.size();
  if (rank < 2) return fmt::format("--heatmap {}={}: the output is [{}]; the last two dims of one are drawn", request.output, request.path, fmt::join(values.dims, " x "));
  HeatMap map{
      title, values.dims[rank - 2], values.dims[rank - 1], values.extents[rank - 2], values.extents[rank - 1], request.labels, request.key_labels,
      {}};
  if (std::string problem = heat_map_problem(map.rows, map.columns); !problem.empty()) return "--heatmap: " + problem;
  const bool is_square = map.column_labels.empty() && map.rows == map.columns;
  if (is_square) map.column_labels = map.row_labels;
  if (std::string problem = label_problem("--labels", request.labels_file, map.row_labels, map.rows, map.row_name); !problem.empty()) return problem;
  if (std::string problem = label_problem("--key-labels", request.key_labels_file, map.column_labels, map.columns, map.column_name); !problem.empty())
    return problem;
  const HeatPlaces places = places_of(request.places, values);
  if (!places.problem.empty()) return places.problem;
  map.panels = panels_of(values, places.at);
  if (map.panels.size() > most_heat_panels)
    return fmt::format("--heatmap: [{}] is [{}]: more than {} panels; --at {}=0 chooses", fmt::join(values.dims, " x "), fmt::join(values.extents, " x "), most_heat_panels, values.dims[0]);
  const Result<void> drawn = draw(map, request.path, "--heatmap");
  return drawn ? std::string() : drawn.error().message;
}

}  // namespace attune
