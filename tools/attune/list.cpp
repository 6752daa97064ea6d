#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "dsl/parameters.h"
#include "dsl/variants.h"
#include "runtime/cpu.h"
#include "tools/attune/commands.h"
#include "tools/attune/options.h"
#include "tools/measure/caches.h"

namespace attune {
namespace {

void print_variant(std::string_view name, std::string_view meaning, const std::vector<Setting>& settings) {
  std::string parameters;
  for (const Setting& s : settings) parameters += (parameters.empty() ? "" : ", ") + s.name + "=" + s.value;
  fmt::print("{:20} {}{}\n", name, meaning, parameters.empty() ? "" : " (" + parameters + ")");
}

void list_variants() {
  for_each_variant([](const auto& variant) { print_variant(variant.name, variant.meaning, parameters_of(variant)); });
}

void list_ops() {
  [&]<class... Op>(const std::variant<Op...>*) { (fmt::print("{:14} {}\n", Op::name, Op::meaning), ...); }(static_cast<const AnyOp*>(nullptr));
}

/// The target whose parameters are printed: of those that a schedule is for a common one, or the first.
const TargetInfo& target_of(const ScheduleInfo& schedule) {
  const auto takes = [&](const TargetInfo& target) { return schedule.is_for(machine_of(target)); };
  for (const char* common : {"x86-64-v4", "cuda"})
    if (takes(*find_target(common))) return *find_target(common);
  return *std::ranges::find_if(targets(), takes);
}

void list_schedules() {
  for (const ScheduleInfo& info : all_schedules()) {
    const TargetInfo& target = target_of(info);
    const Machine machine = machine_of(target);
    const std::string calls = info.made_for ? fmt::format(", for calls of size '{}'", name_of(*info.made_for)) : "";
    fmt::print("{:16} of stages '{}'{}{}{}\n", info.name, info.stage, info.is_for_gpu ? ", on GPUs" : info.needs ? fmt::format(", on {}", target.name) : "",
               info.some_devices.empty() ? "" : fmt::format(" of {}", info.some_devices), calls);
    for (const Parameter& p : info.parameters(machine, SizeClass::large))
      fmt::print("  {:16} {} of {}\n", p.name, p.value, fmt::join(p.legal, ", "));
  }
}

/// What the row is on this machine, to stand after its note.
std::string standing_here(const TargetInfo& target) {
  const bool is_tuned = is_tuned_for_this_cpu(target);
  if (&target == find_target("host")) return is_tuned ? "; this machine's best: it runs here, and its defaults are for this kind of CPU" : "; this machine's best: no row is for this kind of CPU, and of those that run here it is the first";
  if (target.device != Device::cpu || !opens_here(target)) return {};
  if (const std::string lacking = lacking_features(target); !lacking.empty()) return "; lacking here: " + lacking;
  return is_tuned || target.cpus.empty() ? "; runs here" : fmt::format("; runs here, with defaults for {}", target.cpus);
}

void list_targets() {
  for (const TargetInfo& target : targets()) fmt::print("{:14} {}{}\n", target.name, target.note, standing_here(target));
  constexpr std::int64_t kb = 1024;
  const Caches caches = caches_of_this_cpu();
  const std::string kind = kind_of_cpu();
  fmt::print("This CPU: {}; data caches of {} kB, {} kB and {} kB as one core sees them\n", kind.empty() ? "of no vendor that targets name" : kind, caches.l1 / kb, caches.l2 / kb, caches.l3 / kb);
}

int list(const std::string& what) {
  if (what == "variants") list_variants();
  else if (what == "ops") list_ops();
  else if (what == "schedules") list_schedules();
  else if (what == "targets") list_targets();
  else return refuse(fmt::format("list '{}': there is nothing of that name; variants, ops, schedules and targets are listed", what));
  return 0;
}

}  // namespace

void add_list(Program& program) {
  auto what = std::make_shared<std::string>("variants");
  const Command command = program.command("list", "What there is: variants, ops, schedules or targets");
  command.text("WHAT", *what, "variants, ops, schedules or targets");
  command.footer(
      "Examples:\n"
      "  attune list variants\n"
      "  attune list targets");
  command.action([what] { return list(*what); });
}

}  // namespace attune
