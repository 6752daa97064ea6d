#include "tools/attune/trial.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "runtime/signature.h"

namespace attune {
namespace {

/// The most that an interpretation keeps at a time: each value until its last reader.
double interpreted_bytes(const Graph& graph, const std::function<double(const Names&)>& bytes_of) {
  std::vector<std::size_t> last_reader(graph.nodes().size());
  for (std::size_t id = 0; id < last_reader.size(); ++id)
    for (const int operand : graph.node(static_cast<int>(id)).operands()) last_reader[static_cast<std::size_t>(operand)] = id;
  for (const Output& output : graph.outputs()) last_reader[static_cast<std::size_t>(output.node)] = last_reader.size();
  double live = 0, most = 0;
  for (std::size_t id = 0; id < last_reader.size(); ++id) {
    live += bytes_of(graph.node(static_cast<int>(id)).type.dims);
    most = std::max(most, live);
    for (std::size_t before = 0; before <= id; ++before)
      if (last_reader[before] == id) live -= bytes_of(graph.node(static_cast<int>(before)).type.dims);
  }
  return most;
}

}  // namespace

std::vector<std::int64_t> extents_of(const Kernel& kernel, const attune_tensor_v1& tensor, const Shape& extents) {
  std::vector<std::int64_t> shape;
  for (int i = 0; i < tensor.rank; ++i) shape.push_back(extents.at(kernel.dims()[static_cast<std::size_t>(tensor.dims[i])].name));
  return shape;
}

Trial trial_of(const Kernel& kernel, const Shape& extents, const Arrays& inputs) {
  Trial trial;
  trial.extents = extents;
  const auto add = [&](const attune_tensor_v1& tensor, const std::vector<double>* values) {
    const std::vector<std::int64_t> shape = extents_of(kernel, tensor, extents);
    const auto storage = static_cast<attune_storage>(tensor.storage);
    trial.names_.emplace_back(tensor.name);
    trial.arrays.push_back(values != nullptr ? stored(*values, shape, storage) : StoredArray(storage, shape));
  };
  for (const attune_tensor_v1& tensor : kernel.inputs()) add(tensor, &inputs.at(tensor.name).data);
  trial.input_count = trial.arrays.size();
  for (const attune_tensor_v1& tensor : kernel.outputs()) add(tensor, nullptr);
  for (std::size_t i = 0; i < trial.arrays.size(); ++i) {
    if (!is_written(kernel.manifest().tensors[i])) continue;
    trial.results.push_back(i);
    if (i < trial.input_count) trial.updated_.push_back(trial.arrays[i]);
  }
  trial.fill_outputs(unwritten);
  return trial;
}

void Trial::fill_outputs(std::byte pattern) {
  for (std::size_t i = input_count; i < arrays.size(); ++i) std::ranges::fill(arrays[i].bytes, pattern);
  for (std::size_t i = 0; i < updated_.size(); ++i) std::ranges::copy(updated_[i].bytes, arrays[results[i]].bytes.begin());
}

std::string memory_problem(const Graph& graph, const Shape& extents, int interpretations, std::string_view option) {
  const auto bytes_of = [&](const Names& dims) {
    double bytes = sizeof(double);
    for (const Name dim : dims)
      if (const auto extent = extents.find(dim); extent != extents.end()) bytes *= static_cast<double>(extent->second);
    return bytes;
  };
  double needed = interpretations > 0 ? interpretations * interpreted_bytes(expanded(graph), bytes_of) : 0;
  for (const Node& node : graph.nodes())
    if (std::holds_alternative<Input>(node.op)) needed += bytes_of(node.type.dims);
  for (const Output& output : graph.outputs()) needed += bytes_of(output.dims);
  const double present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed < present) return {};
  return fmt::format("{}: {} {:.3g} GB; this machine has {:.3g} GB", option, interpretations > 0 ? "the interpreter would take" : "inputs and outputs would take",
                     needed * 1e-9, present * 1e-9);
}

Result<void> Trial::call(const Kernel& kernel, Workspace* workspace) {
  std::vector<Tensor> tensors;
  for (StoredArray& array : arrays) tensors.push_back(array.tensor());
  return kernel.call(std::span<const Tensor>(tensors), workspace);
}

Judge Trial::judged(const Graph& graph) const {
  Arrays inputs;
  Storages storages;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    storages.emplace(names_[i], arrays[i].storage);
    if (i >= input_count) continue;
    const auto result = std::ranges::find(results, i);
    const StoredArray& given = result == results.end() ? arrays[i] : updated_[static_cast<std::size_t>(result - results.begin())];
    Array array;
    array.extents = given.extents;
    array.data = numbers(given);
    inputs.emplace(names_[i], std::move(array));
  }
  return judge(graph, inputs, storages, products);
}

TrialVerdict Trial::compare_with_interpreter(const Graph& graph) const {
  const Judge right = judged(graph);
  if (!right.problem.empty()) return {false, {}, right.problem};
  TrialVerdict verdict{true, {}, {}};
  for (const std::size_t i : results) {
    const Difference d = compare(numbers(arrays[i]), right.outputs.find(names_[i])->second, right.allowed.find(names_[i])->second);
    verdict.agrees &= d.differing == 0;
    verdict.text += fmt::format("{}{}: {}", verdict.text.empty() ? "" : "; ", names_[i], describe(d));
  }
  return verdict;
}

}  // namespace attune
