#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>

#include "dsl/interpret.h"
#include "runtime/signature.h"
#include "runtime/threads.h"
#include "tools/attune/commands.h"
#include "tools/attune/converted.h"
#include "tools/attune/file_inputs.h"
#include "tools/attune/heat_maps.h"
#include "tools/attune/kernel_file.h"
#include "tools/attune/summary.h"
#include "tools/attune/trial.h"
#include "tools/measure/stored_array.h"
#include "tools/npy.h"

namespace attune {
namespace {

struct RunOptions : Options {
  std::vector<std::string> inputs, outputs;
  std::string sha256, device;
  HeatOptions heat;
  bool is_interpreted = false;
  int threads = 0;
};

std::string names_of(std::span<const attune_tensor_v1> tensors) {
  std::string names;
  for (const attune_tensor_v1& t : tensors) names += (names.empty() ? "" : ", ") + std::string(t.name);
  return names;
}

/// Writes a result to the file of --out, or says what it holds; the problem in words.
std::string put_result(const std::string& name, const StoredArray& array, const std::map<std::string, std::string>& outputs) {
  const auto place = outputs.find(name);
  if (place == outputs.end()) {
    fmt::print("{}\n", summary(name, array));
    return {};
  }
  const Result<void> written = write_npy(place->second, {npy_type_of(array.storage), array.extents, array.bytes});
  return written ? std::string() : written.error().message;
}

/// Calls a kernel with arrays from files, each of which it lets go as soon as it is converted, unless a heat map is computed of them afterwards.
class FileCall {
 public:
  FileCall(const Kernel& kernel, FileInputs& inputs, const std::map<std::string, std::string>& outputs, const HeatRequest& heat)
      : kernel_(kernel), inputs_(inputs), outputs_(outputs), heat_(heat) {}

  std::string run() {
    if (std::string problem = check_names(); !problem.empty()) return problem;
    if (std::string problem = take_inputs(); !problem.empty()) return problem;
    if (std::string problem = make_outputs(); !problem.empty()) return problem;
    std::vector<Tensor> tensors;
    for (StoredArray& array : arrays_) tensors.push_back(array.tensor());
    if (const Result<void> called = kernel_.call(std::span<const Tensor>(tensors)); !called) return called.error().message;
    return write_outputs();
  }

  /// The output that is drawn, after the call.
  HeatValues drawn_output() const {
    HeatValues drawn;
    for (std::size_t i = 0; i < kernel_.outputs().size(); ++i) {
      const attune_tensor_v1& t = kernel_.outputs()[i];
      if (heat_.output != t.name) continue;
      const StoredArray& array = arrays_[kernel_.inputs().size() + i];
      for (int d = 0; d < t.rank; ++d) drawn.dims.emplace_back(kernel_.dims()[static_cast<std::size_t>(t.dims[d])].name);
      drawn.extents = array.extents;
      drawn.values = numbers(array);
    }
    return drawn;
  }

 private:
  std::string check_names() const {
    if (!heat_.output.empty() && !has(kernel_.outputs(), heat_.output))
      return fmt::format("--heatmap '{}={}': kernel '{}' has no such output; it has {}", heat_.output, heat_.path, kernel_.name(), names_of(kernel_.outputs()));
    for (const attune_tensor_v1& t : kernel_.inputs())
      if (!inputs_.files.contains(t.name)) return fmt::format("--in: '{}' is missing; kernel '{}' has the inputs {}", t.name, kernel_.name(), names_of(kernel_.inputs()));
    for (const auto& [name, files] : inputs_.files)
      if (!has(kernel_.inputs(), name))
        return fmt::format("--in '{}={}': kernel '{}' has no such input; it has {}", name, files[0].path, kernel_.name(), names_of(kernel_.inputs()));
    for (const auto& [name, file] : outputs_)
      if (!is_result(name)) return fmt::format("--out '{}={}': kernel '{}' has no such output; it has {}", name, file, kernel_.name(), result_names());
    return {};
  }
  static bool has(std::span<const attune_tensor_v1> tensors, const std::string& name) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const attune_tensor_v1& t) { return name == t.name; });
  }

  /// Of outputs, and of inputs that the call updates.
  std::vector<std::size_t> results() const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < kernel_.inputs().size() + kernel_.outputs().size(); ++i)
      if (is_written(kernel_.manifest().tensors[i])) numbers.push_back(i);
    return numbers;
  }
  bool is_result(const std::string& name) const {
    return std::ranges::any_of(results(), [&](std::size_t i) { return name == kernel_.manifest().tensors[i].name; });
  }
  std::string result_names() const {
    std::string names;
    for (const std::size_t i : results()) names += (names.empty() ? "" : ", ") + std::string(kernel_.manifest().tensors[i].name);
    return names;
  }

  std::string take_inputs() {
    for (const attune_tensor_v1& t : kernel_.inputs()) {
      auto& [path, array] = inputs_.files.find(t.name)->second[0];
      Converted converted = convert(array, static_cast<attune_storage>(t.storage), fmt::format("input '{}' of kernel '{}'", t.name, kernel_.name()));
      if (!converted.problem.empty()) return fmt::format("'{}': {}", path, converted.problem);
      print_note(path, converted.note);
      if (!heat_.is_asked() || !heat_.output.empty()) array.data = {};
      const std::vector<std::int64_t>& extents = converted.array.extents;
      for (int i = 0; i < t.rank && i < static_cast<int>(extents.size()); ++i) extents_.try_emplace(t.dims[i], extents[static_cast<std::size_t>(i)]);
      arrays_.push_back(std::move(converted.array));
    }
    return {};
  }

  /// The extent of a dim from those of the inputs. A wrong input is found by the call, in its own words.
  std::int64_t extent_of(int dim) const {
    const attune_dim_v1& d = kernel_.dims()[static_cast<std::size_t>(dim)];
    if (d.formula == attune_fixed) return d.value;
    if (d.formula == attune_free) return extents_.contains(dim) ? extents_.at(dim) : 0;
    std::int64_t extent = d.formula == attune_sum ? 0 : d.value;
    for (int i = 0; i < d.operand_count; ++i) {
      const std::int64_t other = extent_of(d.operands[i]);
      bool is_too_large = false;
      if (d.formula == attune_slice) return std::max<std::int64_t>(slice_extent(d, other), 0);
      if (d.formula == attune_quotient) extent = other / d.value;
      else is_too_large = d.formula == attune_sum ? __builtin_add_overflow(extent, other, &extent) : __builtin_mul_overflow(extent, other, &extent);
      if (is_too_large) return std::numeric_limits<std::int64_t>::max();
    }
    return extent;
  }

  std::string make_outputs() {
    for (const attune_tensor_v1& t : kernel_.outputs()) {
      std::vector<std::int64_t> extents;
      double elements = 1;
      for (int i = 0; i < t.rank; ++i) extents.push_back(extent_of(t.dims[i])), elements *= static_cast<double>(extents.back());
      if (elements > static_cast<double>(ATTUNE_MAX_ELEMENTS))
        return fmt::format("--in: output '{}' of kernel '{}' would be [{}]; kernels count up to {} elements", t.name, kernel_.name(), fmt::join(extents, " x "),
                           ATTUNE_MAX_ELEMENTS);
      arrays_.emplace_back(static_cast<attune_storage>(t.storage), extents);
    }
    return {};
  }

  std::string write_outputs() const {
    for (const std::size_t i : results())
      if (std::string problem = put_result(kernel_.manifest().tensors[i].name, arrays_[i], outputs_); !problem.empty()) return problem;
    return {};
  }

  const Kernel& kernel_;
  FileInputs& inputs_;
  const std::map<std::string, std::string>& outputs_;
  const HeatRequest& heat_;
  std::map<int, std::int64_t> extents_;
  std::vector<StoredArray> arrays_;
};

std::string interpret_files(const Graph& graph, const FileInputs& files, const std::map<std::string, std::string>& outputs, const HeatRequest& heat,
                            HeatValues& drawn) {
  const InterpretedInputs given = interpreted_inputs(graph, files);
  if (!given.problem.empty()) return given.problem;
  const Bound bound = bind_extents(graph, given.arrays);
  if (!bound.problem.empty()) return bound.problem;
  const Shape extents(bound.extents.begin(), bound.extents.end());
  if (std::string problem = memory_problem(graph, extents, 1, "--in"); !problem.empty()) return problem;
  const Interpretation result = interpret(graph, given.arrays);
  if (!result.problem.empty()) return result.problem;
  for (const auto& [name, file] : outputs)
    if (!result.outputs.contains(name)) return fmt::format("--out '{}={}': the graph has no such output", name, file);
  if (!heat.output.empty() && !result.outputs.contains(heat.output)) return fmt::format("--heatmap '{}={}': the graph has no such output", heat.output, heat.path);
  for (const auto& [name, output] : result.outputs) {
    if (name == heat.output) drawn = {{output.type.dims.begin(), output.type.dims.end()}, output.extents, output.data};
    if (std::string problem = put_result(name, stored(output.data, output.extents, attune_f64), outputs); !problem.empty()) return problem;
  }
  return {};
}

/// The only kernel of a file that is open. With a sum it must be that file's.
OpenKernel open_file(const std::string& path, const std::string& sha256, const std::string& device) {
  const Result<Library> library = sha256.empty() ? Library::open(path) : Library::open(path, sha256);
  if (!library) return {{}, library.error().message};
  if (library->kernels().size() != 1) return {{}, fmt::format("'{}': holds {} kernels; run takes files of one", path, library->kernels().size())};
  return kernel_of(*library, library->kernels()[0].name(), device);
}

/// What is said of a graph means nothing to a kernel file.
std::string kernel_file_problem(const RunOptions& options) {
  const RunOptions nothing;
  const std::pair<bool, const char*> given[] = {{options.is_interpreted, "--interpret"},
                                                {!options.graph.struct_name.empty(), "--struct"},
                                                {!options.graph.include_folders.empty(), "-I"},
                                                {!options.graph.settings.empty(), "--param"},
                                                {!options.set.empty(), "--set"},
                                                {options.types != nothing.types, "--type"},
                                                {options.targets != nothing.targets, "--target"},
                                                {!options.schedule.empty(), "--schedule"},
                                                {!options.tuned.empty(), "--tuned"}};
  for (const auto& [is_given, option] : given)
    if (is_given) return fmt::format("{}: takes a graph; the kernel file '{}' holds none", option, options.graph.graph);
  return {};
}

/// Draws what was asked for after the call: `drawn`, or where no output has them the weights of the graph's softmax. The problem in words.
std::string draw_weights(const HeatRequest& heat, const std::string& name, const Graph* graph, const FileInputs& files, HeatValues drawn) {
  if (!heat.is_asked()) return {};
  if (heat.output.empty()) {
    SoftmaxWeights weights = softmax_weights(*graph, files);
    if (!weights.problem.empty()) return weights.problem;
    drawn = std::move(weights.values);
  }
  return draw_heat_map(heat, fmt::format("{}: {}", name, heat.output.empty() ? "weights" : heat.output), drawn);
}

int run(const RunOptions& options) {
  std::map<std::string, std::string> inputs, outputs;
  HeatRequest heat = read_heat_request(options.heat);
  if (!heat.problem.empty()) return refuse(heat.problem);
  if (std::string problem = read_pairs(options.inputs, "--in", inputs); !problem.empty()) return refuse(problem);
  if (std::string problem = read_pairs(options.outputs, "--out", outputs); !problem.empty()) return refuse(problem);
  if (std::string problem = shared_file_problem(outputs); !problem.empty()) return refuse(problem);
  if (options.threads != 0)
    if (const Result<void> set = set_num_threads(options.threads); !set) return refuse("--threads: " + set.error().message);
  const bool is_file = std::filesystem::path(options.graph.graph).extension() == ".so";
  if (is_file)
    if (const std::string problem = kernel_file_problem(options); !problem.empty()) return refuse(problem);
  if (!is_file && !options.sha256.empty()) return refuse(fmt::format("--sha256: is for kernel files (.so); '{}' is none", options.graph.graph));
  if (options.is_interpreted && !options.device.empty()) return refuse("--device: is for kernels; --interpret runs none");
  Prepared prepared;
  if (!is_file) prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  if (heat.is_asked() && heat.output.empty()) {
    if (is_file) return refuse(fmt::format("--heatmap {}: the kernel file '{}' holds no graph to compute weights by; OUTPUT=FILE.png draws an output", heat.path, options.graph.graph));
    heat.output = weights_output(prepared.graph.graph);
  }
  const Graph* graph = is_file ? nullptr : &prepared.graph.graph;
  FileInputs files = read_inputs(options.inputs);
  if (!files.problem.empty()) return refuse(files.problem);
  if (options.is_interpreted) {
    HeatValues drawn;
    std::string problem = interpret_files(*graph, files, outputs, heat, drawn);
    if (problem.empty()) problem = draw_weights(heat, prepared.graph.name, graph, files, std::move(drawn));
    return problem.empty() ? 0 : refuse(problem);
  }
  const OpenKernel open = is_file ? open_file(options.graph.graph, options.sha256, options.device)
                                  : open_kernel(prepared, {.device = options.device, .calls = call_of_files(prepared, files)});
  if (!open.problem.empty()) return refuse(open.problem);
  FileCall call(*open.kernel, files, outputs, heat);
  std::string problem = call.run();
  if (problem.empty()) problem = draw_weights(heat, std::string(open.kernel->name()), graph, files, call.drawn_output());
  return problem.empty() ? 0 : refuse(problem);
}

}  // namespace

void add_run(Program& program) {
  auto options = std::make_shared<RunOptions>();
  const Command command = program.command("run", "Call a kernel with arrays from .npy files; GRAPH may be a kernel file (.so) too");
  add_graph_options(command, *options);
  command.texts("--in", options->inputs, "NAME=FILE.npy: an input, converted where no number is lost; bf16 as uint16, or as reals to be rounded");
  command.texts("--out", options->outputs, "NAME=FILE.npy: where an output goes; of others a summary is printed");
  command.text("--sha256", options->sha256, "Of the kernel file, as sha256sum prints it: another file is refused");
  add_device_option(command, options->device);
  command.flag("--interpret", options->is_interpreted, "Interpret the graph in double precision; outputs are f64");
  command.number("--threads", options->threads, 1, 256, "1 to 256; as many as the machine has CPUs without it");
  command.text("--heatmap", options->heat.picture, "FILE.png: draws attention weights; of an output that has them, else computed in double precision; OUTPUT=FILE.png draws the output");
  command.text("--labels", options->heat.labels, "Of the heat map: a text file with a line for each row, and for each column if there are as many");
  command.text("--key-labels", options->heat.key_labels, "Of the heat map: a text file with a line for each column");
  command.text("--at", options->heat.places, "Of the heat map: DIM=INDEX,... of dims beside rows and columns; of others every position is a panel");
  command.footer(
      "Files may be in C or Fortran order, little- or big-endian. Reals are rounded to what the kernel takes, which a note on stderr says;\n"
      "integers must fit, and those of 0 and 1 are booleans too. Reals are never taken for integers, nor booleans for reals.\n"
      "Examples:\n"
      "  attune run causal --in q=q.npy --in k=k.npy --in v=v.npy --out out=out.npy\n"
      "  attune run causal --in q=q.npy --in k=k.npy --in v=v.npy --heatmap weights.png --labels tokens.txt --key-labels key_tokens.txt\n"
      "  attune run kernels/causal.so --in q=q.npy --in k=k.npy --in v=v.npy --out out=out.npy --threads 2");
  command.action([options] { return run(*options); });
}

}  // namespace attune
