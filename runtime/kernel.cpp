#include "runtime/kernel.h"

#include <algorithm>
#include <vector>

#include "runtime/arguments.h"
#include "runtime/codes.h"
#include "runtime/device_hooks.h"
#include "runtime/kernel_file.h"
#include "runtime/run.h"
#include "runtime/signature.h"
#include "runtime/stored.h"
#include "runtime/sweeps.h"
#include "runtime/words.h"

namespace attune {
namespace {

std::string tensor_names(const attune_kernel_v5& kernel) {
  std::string names;
  for (const attune_tensor_v1& tensor : tensors_of(kernel)) add_to_list(names, tensor.name);
  return names;
}

/// All that the call would write is empty.
bool has_no_result(const attune_kernel_v5& kernel, std::span<const Tensor* const> tensors) {
  for (std::size_t t = 0; t < tensors.size(); ++t)
    if (is_written(tensors_of(kernel)[t]) && !tensors[t]->is_empty()) return false;
  return true;
}

}  // namespace

struct Kernel::State {
  const attune_kernel_v5* manifest;
  std::vector<UsableTarget> usable;
  std::vector<Lifetime> lifetimes;  ///< of what steps store
  std::size_t input_count;
  std::shared_ptr<const KernelFile> file;  ///< null of a linked kernel
  DriverDevice* device;                    ///< of calls on its kind of device; those on another kind take the first there
};

Result<Kernel> Kernel::open(const attune_kernel_v5& manifest, std::shared_ptr<const KernelFile> file) {
  if (Result<void> sound = check_manifest(manifest); !sound) return sound.error();
  if (Result<void> hooked = check_hooks(manifest, file == nullptr ? nullptr : &file->hooks()); !hooked) return hooked.error();
  const auto inputs = std::ranges::count_if(tensors_of(manifest), [](const attune_tensor_v1& tensor) { return tensor.role != attune_output; });
  return Kernel(std::make_shared<State>(State{&manifest, attune::usable_targets(manifest, this_machine()), lifetimes_of(manifest),
                                              static_cast<std::size_t>(inputs), std::move(file), nullptr}));
}

Result<Kernel> Kernel::from(const attune_kernel_v5& manifest) {
  Result<Kernel> kernel = open(manifest, nullptr);
  if (!kernel) return kernel;
  return kernel->usable();
}

Result<Kernel> Kernel::on(std::string_view device) const {
  State narrowed{&manifest(), attune::usable_targets(manifest(), this_machine()), state_->lifetimes, state_->input_count, state_->file, nullptr};
  std::erase_if(narrowed.usable, [&](const UsableTarget& target) { return !is_for(target, device); });
  if (narrowed.usable.empty()) return Error{no_code_for(manifest(), device, this_machine())};
  if (const attune_device kind = narrowed.usable.front().device; kind != attune_cpu) {
    const Result<DriverDevice*> found = find_device(kind, which_of(device));
    if (!found) return Error{words(who(manifest()), ": this machine cannot run its code for '", device, "': ", found.error().message)};
    if (Result<void> enough = check_limits(manifest(), narrowed.usable, **found); !enough) return enough.error();
    narrowed.device = *found;
  }
  return Kernel(std::make_shared<State>(std::move(narrowed)));
}

Result<Kernel> Kernel::usable() const {
  if (Result<void> usable = check_usable(); !usable) return usable.error();
  if (state_->usable.front().device == attune_cpu) return *this;
  State narrowed{&manifest(), attune::usable_targets(manifest(), this_machine_with_devices()), state_->lifetimes, state_->input_count, state_->file,
                 nullptr};
  if (narrowed.usable.empty()) return Error{no_usable_target(manifest(), this_machine_with_devices())};
  narrowed.device = *find_device(narrowed.usable.front().device);
  if (Result<void> enough = check_limits(manifest(), narrowed.usable, *narrowed.device); !enough) return enough.error();
  return Kernel(std::make_shared<State>(std::move(narrowed)));
}

DriverDevice* Kernel::device() const { return state_->device; }

std::vector<KernelTarget> Kernel::targets() const { return targets_of(manifest(), this_machine()); }

Result<void> Kernel::check_usable() const {
  if (state_->usable.empty()) return Error{no_usable_target(manifest(), this_machine())};
  return {};
}

Result<void> Kernel::call(std::span<const Tensor> tensors, CallOptions options) const {
  std::array<const Tensor*, max_tensors> pointers;
  const auto count = static_cast<std::size_t>(manifest().tensor_count);
  if (tensors.size() != count)
    return Error{words(who(manifest()), ": got ", tensors.size(), " tensors; expected ", count, ": ", tensor_names(manifest()))};
  for (std::size_t i = 0; i < count; ++i) pointers[i] = &tensors[i];
  return call_checked({pointers.data(), count}, options);
}

Result<void> Kernel::call(std::span<const Argument> arguments, CallOptions options) const {
  std::array<const Tensor*, max_tensors> pointers;
  const auto count = static_cast<std::size_t>(manifest().tensor_count);
  std::fill_n(pointers.begin(), count, nullptr);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    // Most callers keep the manifest's order.
    const Result<std::size_t> place = i < count && manifest().tensors[i].name == argument.name ? i : find_tensor(argument.name);
    if (!place) return place.error();
    if (pointers[*place] != nullptr) return Error{words(who(manifest(), manifest().tensors[*place]), " is given twice")};
    pointers[*place] = &argument.tensor;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (pointers[i] == nullptr)
      return Error{words(who(manifest(), manifest().tensors[i]), " is missing: ", text_of(manifest(), manifest().tensors[i]),
                         "; the kernel takes ", tensor_names(manifest()))};
  return call_checked({pointers.data(), count}, options);
}

Result<std::size_t> Kernel::find_tensor(std::string_view name) const {
  const std::span<const attune_tensor_v1> tensors = tensors_of(manifest());
  const auto found = std::ranges::find(tensors, name, [](const attune_tensor_v1& t) { return std::string_view(t.name); });
  if (found == tensors.end()) return Error{words(who(manifest()), ": has no tensor '", name, "'; it takes ", tensor_names(manifest()))};
  return static_cast<std::size_t>(found - tensors.begin());
}

Result<void> Kernel::call_checked(std::span<const Tensor* const> tensors, CallOptions options) const {
  DimExtents extents;
  if (Result<void> shapes = check_shapes(manifest(), tensors, extents); !shapes) return shapes;
  const std::span<std::int64_t> bound(extents.data(), dims().size());
  const UsableTarget* target = state_->usable.empty() ? nullptr : first_for_all(state_->usable);
  if (target == nullptr) target = choose_target(state_->usable, bound);
  if (target != nullptr && target->device != attune_cpu) return call_on_device({manifest(), *target, state_->lifetimes, tensors, bound}, options);
  constexpr static CallPlace on_cpu;
  if (Result<void> memory = check_memory(manifest(), tensors, target == nullptr ? nullptr : &on_cpu); !memory) return memory;
  if (Result<void> apart = check_workspace_of(options, tensors); !apart) return apart;
  if (state_->usable.empty()) return check_usable();
  if (has_no_result(manifest(), tensors)) return {};
  if (target == nullptr) return Error{no_code_for_extents(manifest(), state_->usable, bound)};
  if (options.stream != nullptr) return Error{words(who(manifest()), ": got a stream, and runs on the cpu; streams are of devices")};
  choose_blocks(manifest(), *target, bound);
  return run({manifest(), *target, state_->lifetimes, tensors, bound}, options.workspace);
}

Result<void> Kernel::check_workspace_of(const CallOptions& options, std::span<const Tensor* const> tensors) const {
  return options.workspace == nullptr ? Result<void>() : check_workspace(manifest(), tensors, options.workspace->memory());
}

Result<void> Kernel::call_on_device(CheckedCall call, const CallOptions& options) const {
  const bool is_named = state_->device != nullptr && state_->device->kind() == call.target.device;
  const Result<DriverDevice*> device = is_named ? state_->device : find_device(call.target.device);
  if (!device) return Error{words(who(manifest()), ": ", name_of(call.target.device), ": ", device.error().message)};
  if (!is_named)
    if (Result<void> enough = check_limits(manifest(), {&call.target, 1}, **device); !enough) return enough;
  const CallPlace place{call.target.device, (*device)->number()};
  if (Result<void> memory = check_memory(manifest(), call.arguments, &place); !memory) return memory;
  if (Result<void> strides = check_strides_for(place, manifest(), call.arguments); !strides) return strides;
  if (Result<void> apart = check_workspace_of(options, call.arguments); !apart) return apart;
  if (has_no_result(manifest(), call.arguments)) return {};
  call.device = *device;
  call.hooks = state_->file != nullptr ? &state_->file->hooks() : nullptr;
  call.stream = options.stream;
  return run(call, options.workspace);
}

const attune_kernel_v5& Kernel::manifest() const { return *state_->manifest; }
std::span<const attune_tensor_v1> Kernel::inputs() const { return tensors_of(manifest()).first(state_->input_count); }
std::span<const attune_tensor_v1> Kernel::outputs() const { return tensors_of(manifest()).subspan(state_->input_count); }
std::span<const attune_dim_v1> Kernel::dims() const { return dims_of(manifest()); }
std::string Kernel::describe() const { return description_of(manifest()); }
std::span<const UsableTarget> Kernel::usable_targets() const { return state_->usable; }

}  // namespace attune
