#include <fmt/format.h>

#include <memory>

#include "dsl/variants.h"
#include "tools/attune/commands.h"
#include "tools/attune/options.h"

namespace attune {
namespace {

void list_variants() {
  for_each_variant([](const auto& variant) {
    std::string parameters;
    for (const Setting& s : parameters_of(variant)) parameters += (parameters.empty() ? "" : ", ") + s.name + "=" + s.value;
    fmt::print("{:20} {}{}\n", variant.name, variant.meaning, parameters.empty() ? "" : " (" + parameters + ")");
  });
}

void list_ops() {
  [&]<class... Op>(const std::variant<Op...>*) { (fmt::print("{:14} {}\n", Op::name, Op::meaning), ...); }(static_cast<const AnyOp*>(nullptr));
}

void list_schedules() {
  const Machine cpu = machine_of(*find_target("x86-64-v4")), gpu = machine_of(*find_target("cuda"));
  for (const ScheduleInfo& info : all_schedules()) {
    const Machine& machine = info.is_for_gpu ? gpu : cpu;
    const std::string calls = info.made_for ? fmt::format(", for calls of size '{}'", name_of(*info.made_for)) : "";
    fmt::print("{:16} of stages '{}'{}{}\n", info.name, info.stage, info.is_for_gpu ? ", on GPUs" : "", calls);
    for (const Parameter& p : info.parameters(machine, SizeClass::large))
      fmt::print("  {:16} {} of {}\n", p.name, p.value, fmt::join(p.legal, ", "));
  }
}

void list_targets() {
  const TargetInfo* host = find_target("host");
  for (const TargetInfo& target : targets())
    fmt::print("{:10} {}{}\n", target.name, target.note, &target == host ? "; this machine's best" : "");
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
