#include "tools/tune/builder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "codegen/files/jobs.h"
#include "codegen/files/whole_file.h"
#include "tools/attune/kernel_file.h"
#include "tools/tune/child.h"

namespace attune {
namespace {

/// The records of the choice.
TunedFile tuned_file(const TunePlan& plan, const std::string& target, const Choice& choice, const SizeLimit& limit) {
  TunedFile file;
  file.target = target;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const TuneTask& task = plan.tasks[i];
    const Measured nothing{"none", "none", "none", "none", 1, 1, 1};
    for (const StageKey& key : task.keys)
      insert(file, {task.schedule, task.size, key.stage, key.types, key.extents, task.space.values(choice[i]),
                    limit.small_up_to > 0 && task.size == limit.size ? limit.small_up_to : task.small_up_to, nothing},
             key.body);
  }
  return file;
}

std::vector<std::string> size_argument(SizeClass size) { return {"--size", std::string(name_of(size))}; }

}  // namespace

std::string Builder::prepare() {
  if (!folder_.exists()) return no_scratch_folder(folder_);
  CodesFolder kept = kept_codes();
  if (!kept.problem.empty()) return std::move(kept.problem);
  codes_ = kept.path.empty() ? folder_.file("codes") : kept.path;
  std::error_code error;
  if (kept.path.empty() && !std::filesystem::create_directory(codes_, error)) return cannot_be_written(codes_, error);
  for (const SubjectCalls& one : plan_.subjects) {
    const std::string path = folder_.file("graph" + std::to_string(graphs_.size()) + ".mlir"), &text = one.subject.graph_text;
    graphs_.push_back(text.empty() ? one.subject.graph : std::vector<std::string>{path});
    if (text.empty()) continue;
    if (std::string problem = write_whole(path, {text}); !problem.empty()) return problem;
  }
  return {};
}

Built Builder::compile(std::size_t subject, const Choice& choice, const std::string& name, double limit_s, const SizeLimit& limit) {
  return compiled(std::array{Order{subject, choice, name, limit, {}}}, limit_s).front();
}

Built Builder::compile_for_calls(std::size_t subject, const Choice& choice, const std::string& name, double limit_s) {
  std::set<SizeClass> sizes;
  for (const TuneTask& task : plan_.tasks)
    if (std::ranges::binary_search(plan_.subjects_of(task), subject)) sizes.insert(task.size);
  Order order{subject, choice, name, {}, {}};
  if (sizes.size() == 1) order.more = size_argument(*sizes.begin());
  return compiled(std::span(&order, 1), limit_s).front();
}

std::vector<Built> Builder::built(const std::vector<Wanted>& wanted, double limit_s) {
  std::vector<Order> orders;
  std::vector<Built*> places;
  for (const Wanted& one : wanted) {
    const auto [place, is_fresh] = kernels_.try_emplace(one);
    if (!is_fresh) continue;
    orders.push_back({one.subject, one.choice, std::to_string(++built_), {}, size_argument(one.size)});
    places.push_back(&place->second);
  }
  const auto at_once = static_cast<std::size_t>(jobs_of_this_machine());
  for (std::size_t first = 0; first < orders.size(); first += at_once) {
    const std::vector<Built> made = compiled(std::span(orders).subspan(first, std::min(at_once, orders.size() - first)), limit_s);
    for (std::size_t i = 0; i < made.size(); ++i) *places[first + i] = made[i];
  }
  std::vector<Built> all;
  for (const Wanted& one : wanted) all.push_back(kernels_.at(one));
  return all;
}

void Builder::forget(SizeClass size, const Choice& choice) {
  std::erase_if(kernels_, [&](const auto& kernel) {
    const auto& [wanted, built] = kernel;
    const bool is_forgotten = wanted.size == size && wanted.choice == choice;
    std::error_code ignored;
    if (is_forgotten && !built.path.empty()) std::filesystem::remove_all(std::filesystem::path(built.path).parent_path(), ignored);
    return is_forgotten;
  });
}

std::string Builder::command_of(const Order& order, std::vector<std::string>& arguments) const {
  const std::string folder = folder_.file(order.name);
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return cannot_be_written(folder, error);
  const std::string tuned = folder + "/tuned.json";
  if (std::string problem = write_whole(tuned, {tuned_text(tuned_file(plan_, settings_.target, order.choice, order.limit))}); !problem.empty())
    return problem;
  const TuneSubject& of = plan_.subjects[order.subject].subject;
  arguments = {"compile"};
  arguments.insert(arguments.end(), graphs_[order.subject].begin(), graphs_[order.subject].end());
  arguments.insert(arguments.end(), {"--codes", codes_, "--tuned", tuned});  // tuned: before the user's: of records at the same distance the first is taken
  arguments.insert(arguments.end(), of.compile_arguments.begin(), of.compile_arguments.end());
  arguments.insert(arguments.end(), order.more.begin(), order.more.end());
  arguments.insert(arguments.end(), {"--shared", "--name", of.kernel(), "-o", folder});
  return {};
}

std::vector<Built> Builder::compiled(std::span<const Order> orders, double limit_s) const {
  std::vector<std::vector<std::string>> commands(orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i)
    if (std::string problem = command_of(orders[i], commands[i]); !problem.empty()) return std::vector<Built>(orders.size(), {{}, problem});
  const std::vector<ChildAnswer> answers = run_selves(commands, limit_s);
  std::vector<Built> all;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const std::string sentence = answers[i].text.substr(0, answers[i].text.find('\n'));
    if (answers[i].problem.empty())
      all.push_back({folder_.file(orders[i].name) + "/" + plan_.subjects[orders[i].subject].subject.kernel() + ".so", {}});
    else all.push_back({{}, sentence.starts_with("attune: ") ? sentence.substr(8) : "the compiler " + answers[i].problem});
  }
  return all;
}

}  // namespace attune
