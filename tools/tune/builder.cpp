#include "tools/tune/builder.h"

#include <filesystem>

#include "codegen/files/whole_file.h"
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
    insert(file, {task.schedule, task.size, task.key.stage, task.key.types, task.key.extents, task.space.values(choice[i]),
                  limit.small_up_to > 0 && task.size == limit.size ? limit.small_up_to : task.small_up_to, nothing},
           task.key.body);
  }
  return file;
}

}  // namespace

std::string Builder::prepare() {
  if (!folder_.exists()) return no_scratch_folder(folder_);
  std::error_code error;
  if (!std::filesystem::create_directory(codes_, error)) return cannot_be_written(codes_, error);
  if (settings_.graph_text.empty()) return {};
  graph_ = {folder_.file("graph.mlir")};
  return write_whole(graph_[0], {settings_.graph_text});
}

Built Builder::compile(const Choice& choice, const std::string& name, double limit_s, const SizeLimit& limit) {
  return compile(choice, name, limit_s, limit, {});
}

Built Builder::built(SizeClass size, const Choice& choice, double limit_s) {
  const auto [place, is_fresh] = kernels_.try_emplace({size, choice});
  if (is_fresh) place->second = compile(choice, std::to_string(++built_), limit_s, {}, {"--size", std::string(name_of(size))});
  return place->second;
}

void Builder::forget(SizeClass size, const Choice& choice) {
  const auto place = kernels_.find({size, choice});
  if (place == kernels_.end()) return;
  std::error_code ignored;
  if (!place->second.path.empty()) std::filesystem::remove_all(std::filesystem::path(place->second.path).parent_path(), ignored);
  kernels_.erase(place);
}

Built Builder::compile(const Choice& choice, const std::string& name, double limit_s, const SizeLimit& limit, const std::vector<std::string>& more) {
  const std::string folder = folder_.file(name);
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return {{}, cannot_be_written(folder, error)};
  const std::string tuned = folder + "/tuned.json";
  if (std::string problem = write_whole(tuned, {tuned_text(tuned_file(plan_, settings_.target, choice, limit))}); !problem.empty()) return {{}, std::move(problem)};
  std::vector<std::string> arguments{"compile"};
  arguments.insert(arguments.end(), graph_.begin(), graph_.end());
  arguments.insert(arguments.end(), {"--codes", codes_, "--tuned", tuned});  // tuned: before the user's: of records at the same distance the first is taken
  arguments.insert(arguments.end(), settings_.compile_arguments.begin(), settings_.compile_arguments.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  for (const char* word : {"--shared", "--name", settings_.kernel.c_str(), "-o", folder.c_str()}) arguments.emplace_back(word);
  const ChildAnswer child = run_self(arguments, limit_s);
  if (child.problem.empty()) return {folder + "/" + settings_.kernel + ".so", {}};
  const std::string sentence = child.text.substr(0, child.text.find('\n'));
  return {{}, sentence.starts_with("attune: ") ? sentence.substr(8) : "the compiler " + child.problem};
}

}  // namespace attune
