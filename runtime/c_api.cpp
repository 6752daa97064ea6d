#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/attune.h"
#include "runtime/c_handles.h"
#include "runtime/library.h"
#include "runtime/merge.h"
#include "runtime/run.h"
#include "runtime/signature.h"
#include "runtime/table.h"
#include "runtime/threads.h"
#include "runtime/words.h"

namespace attune {
namespace {

constexpr std::string_view cut_off = " ...";

/// An array, as a sentence may have to be told where there is no memory.
thread_local std::array<char, 4096> last_error;

bool has_form(const attune_tensor& tensor) {
  return tensor.storage >= 0 && tensor.storage < storage_count && tensor.rank >= 0 && tensor.rank <= max_rank &&
         (tensor.rank == 0 || tensor.extents != nullptr);
}

/// What is wrong with a tensor of C that has no right form.
std::string form_problem(const attune_tensor& tensor) {
  if (tensor.storage < 0 || tensor.storage >= storage_count) return words("has the unknown storage ", tensor.storage, "; those of abi.h are 0 to ", storage_count - 1);
  if (tensor.rank < 0 || tensor.rank > max_rank) return words("has ", tensor.rank, " dims; expected 0 to ", max_rank);
  return words("has ", tensor.rank, " dims but its extents are null");
}

/// One tensor of C, whose form is right. It becomes the runtime's in the place where that shall be: a copy costs more than making it.
struct View {
  const attune_tensor& tensor;
  const attune_place* place = nullptr;

  operator Tensor() const {
    if (place != nullptr)
      return Tensor(View{tensor}).on_device(static_cast<attune_device>(place->device), place->number, static_cast<std::int64_t>(place->byte_offset));
    const auto rank = static_cast<std::size_t>(tensor.rank);
    const std::span<const std::int64_t> extents(tensor.extents, rank);
    const auto storage = static_cast<attune_storage>(tensor.storage);
    if (tensor.strides == nullptr) return Tensor(tensor.data, storage, extents);
    return Tensor(tensor.data, storage, extents, std::span<const std::int64_t>(tensor.strides, rank));
  }
};

/// Not a part of call(), which asks for the stack before these tables are on it.
[[gnu::noinline]] Result<void> call_on_stack(const attune_kernel* kernel, const attune_tensor* table, const attune_place* places, std::int32_t count,
                                             const CallOptions& options) {
  if (count < 0 || count > max_tensors || (count > 0 && table == nullptr))
    return Error{words("attune_call: got ", table == nullptr ? "a null table of " : "", count, " tensors; expected 0 to ", max_tensors)};
  const std::span<const attune_tensor> tensors(table, static_cast<std::size_t>(count));
  Table<Argument, max_tensors> arguments;
  Table<Tensor, max_tensors> in_order;
  for (const attune_tensor& tensor : tensors) {
    if (!has_form(tensor))
      return Error{tensor.name != nullptr ? words("tensor '", tensor.name, "': ", form_problem(tensor)) : words("attune_call: tensor ", &tensor - table, " ", form_problem(tensor))};
    const View view{tensor, places == nullptr ? nullptr : &places[&tensor - table]};
    if (tensor.name != nullptr)
      arguments.add(tensor.name, view);
    else
      in_order.add(view);
  }
  if (arguments.size() != 0 && in_order.size() != 0)
    return Error{words("attune_call: ", arguments.size(), " of ", tensors.size(), " tensors have names; expected all of them, or none")};
  return arguments.size() != 0 ? kernel->kernel.call(arguments.elements(), options) : kernel->kernel.call(in_order.elements(), options);
}

Result<void> call(const attune_kernel* kernel, const attune_tensor* table, const attune_place* places, std::int32_t count,
                  const CallOptions& options) {
  if (kernel == nullptr) return Error{"attune_call: the kernel is null"};
  if (Result<void> stack = check_stack(kernel->kernel.manifest()); !stack) return stack;
  return call_on_stack(kernel, table, places, count, options);
}

Result<void> call(const attune_kernel* kernel, const attune_tensor* table, std::int32_t count, const attune_call_options& options) {
  if (options.workspace == nullptr && options.workspace_bytes > 0)
    return Error{words("attune_call: the workspace of ", options.workspace_bytes, " bytes is null")};
  std::optional<Workspace> memory;
  if (options.workspace != nullptr)
    memory.emplace(std::span(static_cast<std::byte*>(options.workspace), options.workspace_bytes));
  else
    memory.emplace();
  Result<void> called = call(kernel, table, options.places, count, {&*memory, options.stream});
  if (options.needed_bytes != nullptr) *options.needed_bytes = memory->peak_bytes();
  return called;
}

Result<attune_library*> library_of(std::optional<Library> file, std::span<const Kernel> kernels) {
  auto library = std::make_unique<attune_library>();
  for (const Kernel& kernel : kernels) library->kernels.emplace_back(kernel);
  library->file = std::move(file);
  return library.release();
}

/// The kernel that is linked into the program, if that is its name.
Result<const attune_kernel*> find_linked(const attune_library& library, std::string_view name) {
  const attune_kernel& only = library.kernels.front();
  if (only.kernel.name() == name) return &only;
  return Error{words("attune_find_kernel: has no kernel '", name, "'; it holds ", only.kernel.name())};
}

Result<Kernel> find_on(const attune_library& library, std::string_view name, std::string_view device) {
  if (library.file) return library.file->kernel(name, device);
  const Result<const attune_kernel*> linked = find_linked(library, name);
  if (!linked) return linked.error();
  return (*linked)->kernel.on(device);
}

/// One place in the library for each kernel and device, however often it is asked for.
Result<const attune_kernel*> keep_on(const attune_library& library, const char* name, const char* device) {
  const std::scoped_lock lock(library.mutex);
  const auto known = library.on_devices.find({name, device});
  if (known != library.on_devices.end()) return &known->second;
  const Result<Kernel> found = find_on(library, name, device);
  if (!found) return found.error();
  return &library.on_devices.try_emplace({name, device}, *found).first->second;
}

const KernelTarget* target_of(const attune_kernel* kernel, std::int32_t number) {
  if (kernel == nullptr || number < 0 || static_cast<std::size_t>(number) >= kernel->targets.size()) return nullptr;
  return &kernel->targets[static_cast<std::size_t>(number)];
}

}  // namespace

void tell(std::string_view sentence) {
  const std::size_t room = last_error.size() - 1;
  const bool fits = sentence.size() <= room;
  char* end = std::ranges::copy(sentence.substr(0, fits ? sentence.size() : room - cut_off.size()), last_error.begin()).out;
  if (!fits) end = std::ranges::copy(cut_off, end).out;
  *end = 0;
}

}  // namespace attune

using attune::Error;
using attune::Result;

extern "C" {

attune_library* attune_open(const char* path) {
  return attune::guarded<attune_library*>(nullptr, [&]() -> Result<attune_library*> {
    if (path == nullptr) return Error{"attune_open: the path is null"};
    Result<attune::Library> file = attune::Library::open(path);
    if (!file) return file.error();
    return attune::library_of(*file, file->kernels());
  });
}

attune_library* attune_open_expected(const char* path, const char* expected_sha256) {
  return attune::guarded<attune_library*>(nullptr, [&]() -> Result<attune_library*> {
    if (path == nullptr || expected_sha256 == nullptr) return Error{"attune_open_expected: the path or the SHA-256 is null"};
    Result<attune::Library> file = attune::Library::open(path, expected_sha256);
    if (!file) return file.error();
    return attune::library_of(*file, file->kernels());
  });
}

attune_library* attune_link(const attune_kernel_v5* manifest) {
  return attune::guarded<attune_library*>(nullptr, [&]() -> Result<attune_library*> {
    if (manifest == nullptr) return Error{"attune_link: the manifest is null"};
    Result<attune::Kernel> kernel = attune::Kernel::from(*manifest);
    if (!kernel) return kernel.error();
    return attune::library_of(std::nullopt, std::span(&*kernel, 1));
  });
}

void attune_close(attune_library* library) { delete library; }

int32_t attune_kernel_count(const attune_library* library) {
  return library == nullptr ? 0 : static_cast<int32_t>(library->kernels.size());
}

const char* attune_kernel_name(const attune_library* library, int32_t number) {
  if (number < 0 || number >= attune_kernel_count(library)) return nullptr;
  return library->kernels[static_cast<std::size_t>(number)].kernel.manifest().name;
}

const struct attune_kernel* attune_find_kernel(const attune_library* library, const char* name) {
  return attune::guarded<const struct attune_kernel*>(
      nullptr, [&]() -> Result<const struct attune_kernel*> {
        if (library == nullptr || name == nullptr) return Error{"attune_find_kernel: the library or the name is null"};
        if (!library->file) return attune::find_linked(*library, name);
        if (const Result<attune::Kernel> found = library->file->kernel(name); !found) return found.error();
        return &*std::ranges::find(library->kernels, std::string_view(name), [](const attune_kernel& kernel) { return kernel.kernel.name(); });
      });
}

const struct attune_kernel* attune_find_kernel_on(const attune_library* library, const char* name, const char* device) {
  return attune::guarded<const struct attune_kernel*>(
      nullptr, [&]() -> Result<const struct attune_kernel*> {
        if (library == nullptr || name == nullptr || device == nullptr)
          return Error{"attune_find_kernel_on: the library, the name or the device is null"};
        return attune::keep_on(*library, name, device);
      });
}

int32_t attune_target_count(const struct attune_kernel* kernel) { return kernel == nullptr ? 0 : static_cast<int32_t>(kernel->targets.size()); }

const char* attune_target_name(const struct attune_kernel* kernel, int32_t number) {
  const attune::KernelTarget* target = attune::target_of(kernel, number);
  return target == nullptr ? nullptr : target->name.data();  // a text of the manifest, which ends with 0
}

const char* attune_target_problem(const struct attune_kernel* kernel, int32_t number) {
  const attune::KernelTarget* target = attune::target_of(kernel, number);
  return target == nullptr ? nullptr : target->problem.c_str();
}

const attune_kernel_v5* attune_manifest(const struct attune_kernel* kernel) {
  return kernel == nullptr ? nullptr : &kernel->kernel.manifest();
}

const char* attune_describe(const struct attune_kernel* kernel) { return kernel == nullptr ? "" : kernel->description.c_str(); }

int attune_call(const struct attune_kernel* kernel, const attune_tensor* tensors, int32_t count) {
  return attune::guarded(-1, [&] { return attune::call(kernel, tensors, nullptr, count, {}); });
}

int attune_call_with_workspace(const struct attune_kernel* kernel, const attune_tensor* tensors, int32_t count, void* workspace,
                               size_t workspace_bytes, size_t* needed_bytes) {
  return attune::guarded(-1, [&] { return attune::call(kernel, tensors, count, {workspace, workspace_bytes, needed_bytes, nullptr, nullptr}); });
}

int attune_call_with(const struct attune_kernel* kernel, const attune_tensor* tensors, int32_t count, const attune_call_options* options) {
  return attune::guarded(-1, [&]() -> Result<void> {
    if (options == nullptr) return attune::call(kernel, tensors, nullptr, count, {});
    return attune::call(kernel, tensors, count, *options);
  });
}

int attune_merge_partials(const attune_tensor* out_a, const attune_tensor* lse_a, const attune_tensor* out_b, const attune_tensor* lse_b,
                          const attune_tensor* out, const attune_tensor* lse) {
  return attune::guarded<int>(-1, [&]() -> Result<void> {
    for (const attune_tensor* tensor : {out_a, lse_a, out_b, lse_b, out, lse}) {
      if (tensor == nullptr) return Error{"attune_merge_partials: a tensor is null"};
      if (!attune::has_form(*tensor)) return Error{attune::words("attune_merge_partials: a tensor ", attune::form_problem(*tensor))};
    }
    const auto view = [](const attune_tensor* tensor) -> attune::Tensor { return attune::View{*tensor}; };
    return attune::merge_partials({view(out_a), view(lse_a)}, {view(out_b), view(lse_b)}, {view(out), view(lse)});
  });
}

int attune_set_num_threads(int32_t count) {
  return attune::guarded(-1, [&] { return attune::set_num_threads(count); });
}

int32_t attune_num_threads(void) {
  return attune::guarded<int32_t>(1, []() -> attune::Result<int32_t> { return attune::num_threads(); });
}

const char* attune_last_error(void) { return attune::last_error.data(); }
}
