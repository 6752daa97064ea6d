#include "runtime/codes.h"

#include <algorithm>
#include <string_view>

#include "runtime/signature.h"
#include "runtime/storage.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// What the machine lacks of the code's features and device, in words; empty if nothing.
std::string lacks(const attune_code_v3& code, const Capabilities& machine) {
  const auto device = static_cast<attune_device>(code.device);
  if (const std::string problem = machine.device_problem(device); !problem.empty()) return words(name_of(device), ": ", problem);
  std::string missing;
  for (const std::string_view feature : blank_separated(code.features))
    if (!machine.has_feature(feature)) add_to_list(missing, feature, " ");
  return missing;
}

bool holds(const attune_condition_v1& condition, std::span<const std::int64_t> extents) {
  const std::int64_t extent = extents[static_cast<std::size_t>(condition.dim)];
  return condition.minimum <= extent && extent <= condition.maximum;
}

bool is_named(std::string_view target, attune_device device, std::string_view name) {
  if (device != attune_cpu && !which_of(name).empty()) name = name.substr(0, name.find(':'));
  return name == target || name == name_of(device);
}

/// The step's codes for the target, which stand together.
std::span<const attune_code_v3> codes_for(const attune_step_v1& step, std::string_view target) {
  const auto is_its = [&](const attune_code_v3& code) { return code.target == target; };
  const std::span<const attune_code_v3> codes = codes_of(step);
  const auto first = std::ranges::find_if(codes, is_its);
  return {first, std::find_if_not(first, codes.end(), is_its)};
}

}  // namespace

std::vector<UsableTarget> usable_targets(const attune_kernel_v5& kernel, const Capabilities& machine) {
  std::vector<UsableTarget> usable;
  std::vector<KernelTarget> targets = targets_of(kernel, machine);
  std::ranges::stable_partition(targets, [&](const KernelTarget& target) { return is_tuned_for(target.cpus, machine); });
  for (const KernelTarget& target : targets) {
    if (!target.problem.empty()) continue;
    UsableTarget& added = usable.emplace_back(target.name, target.device);
    for (const attune_step_v1& step : steps_of(kernel)) {
      added.codes.push_back(codes_for(step, target.name));
      added.takes_all = added.takes_all && std::ranges::find(added.codes.back(), 0, &attune_code_v3::condition_count) != added.codes.back().end();
    }
  }
  return usable;
}

bool is_for(const UsableTarget& target, std::string_view name) { return is_named(target.name, target.device, name); }

std::vector<KernelTarget> targets_of(const attune_kernel_v5& kernel, const Capabilities& machine) {
  std::vector<KernelTarget> targets;
  for (const attune_step_v1& step : steps_of(kernel))
    for (const attune_code_v3& code : codes_of(step)) {
      auto target = std::ranges::find(targets, code.target, &KernelTarget::name);
      if (target == targets.end()) target = targets.insert(target, {code.target, static_cast<attune_device>(code.device), code.cpus, {}});
      if (target->problem.empty()) target->problem = lacks(code, machine);
    }
  return targets;
}

std::string no_code_for(const attune_kernel_v5& kernel, std::string_view name, const Capabilities& machine) {
  std::string held, usable, lacking;
  for (const KernelTarget& target : targets_of(kernel, machine)) {
    const std::string text = target.device == attune_cpu ? words(target.name, " (cpu)") : std::string(target.name);
    add_to_list(held, text);
    if (target.problem.empty()) add_to_list(usable, text);
    else if (is_named(target.name, target.device, name)) add_to_list(lacking, words(target.name, " (lacking here: ", target.problem, ")"));
  }
  if (lacking.empty()) return words(who(kernel), ": holds no code for '", name, "'; it holds ", held);
  return words(who(kernel), ": this machine cannot run its code for '", name, "': ", lacking, "; of what it holds it runs ",
               usable.empty() ? "nothing" : usable);
}

std::string no_usable_target(const attune_kernel_v5& kernel, const Capabilities& machine) {
  std::string targets;
  for (const KernelTarget& target : targets_of(kernel, machine))
    add_to_list(targets, words(target.name, " (lacking here: ", target.problem, ")"));
  return words(who(kernel), ": this machine can run none of its targets: ", targets, "; compile it for a target of this machine");
}

const attune_code_v3* choose_code(std::span<const attune_code_v3> codes, std::span<const std::int64_t> extents) {
  for (const attune_code_v3& code : codes)
    if (std::ranges::all_of(conditions_of(code), [&](const attune_condition_v1& condition) { return holds(condition, extents); })) return &code;
  return nullptr;
}

const UsableTarget* choose_target(std::span<const UsableTarget> usable, std::span<const std::int64_t> extents) {
  for (const UsableTarget& target : usable)
    if (target.takes_all ||
        std::ranges::all_of(target.codes, [&](std::span<const attune_code_v3> codes) { return choose_code(codes, extents) != nullptr; }))
      return &target;
  return nullptr;
}

Result<void> check_limits(const attune_kernel_v5& kernel, std::span<const UsableTarget> targets, const DriverDevice& device) {
  for (const UsableTarget& target : targets) {
    if (target.device != device.kind()) continue;
    for (std::size_t step = 0; step < target.codes.size(); ++step) {
      const attune_step_v1& stage = steps_of(kernel)[step];
      if (const int tensors = stage.input_count + stage.output_count; tensors > device.most_tensors())
        return Error{words(who(kernel), ": stage ", step + 1, " (", stage.stage, ") for ", target.name, " reads and writes ", tensors, " tensors; kernels on ", device.text(), " (",
                           device.name(), ") take ", device.most_tensors(), "; compile the graph in parts, or for another device")};
      for (const attune_code_v3& code : target.codes[step])
        if (const std::int64_t needed = code.shared_bytes == nullptr ? 0 : code.shared_bytes(); needed > device.shared_bytes())
          return Error{words(who(kernel), ": stage ", step + 1, " (", stage.stage, ") for ", target.name, " needs ", needed,
                             " bytes of memory that a block of threads shares; ", device.text(), " (", device.name(), ") has ", device.shared_bytes(),
                             "; compile the kernel with smaller blocks (--schedule)")};
    }
  }
  return {};
}

std::string no_code_for_extents(const attune_kernel_v5& kernel, std::span<const UsableTarget> usable, std::span<const std::int64_t> extents) {
  std::string offers;
  const auto offer = [&](const attune_code_v3& code) {
    for (const attune_condition_v1& condition : conditions_of(code))
      if (const auto dim = static_cast<std::size_t>(condition.dim); !holds(condition, extents))
        add_to_list(offers, words(code.target, " takes ", dims_of(kernel)[dim].name, " from ", condition.minimum, " to ", condition.maximum, ", got ",
                                  extents[dim]));
  };
  for (const UsableTarget& target : usable)
    for (const std::span<const attune_code_v3> codes : target.codes)
      if (choose_code(codes, extents) == nullptr) std::ranges::for_each(codes, offer);
  return words(who(kernel), ": none of its codes is for these extents: ", offers);
}

}  // namespace attune
