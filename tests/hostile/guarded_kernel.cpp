#include "tests/hostile/guarded_kernel.h"

#include <dlfcn.h>

#include <stdexcept>

#include "runtime/context.h"
#include "runtime/words.h"
#include "tests/folder.h"
#include "tools/attune/kernel_file.h"

namespace attune {
namespace {

/// Those of a shape's dims that the graph has and that follow from no others.
Shape fitting(const std::string& shape, const Graph& graph) {
  Shape result;
  for (const auto& [dim, extent] : parse_shape(shape, "shape").extents)
    for (const DimInfo& info : graph.dim_infos())
      if (info.name() == dim && info.derivation.formula == Formula::free) result[dim] = extent;
  return result;
}

}  // namespace

GuardedKernel::GuardedKernel(const GuardedChoice& choice) {
  name_ = words(choice.variant, " for ", choice.target, " in ", choice.types);
  for (const std::string& setting : choice.settings) name_ += " " + setting;
  Options options;
  options.graph = {choice.variant, {}, choice.settings};
  options.targets = choice.target;
  options.types = choice.types;
  prepared_ = prepare(options);
  if (!prepared_.problem.empty()) throw std::runtime_error(prepared_.problem);
  const Folder folder;
  const WrittenKernel file = compile_kernel(prepared_, {.directory = (folder / ".").string(), .files = KernelFiles::shared});
  if (!file.problem.empty()) throw std::runtime_error(file.problem);
  // Not by the runtime: the hooks, which it keeps for itself, are wanted here.
  handle_ = dlopen(file.files.back().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
  table_ = static_cast<const attune_library_v1*>(dlsym(handle_, "attune_library_v1"));
  if (table_ == nullptr || table_->kernel_count != 1) throw std::runtime_error(words(name_, ": its file has no table of one kernel"));
}

GuardedKernel::~GuardedKernel() { dlclose(handle_); }

Found GuardedKernel::call(const std::vector<std::string>& shapes) const {
  return watched([&] {
    Found all;
    std::uint64_t seed = 1;
    for (const std::string& shape : shapes) {
      const Found found = call_with(shape, seed++);
      all.count += found.count;
      if (!found.problem.empty()) return Found{all.count, words(name_, ": ", found.problem, "; seed ", seed - 1)};
    }
    return all;
  });
}

Found GuardedKernel::call_with(const std::string& shape, std::uint64_t seed) const {
  const Graph& graph = prepared_.graph.graph;
  const FilledShape filled = fill_shape(graph, fitting(shape, graph));
  if (!filled.problem.empty()) return {0, filled.problem};
  const ScratchSwitch scratch{[&] { guard_scratch(table_->hooks); }, [&] { take_over(table_->hooks); }};
  scratch.unguard();  // the pool and the error handler are the runtime's; memory is not
  scratch.guard();
  const Result<Kernel> kernel = Kernel::from(*table_->kernels[0]);
  if (!kernel) return {0, kernel.error().message};
  return call_in_every_placement(*kernel, &graph, filled.extents, random_inputs(graph, filled.extents, seed), scratch);
}

}  // namespace attune
