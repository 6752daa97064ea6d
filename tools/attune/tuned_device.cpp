#include "tools/attune/tuned_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "runtime/driver_device.h"
#include "runtime/storage.h"
#include "tools/tune/child.h"

namespace attune {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "unknown";
}

}  // namespace

TunedDevice tuned_device(const TargetInfo& target, const std::string& which) {
  if (target.device == Device::cpu) return {{}, {}, cpu_model(), {}};
  constexpr double limit_s = 60;
  const auto kind = static_cast<attune_device>(target.device);
  const std::string kind_name(name_of(kind)), number = which.starts_with(kind_name + ":") ? which.substr(kind_name.size() + 1) : std::string();
  if (!which.empty() && which != kind_name && number.empty())
    return {{}, {}, {}, fmt::format("--device {}: target '{}' runs on {} and {}:NUMBER", which, target.name, kind_name, kind_name)};
  const ChildAnswer answer = in_child(
      [&] {
        const Result<DriverDevice*> found = find_device(kind, number);
        return found ? fmt::format("{}\n{}\n{}", (*found)->text(), (*found)->capability(), (*found)->name()) : "\n" + found.error().message;
      },
      limit_s);
  const std::size_t end = answer.text.find('\n');
  if (!answer.problem.empty() || end == std::string::npos)
    return {{}, {}, {}, fmt::format("target '{}': its driver {}", target.name, answer.problem)};
  if (end == 0) return {{}, {}, {}, fmt::format("target '{}': this machine cannot run it: {}", target.name, answer.text.substr(1))};
  const std::size_t name = answer.text.find('\n', end + 1) + 1;
  return {answer.text.substr(0, end), answer.text.substr(end + 1, name - end - 2), answer.text.substr(name), {}};
}

}  // namespace attune
