/// gpu_check: runs what lies beside it (checks.h) on a device, on a machine where nothing is built. Exit status 1 if a value is wrong or a
/// call fails, 2 if it is asked for what there is not; goals that are not met are said, and are no failure.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "codegen/files/whole_file.h"
#include "runtime/library.h"
#include "tools/gpu_check/checks.h"
#include "tools/gpu_check/stream.h"
#include "tools/gpu_check/timing.h"
#include "tools/measure/placed_call.h"
#include "tools/npy.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
constexpr int failed = 1, wrong_input = 2;

struct RunOptions {
  fs::path folder;
  std::string device, only;
  bool is_quick = false;
};

Result<RunOptions> parse(int argc, char** argv) {
  RunOptions options{fs::read_symlink("/proc/self/exe").parent_path(), {}, {}, false};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    std::string* const value = word == "--device" ? &options.device : word == "--only" ? &options.only : nullptr;
    if (word == "--quick")
      options.is_quick = true;
    else if (value == nullptr)
      return Error{fmt::format("'{}': is no option; there are --device NAME, --only NAME and --quick", word)};
    else if (i + 1 == argc || *argv[i + 1] == '\0')
      return Error{fmt::format("{}: needs a name behind it", word)};
    else
      *value = argv[++i];
  }
  return options;
}

/// The kernels to look at: all, or the one of the name and those that its speed is compared with.
Result<std::vector<PackedKernel>> chosen(const Checks& checks, const std::string& only) {
  if (only.empty()) return checks.kernels;
  std::string names;
  for (const PackedKernel& kernel : checks.kernels) names += (names.empty() ? "" : ", ") + kernel.name;
  if (std::ranges::find(checks.kernels, only, &PackedKernel::name) == checks.kernels.end())
    return Error{fmt::format("--only '{}': there is no such kernel; there are {}", only, names)};
  const std::set<std::string> wanted = with_compared({only}, checks.kernels);
  std::vector<PackedKernel> kernels = checks.kernels;
  std::erase_if(kernels, [&](const PackedKernel& kernel) { return !wanted.contains(kernel.name); });
  return kernels;
}

/// The device of the packed target that the option names, or the target's first.
Result<DriverDevice*> device_of(const Checks& checks, const std::string& asked) {
  const std::string name = asked.empty() ? checks.target : asked;
  if (name.substr(0, name.find(':')) != checks.target)
    return Error{fmt::format("--device '{}': the folder holds kernels for {}; expected {}, or as {}:0", name, checks.target, checks.target,
                             checks.target)};
  for (const attune_device kind : {attune_opencl, attune_cuda, attune_vulkan})
    if (name_of(kind) == checks.target) return find_device(kind, which_of(name));
  return Error{fmt::format("'{}': target '{}' is no device's", checks_file, checks.target)};
}

/// The array of a file of the folder, with the elements that the tensor has.
Result<NpyArray> values_of(const fs::path& folder, const std::string& file, const PackedTensor& tensor, std::size_t element_bytes) {
  Result<NpyArray> array = read_npy(folder / file);
  if (!array) return array;
  if (array->shape != tensor.extents || bytes_of(array->type) != element_bytes)
    return Error{fmt::format("file '{}': holds another array than {} says", file, checks_file)};
  return array;
}

/// How the outputs of a packed call compare; each that differs in a sentence.
Result<std::string> differences(const fs::path& folder, const PackedCall& call, const Kernel& kernel) {
  std::vector<StoredArray> arrays;
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    const PackedTensor& tensor = call.tensors[i];
    StoredArray& array = arrays.emplace_back(tensor.storage, tensor.extents);
    std::ranges::fill(array.bytes, unwritten);
    if (tensor.values.empty()) continue;
    Result<NpyArray> values = values_of(folder, tensor.values, tensor, static_cast<std::size_t>(bytes_of(tensor.storage)));
    if (!values) return values.error();
    array.bytes = std::move(values->data);
  }
  const Result<PlacedCall> placed =
      kernel.device()->keeps_tensors() ? PlacedCall::on(*kernel.device(), arrays) : Result<PlacedCall>(PlacedCall(arrays, aligned));
  if (!placed) return placed.error();
  if (const Result<void> called = (*placed)(kernel); !called) return called.error();
  std::string differing;
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    const PackedTensor& tensor = call.tensors[i];
    if (tensor.expected.empty()) continue;
    const Result<NpyArray> values = values_of(folder, tensor.expected, tensor, sizeof(double));
    if (!values) return values.error();
    const auto expected = values->values<double>();
    if (!expected) return Error{fmt::format("file '{}': holds {}; expected f64", tensor.expected, name_of(values->type))};
    const Result<StoredArray> got = placed->fetched(i);
    if (!got) return got.error();
    Array right;
    right.extents = tensor.extents;
    right.data.assign(expected->begin(), expected->end());
    if (const Difference d = compare(numbers(*got), right, tensor.allowed); d.differing > 0)
      differing += fmt::format("{}{}: {}", differing.empty() ? "" : "; ", tensor.name, describe(d));
  }
  return differing;
}

/// A measured row.
struct Timed {
  double seconds = 0, gflops = 0, gbytes = 0;
};

/// What is found, printed as it is found, and results.json, which is written anew behind each finding.
class Findings {
 public:
  Findings(const fs::path& folder, const Checks& checks, const DriverDevice& device, bool is_quick) : file_(folder / "results.json") {
    results_ = {{"device", fmt::format("{} ({})", device.text(), device.name())},
                {"is_quick", is_quick},
                {"left_out", checks.left_out},
                {"values", nlohmann::ordered_json::array()},
                {"rows", nlohmann::ordered_json::array()}};
    fmt::print("{}\n", results_["device"].get<std::string>());
    for (const std::string& sentence : checks.left_out) fmt::print("left out: {}\n", sentence);
  }

  void add_values(const std::string& kernel, std::size_t calls, const std::string& problem) {
    results_["values"].push_back({{"name", kernel}, {"agrees", problem.empty()}, {"problem", problem}});
    fmt::print("{}: {}\n", kernel, problem.empty() ? fmt::format("{} calls agree", calls) : problem);
    are_right_ = are_right_ && problem.empty();
    write();
  }
  void add_row_problem(const std::string& kernel, const std::string& problem) {
    results_["rows"].push_back({{"name", kernel}, {"problem", problem}});
    fmt::print("{}: {}\n", kernel, problem);
    are_right_ = false;
    write();
  }
  void add_row(const std::string& kernel, const PackedRow& row, double seconds) {
    if (timed_.empty()) fmt::print("{:<40} {:>10} {:>10} {:>8}  {}\n", "row", "ms", "GFLOP/s", "GB/s", "goal");
    const Timed timed = timed_[kernel] = {seconds, row.flops / seconds * 1e-9, row.bytes / seconds * 1e-9};
    nlohmann::ordered_json json = {{"name", kernel}, {"milliseconds", seconds * 1e3}, {"gflops", timed.gflops}, {"gbytes", timed.gbytes}};
    fmt::print("{:<40} {:>10.4g} {:>10.4g} {:>8.4g}  {}\n", kernel, seconds * 1e3, timed.gflops, timed.gbytes,
               verdict(row.goal, timed, json));
    results_["rows"].push_back(std::move(json));
    write();
  }

  /// The exit status.
  int end() {
    if (!problem_.empty()) fmt::print(stderr, "gpu_check: {}\n", problem_);
    return are_right_ && problem_.empty() ? 0 : failed;
  }

 private:
  std::string verdict(const Goal& goal, const Timed& timed, nlohmann::ordered_json& json) const {
    if (goal.of.empty()) return {};
    const auto other = timed_.find(goal.of);
    if (goal.of != "gflops" && other == timed_.end()) return fmt::format("not judged: {} was not measured", goal.of);
    const double reached = goal.of == "gflops" ? timed.gflops
                           : goal.of == "fma"  ? timed.gflops / other->second.gflops
                           : goal.of == "copy" ? timed.gbytes / other->second.gbytes
                                               : other->second.seconds / timed.seconds;
    const bool is_met = reached >= goal.least;
    json.update({{"of", goal.of}, {"reached", reached}, {"least", goal.least}, {"is_met", is_met}});
    const std::string of = goal.of == "gflops" ? "GFLOP/s" : "of " + goal.of;
    return fmt::format("{:.4g} {}, at least {:.4g}: {}", reached, of, goal.least, is_met ? "met" : "not met");
  }
  void write() {
    std::fflush(stdout);
    if (std::string problem = write_whole(file_, {results_.dump(1), "\n"}); !problem.empty()) problem_ = std::move(problem);
  }

  fs::path file_;
  nlohmann::ordered_json results_;
  std::map<std::string, Timed, std::less<>> timed_;
  std::string problem_;
  bool are_right_ = true;
};

/// A kernel, which stays open: drivers compile code again for a file that is opened again.
struct Opened {
  const PackedKernel& packed;
  Result<Kernel> kernel;
};

std::vector<Opened> open(const fs::path& folder, const std::vector<PackedKernel>& kernels, const DriverDevice& device) {
  std::vector<Opened> opened;
  for (const PackedKernel& packed : kernels) {
    const Result<Library> library = Library::open(folder / packed.file());
    opened.push_back({packed, library ? library->kernel(packed.name, device.text()) : library.error()});
  }
  return opened;
}

void check_values(const fs::path& folder, const std::vector<Opened>& kernels, Findings& findings) {
  for (const auto& [packed, kernel] : kernels) {
    std::string problem = kernel ? std::string() : kernel.error().message;
    for (const PackedCall& call : packed.checks) {
      if (!problem.empty()) break;
      const Result<std::string> differing = differences(folder, call, *kernel);
      problem = differing ? *differing : differing.error().message;
    }
    findings.add_values(packed.name, packed.checks.size(), problem);
  }
}

/// Of kernels that could be opened; of the others their values' problem says it.
void measure_rows(const std::vector<Opened>& kernels, void* stream, bool is_quick, Findings& findings) {
  for (const auto& [packed, kernel] : kernels) {
    const std::optional<PackedRow>& row = is_quick ? packed.quick : packed.full;
    if (!row || !kernel) continue;
    if (const Result<double> seconds = seconds_of_call(*kernel, row->call, stream))
      findings.add_row(packed.name, *row, *seconds);
    else
      findings.add_row_problem(packed.name, seconds.error().message);
  }
}

int refused(const Error& error) {
  fmt::print(stderr, "gpu_check: {}\n", error.message);
  return wrong_input;
}

int run(int argc, char** argv) {
  const Result<RunOptions> options = parse(argc, argv);
  if (!options) return refused(options.error());
  const Result<Checks> checks = read_checks(options->folder);
  if (!checks) return refused(checks.error());
  const Result<std::vector<PackedKernel>> kernels = chosen(*checks, options->only);
  if (!kernels) return refused(kernels.error());
  const Result<DriverDevice*> device = device_of(*checks, options->device);
  if (!device) return refused(device.error());
  Findings findings(options->folder, *checks, **device, options->is_quick);
  const std::vector<Opened> opened = open(options->folder, *kernels, **device);
  // All values first: the speed of a wrong kernel says nothing.
  check_values(options->folder, opened, findings);
  if ((*device)->keeps_tensors()) {
    const Result<void*> stream = stream_for_calls(**device);
    if (!stream) return refused(stream.error());
    measure_rows(opened, *stream, options->is_quick, findings);
  }
  return findings.end();
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  try {
    return attune::run(argc, argv);
  } catch (const std::exception& error) {
    return attune::refused(attune::Error{fmt::format("internal: {}", error.what())});
  }
}
