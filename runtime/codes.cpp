#include "runtime/codes.h"

#include <algorithm>
#include <string_view>

#include "runtime/signature.h"
#include "runtime/storage.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// What the machine lacks of the code's features and device, in words; empty if nothing.
std::string lacks(const attune_code_v1& code, const Capabilities& machine) {
  const auto device = static_cast<attune_device>(code.device);
  if (const std::string problem = machine.device_problem(device); !problem.empty()) return words(name_of(device), ": ", problem);
  std::string missing;
  for (std::string_view rest = code.features; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view feature = rest.substr(0, end);
    if (!feature.empty() && !machine.has_feature(feature)) add_to_list(missing, feature, " ");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return missing;
}

bool holds(const attune_condition_v1& condition, std::span<const std::int64_t> extents) {
  const std::int64_t extent = extents[static_cast<std::size_t>(condition.dim)];
  return condition.minimum <= extent && extent <= condition.maximum;
}

bool is_named(std::string_view target, attune_device device, std::string_view name) { return name == target || name == name_of(device); }

}  // namespace

std::vector<const attune_code_v1*> usable_codes(const attune_kernel_v1& kernel, const Capabilities& machine) {
  std::vector<const attune_code_v1*> usable;
  for (const attune_code_v1& code : codes_of(kernel))
    if (lacks(code, machine).empty()) usable.push_back(&code);
  return usable;
}

bool is_for(const attune_code_v1& code, std::string_view name) {
  return is_named(code.target, static_cast<attune_device>(code.device), name);
}

std::vector<KernelTarget> targets_of(const attune_kernel_v1& kernel, const Capabilities& machine) {
  std::vector<KernelTarget> targets;
  for (const attune_code_v1& code : codes_of(kernel))
    if (std::ranges::find(targets, code.target, &KernelTarget::name) == targets.end())
      targets.push_back({code.target, static_cast<attune_device>(code.device), lacks(code, machine)});
  return targets;
}

std::string no_code_for(const attune_kernel_v1& kernel, std::string_view name, const Capabilities& machine) {
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

std::string no_usable_code(const attune_kernel_v1& kernel, const Capabilities& machine) {
  std::string targets;
  for (const KernelTarget& target : targets_of(kernel, machine))
    add_to_list(targets, words(target.name, " (lacking here: ", target.problem, ")"));
  return words(who(kernel), ": this machine can run none of its targets: ", targets, "; compile it for a target of this machine");
}

const attune_code_v1* choose_code(std::span<const attune_code_v1* const> usable, std::span<const std::int64_t> extents) {
  for (const attune_code_v1* code : usable)
    if (std::ranges::all_of(conditions_of(*code), [&](const attune_condition_v1& condition) { return holds(condition, extents); })) return code;
  return nullptr;
}

std::string no_code_for_extents(const attune_kernel_v1& kernel, std::span<const attune_code_v1* const> usable, std::span<const std::int64_t> extents) {
  std::string offers;
  for (const attune_code_v1* code : usable) {
    for (const attune_condition_v1& condition : conditions_of(*code))
      if (const auto dim = static_cast<std::size_t>(condition.dim); !holds(condition, extents))
        add_to_list(offers, words(code->target, " takes ", dims_of(kernel)[dim].name, " from ", condition.minimum, " to ",
                                  condition.maximum, ", got ", extents[dim]));
  }
  return words(who(kernel), ": none of its codes is for these extents: ", offers);
}

}  // namespace attune
