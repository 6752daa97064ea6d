#include "tools/gpu_check/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/storage.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity: null stands for it.
double number_of(const Json& json) { return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>(); }

attune_storage storage_named(const std::string& name) {
  const auto found = std::ranges::find(storage_table, name, &StorageInfo::name);
  if (found == storage_table.end()) throw std::invalid_argument("storage '" + name + "' does not exist");
  return static_cast<attune_storage>(found - storage_table.begin());
}

Json json_of(const Allowance& allowed) {
  Json json = {{"number", allowed.number}, {"share", allowed.share}, {"unsettled", Json::array()}};
  for (const auto& [element, number] : allowed.unsettled) json["unsettled"].push_back({element, number});
  return json;
}
Allowance allowance_of(const Json& json, attune_storage storage) {
  Allowance allowed{json.at("number"), json.at("share"), {}};
  if (is_real(storage)) allowed.greatest = info_of(storage).greatest;
  for (const Json& one : json.at("unsettled")) allowed.unsettled.emplace(one.at(0).get<std::size_t>(), number_of(one.at(1)));
  return allowed;
}

Json json_of(const PackedCall& call) {
  Json json = {{"inputs", call.input_count}, {"tensors", Json::array()}};
  for (const PackedTensor& tensor : call.tensors) {
    Json& added =
        json["tensors"].emplace_back(Json{{"name", tensor.name}, {"storage", name_of(tensor.storage)}, {"extents", tensor.extents}});
    if (!tensor.values.empty()) added["values"] = tensor.values;
    if (tensor.expected.empty()) continue;
    added["expected"] = tensor.expected;
    added["allowed"] = json_of(tensor.allowed);
  }
  return json;
}
PackedCall call_of(const Json& json) {
  PackedCall call;
  call.input_count = json.at("inputs");
  for (const Json& tensor : json.at("tensors")) {
    PackedTensor& added = call.tensors.emplace_back(PackedTensor{
        tensor.at("name"), storage_named(tensor.at("storage")), tensor.at("extents"), tensor.value("values", ""), tensor.value("expected", ""), {}});
    if (tensor.contains("allowed")) added.allowed = allowance_of(tensor.at("allowed"), added.storage);
  }
  return call;
}

Json json_of(const PackedRow& row) {
  Json json = {{"call", json_of(row.call)}, {"flops", row.flops}, {"bytes", row.bytes}};
  if (!row.goal.of.empty()) json["goal"] = {{"of", row.goal.of}, {"least", row.goal.least}};
  return json;
}
PackedRow row_of(const Json& json) {
  PackedRow row{call_of(json.at("call")), json.at("flops"), json.at("bytes"), {}};
  if (json.contains("goal")) row.goal = {json.at("goal").at("of"), json.at("goal").at("least")};
  return row;
}

Json json_of(const PackedKernel& kernel) {
  Json json = {{"name", kernel.name},
               {"variant", kernel.variant},
               {"parameters", kernel.parameters},
               {"type", kernel.type},
               {"checks", Json::array()}};
  for (const PackedCall& call : kernel.checks) json["checks"].push_back(json_of(call));
  if (kernel.full && kernel.quick) json.update({{"full", json_of(*kernel.full)}, {"quick", json_of(*kernel.quick)}});
  return json;
}
PackedKernel kernel_of(const Json& json) {
  PackedKernel kernel{json.at("name"), json.at("variant"), json.at("parameters"), json.at("type"), {}, {}, {}};
  for (const Json& call : json.at("checks")) kernel.checks.push_back(call_of(call));
  if (!json.contains("full")) return kernel;
  kernel.full = row_of(json.at("full"));
  kernel.quick = row_of(json.at("quick"));
  return kernel;
}

}  // namespace

std::string text_of(const Checks& checks) {
  Json json = {{"target", checks.target}, {"left_out", checks.left_out}, {"kernels", Json::array()}};
  for (const PackedKernel& kernel : checks.kernels) json["kernels"].push_back(json_of(kernel));
  return json.dump(1) + "\n";
}

Result<Checks> read_checks(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / checks_file;
  std::ifstream file(path);
  if (!file) return Error{fmt::format("'{}': cannot be read; scripts/gpu-check pack makes a folder with it", path.string())};
  try {
    const Json json = Json::parse(file);
    Checks checks{json.at("target"), {}, json.at("left_out")};
    for (const Json& kernel : json.at("kernels")) checks.kernels.push_back(kernel_of(kernel));
    return checks;
  } catch (const std::exception& error) {
    return Error{fmt::format("'{}': is no list of checks: {}; scripts/gpu-check pack writes one", path.string(), error.what())};
  }
}

}  // namespace attune
