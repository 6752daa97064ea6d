#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/attune/commands.h"
#include "tools/attune/file_inputs.h"
#include "tools/attune/json_text.h"
#include "tools/attune/masked_call.h"
#include "tools/attune/stored_scores.h"
#include "tools/attune/work.h"

namespace attune {
namespace {

struct ExplainOptions : Options {
  std::string shape;
  std::vector<std::string> inputs;
  bool is_json = false;
};

/// What --shape adds: extents, and the work of a call.
struct Call {
  Shape extents;
  Work work;
};

using Json = nlohmann::ordered_json;

std::string limits_text(const std::vector<ExtentLimit>& limits) {
  std::string text;
  for (const ExtentLimit& limit : limits) {
    text += text.empty() ? "" : " and ";
    if (limit.smallest > 0) text += fmt::format("{} >= {}", limit.dim, limit.smallest);
    else text += fmt::format("{} <= {}", limit.dim, limit.largest);
  }
  return text;
}

std::string schedule_text(const StepSchedule& schedule) {
  std::string text = schedule.name;
  for (const Parameter& p : schedule.parameters) text += fmt::format("{} {}={}", text == schedule.name ? ":" : ",", p.name, p.value);
  return fmt::format("{} ({}, {})", text, schedule.origin, schedule.file);
}

/// Which calls take the schedule.
std::string calls_text(const SizeRule& sizes, const SizeRule::Entry& entry) {
  if (sizes.entries.size() == 1) return "all calls";
  return entry.limits.empty() ? "all others" : "calls with " + limits_text(entry.limits);
}

void print_stage(const KernelReport& report, std::size_t number, const Call* call) {
  const StageReport& stage = report.stages[number];
  fmt::print("\n  stage {} of {}: {}\n", number + 1, report.stages.size(), stage.kind);
  fmt::print("    reads     {}\n", fmt::join(stage.reads, ", "));
  for (const ResultReport& result : stage.writes) fmt::print("    stores    {} [{}]\n", result.name, fmt::join(result.dims, " x "));
  if (!stage.operations.empty()) fmt::print("    computes  {}\n", fmt::join(stage.operations, ", "));
  fmt::print("    because   {}\n", stage.reason);
  if (stage.walk) fmt::print("    keeps     tiles of scores alone, never all of them\n");
  if (stage.code != number) fmt::print("    code      that of stage {}\n", stage.code + 1);
  for (const SizeRule::Entry& entry : stage.sizes.entries) {
    const bool is_taken = call != nullptr && call->work.sizes[number] == entry.size;
    fmt::print("    {:9} {}\n              for {}{}\n", name_of(entry.size), schedule_text(stage.schedules.at(entry.size)),
               calls_text(stage.sizes, entry), is_taken ? ", this one among them" : "");
    for (const StepSchedule& beside : stage.schedules.at(entry.size).beside)
      fmt::print("              on {}: {}\n", beside.devices, schedule_text(beside));
    if (const std::string& declined = stage.schedules.at(entry.size).declined; !declined.empty()) fmt::print("              since {}\n", declined);
  }
}

/// "5 of 10 visible (50.0 %)"; with "about" and the most that it may be wrong where not all was looked at.
std::string portion_text(const Portion& portion, const char* what) {
  const std::string doubt = portion.doubt == 0 ? ""
                                               : fmt::format(", give or take {:.2g} % at most",
                                                             100 * static_cast<double>(portion.doubt) / static_cast<double>(portion.whole));
  return fmt::format("{}{} of {} {} ({:.1f} %{})", portion.doubt == 0 ? "" : "about ", portion.part, portion.whole, what, 100 * portion.share(),
                     doubt);
}

void print_call(const Prepared& prepared, const Call& call) {
  const Work& work = call.work;
  fmt::print("\n{}\n", shape_text(prepared.graph.graph, call.extents));
  for (const VisiblePairs& visible : work.pairs)
    fmt::print("  pairs       {}\n", portion_text(visible.pairs, "visible"));
  if (work.all_blocks().whole > 0) fmt::print("  blocks      {}\n", portion_text(work.all_blocks(), "visited"));
  if (work.is_sparse)
    fmt::print("  note        masks leave out few whole blocks, and most pairs of those that are visited are hidden, as where every n-th key is\n"
               "              visible; docs/examples.md, 'Strided windows', shows a form that visits fewer\n");
  if (work.flops > 0) fmt::print("  arithmetic  {:.4g} GFLOP of visible pairs\n", work.flops * 1e-9);
}

/// What decides first: the stages that store a value for each pair of a query and a key, and what to write instead where that helps.
void print_stored(const KernelReport& report, const Call* call) {
  bool has_part = false;
  const std::vector<StoredScores> all = stored_scores(report);
  for (const StoredScores& stored : all) {
    const StageReport& stage = report.stages[stored.stage];
    const std::string size = call == nullptr ? "" : fmt::format(", {:.4g} MB", stored_bytes(stage, extents_in(report, call->extents)) * 1e-6);
    fmt::print("  Stores {} x {}{}: stage {} of {}, {}: {}\n", stored.queries, stored.keys, size, stored.stage + 1, report.stages.size(), stage.kind, stage.reason);
    has_part = has_part || stored.is_part;
  }
  if (has_part) fmt::print("  Instead: concat k and v, not scores; one product of the queries and all keys is computed in tiles.\n");
}

/// Which stages are called block by block, and what that is good for.
void print_sweeps(const KernelReport& report) {
  for (const Sweep& sweep : report.sweeps) {
    std::vector<std::string> dims;
    std::string band;
    for (const SweptDim& dim : sweep.dims)
      if (dim.band) band = fmt::format(" And no longer than the {} that the mask shows to it.", dim.whole);
      else dims.push_back(dim.whole);
    fmt::print("  Sweeps stages {} to {} over blocks of {}: what they store for one another is as long as a block.{}\n", sweep.first + 1, sweep.first + sweep.count,
               fmt::join(dims, ", "), band);
  }
}

Json json_of(const Sweep& sweep) {
  Json json = {{"first_stage", sweep.first}, {"stages", sweep.count}, {"dims", Json::array()}};
  for (const SweptDim& dim : sweep.dims)
    if (dim.band) json["band"] = dim.whole;
    else json["dims"].push_back(dim.whole);
  return json;
}

void explain_in_text(const Prepared& prepared, const std::string& types, const KernelReport& report, const Call* call) {
  const std::string& parameters = prepared.graph.parameters;
  fmt::print("{}{} for {}, {}\n", prepared.graph.name, parameters.empty() ? "" : " (" + parameters + ")", prepared.targets[0]->name, types);
  print_stored(report, call);
  print_sweeps(report);
  for (std::size_t i = 0; i < report.stages.size(); ++i) print_stage(report, i, call);
  if (call != nullptr) print_call(prepared, *call);
}

Json json_of(const StepSchedule& schedule) {
  Json parameters = Json::object();
  for (const Parameter& p : schedule.parameters) parameters[p.name] = p.value;
  Json json = {{"schedule", schedule.name}, {"parameters", parameters}, {"origin", schedule.origin}, {"file", schedule.file}};
  for (const StepSchedule& beside : schedule.beside) json["on"][beside.devices] = json_of(beside);
  return json;
}
Json json_of(const StepSchedule& schedule, const std::vector<ExtentLimit>& limits) {
  Json json = json_of(schedule);
  json["if"] = limits_text(limits);
  return json;
}

Json lines_of(const std::string& text) {
  Json lines = Json::array();
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Json json_of(const Portion& portion, const char* part) { return {{part, portion.part}, {"all", portion.whole}, {"doubt", portion.doubt}}; }

Json json_of(const Call& call) {
  Json shape = Json::object();
  for (const auto& [dim, extent] : call.extents) shape[dim] = extent;
  Json pairs = Json::array();
  for (const VisiblePairs& visible : call.work.pairs) pairs.push_back(json_of(visible.pairs, "visible"));
  return {{"shape", shape},
          {"flops", call.work.flops},
          {"pairs", pairs},
          {"visited_blocks", call.work.all_blocks().part},
          {"all_blocks", call.work.all_blocks().whole},
          {"blocks_doubt", call.work.all_blocks().doubt},
          {"is_sparse", call.work.is_sparse}};
}

void explain_in_json(const Prepared& prepared, const std::string& types, const KernelReport& report, const Call* call) {
  Json stages = Json::array();
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    const StageReport& stage = report.stages[i];
    Json writes = Json::array();
    for (const ResultReport& result : stage.writes) writes.push_back({{"name", result.name}, {"dims", result.dims}});
    Json one = {{"kind", stage.kind}, {"reason", stage.reason},         {"reads", stage.reads},
                {"writes", writes},   {"operations", stage.operations}, {"code", stage.code}};
    one["key"] = stage.key.stage;
    one["types"] = stage.key.types;
    one["body"] = lines_of(stage.key.body);
    one["schedules"] = Json::object();
    for (const SizeRule::Entry& entry : stage.sizes.entries)
      one["schedules"][std::string(name_of(entry.size))] = json_of(stage.schedules.at(entry.size), entry.limits);
    one["size"] = call != nullptr ? Json(name_of(call->work.sizes[i])) : Json();
    one["blocks"] = call != nullptr && call->work.blocks[i] ? json_of(*call->work.blocks[i], "visited") : Json();
    stages.push_back(std::move(one));
  }
  Json stored = Json::array();
  for (const StoredScores& scores : stored_scores(report)) {
    const StageReport& stage = report.stages[scores.stage];
    stored.push_back({{"stage", scores.stage}, {"dims", {scores.queries, scores.keys}}, {"is_part", scores.is_part},
                      {"bytes", call != nullptr ? Json(stored_bytes(stage, extents_in(report, call->extents))) : Json()}});
  }
  Json sweeps = Json::array();
  for (const Sweep& sweep : report.sweeps) sweeps.push_back(json_of(sweep));
  const Json root = {{"variant", prepared.graph.name},
                     {"parameters", prepared.graph.parameters},
                     {"target", prepared.targets[0]->name},
                     {"type", types},
                     {"stored_scores", stored},
                     {"sweeps", sweeps},
                     {"stages", stages},
                     {"call", call != nullptr ? json_of(*call) : Json()}};
  fmt::print("{}\n", text_of_json(root));
}

int explain(const ExplainOptions& options) {
  if (options.shape.empty() && !options.inputs.empty()) return refuse("--in: explain looks at inputs of a call; --shape says its extents");
  const FileInputs given = read_inputs(options.inputs);
  if (!given.problem.empty()) return refuse(given.problem);
  const Prepared prepared = prepare(options);
  if (!prepared.problem.empty()) return refuse(prepared.problem);
  if (prepared.targets.size() > 1) return refuse(fmt::format("--target {}: explain takes one target", options.targets));
  const KernelReport report = report_kernel(prepared, *prepared.targets[0]);
  if (!report.problem.empty()) return refuse(report.problem);
  Call call;
  if (!options.shape.empty()) {
    const MaskedCall masked = masked_call(prepared, report, options.shape, given);
    if (!masked.problem.empty()) return refuse(masked.problem);
    call = {masked.extents, work_of(report, masked.extents, masked.inputs)};
  }
  const auto explain_in = options.is_json ? explain_in_json : explain_in_text;
  explain_in(prepared, options.types, report, options.shape.empty() ? nullptr : &call);
  return 0;
}

}  // namespace

void add_explain(Program& program) {
  auto options = std::make_shared<ExplainOptions>();
  const Command command = program.command("explain", "Say what a kernel is made of: stages, why, schedules, blocks visited of how many");
  add_graph_options(command, *options);
  command.text("--shape", options->shape, "DIM=EXTENT,...: also what a call of these extents does; masks that read inputs see random ones");
  command.texts("--in", options->inputs, "NAME=FILE.npy: an input of the call, as the ids that a mask depends on; others are random");
  command.flag("--json", options->is_json, "Print one JSON object");
  command.footer(
      "A block is query_tile x edge_tile of the schedule's tiles; a larger one counts as those in it. Of very long sequences what masks let\n"
      "through is counted in part, and the most that the answer may be wrong is said.\n"
      "Examples:\n"
      "  attune explain multi_head --param weights=true\n"
      "  attune explain sliding_window --param window=512 --shape batch=1,heads=8,queries=4096,keys=4096,depth=64\n"
      "  attune explain causal --target x86-64-v3 --json");
  command.action([options] { return explain(*options); });
}

}  // namespace attune
