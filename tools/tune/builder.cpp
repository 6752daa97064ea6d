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
    for (const StageKey& key : task.keys)
      insert(file, {task.schedule, task.size, key.stage, key.types, key.extents, task.space.values(choice[i]),
                    limit.small_up_to > 0 && task.size == limit.size ? limit.small_up_to : task.small_up_to, nothing},
             key.body);
  }
  return file;
}

}  // namespace

std::string Builder::prepare() {
  if (!folder_.exists()) return no_scratch_folder(folder_);
  std::error_code error;
  if (!std::filesystem::create_directory(codes_, error)) return cannot_be_written(codes_, error);
  for (const SubjectCalls& one : plan_.subjects) {
    const std::string path = folder_.file("graph" + std::to_string(graphs_.size()) + ".mlir"), &text = one.subject.graph_text;
    graphs_.push_back(text.empty() ? one.subject.graph : std::vector<std::string>{path});
    if (text.empty()) continue;
    if (std::string problem = write_whole(path, {text}); !problem.empty()) return problem;
  }
  return {};
}

Built Builder::compile(std::size_t subject, const Choice& choice, const std::string& name, double limit_s, const SizeLimit& limit) {
  return compile(subject, choice, name, limit_s, limit, {});
}

Built Builder::built(std::size_t subject, SizeClass size, const Choice& choice, double limit_s) {
  const auto [place, is_fresh] = kernels_.try_emplace({size, choice, subject});
  if (is_fresh) place->second = compile(subject, choice, std::to_string(++built_), limit_s, {}, {"--size", std::string(name_of(size))});
  return place->second;
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

Built Builder::compile(std::size_t subject, const Choice& choice, const std::string& name, double limit_s, const SizeLimit& limit, const std::vector<std::string>& more) {
  const std::string folder = folder_.file(name);
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return {{}, cannot_be_written(folder, error)};
  const std::string tuned = folder + "/tuned.json";
  if (std::string problem = write_whole(tuned, {tuned_text(tuned_file(plan_, settings_.target, choice, limit))}); !problem.empty()) return {{}, std::move(problem)};
  const TuneSubject& of = plan_.subjects[subject].subject;
  const std::string& kernel = of.kernel();
  std::vector<std::string> arguments{"compile"};
  arguments.insert(arguments.end(), graphs_[subject].begin(), graphs_[subject].end());
  arguments.insert(arguments.end(), {"--codes", codes_, "--tuned", tuned});  // tuned: before the user's: of records at the same distance the first is taken
  arguments.insert(arguments.end(), of.compile_arguments.begin(), of.compile_arguments.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  for (const char* word : {"--shared", "--name", kernel.c_str(), "-o", folder.c_str()}) arguments.emplace_back(word);
  const ChildAnswer child = run_self(arguments, limit_s);
  if (child.problem.empty()) return {folder + "/" + kernel + ".so", {}};
  const std::string sentence = child.text.substr(0, child.text.find('\n'));
  return {{}, sentence.starts_with("attune: ") ? sentence.substr(8) : "the compiler " + child.problem};
}

}  // namespace attune
