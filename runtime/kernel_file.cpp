#include "runtime/kernel_file.h"

#include <dlfcn.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <vector>

#include "runtime/context.h"
#include "runtime/device_hooks.h"
#include "runtime/file_error.h"
#include "runtime/trailer.h"
#include "runtime/words.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using File = std::shared_ptr<const KernelFile>;

constexpr int max_kernels = 4096;  // a count above is taken for damage

std::string last_problem() {
  const char* problem = dlerror();
  return problem != nullptr ? problem : "unknown reason";
}

const attune_library_v1* table_of(void* handle) { return static_cast<const attune_library_v1*>(dlsym(handle, "attune_library_v1")); }

std::string table_problem(const attune_library_v1* table) {
  if (table == nullptr) return "has no table of kernels: it lacks the symbol attune_library_v1; `attune compile --shared` writes one";
  if (table->abi_version != ATTUNE_ABI_VERSION)
    return words("is of ABI version ", table->abi_version, "; this runtime reads version ", ATTUNE_ABI_VERSION);
  if (table->kernel_count < 0 || table->kernel_count > max_kernels || (table->kernel_count > 0 && table->kernels == nullptr))
    return words("has a table of ", table->kernel_count, " kernels");
  for (int i = 0; i < table->kernel_count; ++i)
    if (table->kernels[i] == nullptr) return words("has a table of kernels whose entry ", i, " is null");
  const attune_hooks_v2& hooks = table->hooks;
  if (hooks.set_do_par_for == nullptr || hooks.set_malloc == nullptr || hooks.set_free == nullptr || hooks.set_error_handler == nullptr)
    return "lacks a hook into its Halide runtime";
  if ((hooks.set_cuda_context == nullptr) != (hooks.cuda_interface == nullptr) ||
      (hooks.set_cuda_context == nullptr) != (hooks.set_cuda_stream == nullptr) ||
      (hooks.set_opencl_context == nullptr) != (hooks.opencl_interface == nullptr))
    return "lacks a hook into its Halide runtime for a device";
  return {};
}

/// What is open: a file is known by its path, and by its other names.
struct Entry {
  std::string path;
  FileIdentity identity;
  Sha256 hash{};
  std::weak_ptr<const KernelFile> file;
};

struct OpenFiles {
  std::mutex mutex;
  std::vector<Entry> entries;
};

OpenFiles& open_files() {
  static auto* files = new OpenFiles;  // never destroyed: files may be closed after main
  return *files;
}

/// The open file of these bytes, or nothing if the path is that of no open file; the sentence if other bytes were opened under it.
Result<File> find_open(const std::vector<Entry>& entries, const fs::path& path, const Entry& wanted) {
  for (const Entry& entry : entries) {
    if (entry.path != wanted.path && entry.identity != wanted.identity) continue;
    if (entry.hash == wanted.hash) {
      if (File open = entry.file.lock()) return open;
    } else if (entry.path == wanted.path && !entry.file.expired()) {
      return wrong_file(path, "was replaced while it is open; close it and its kernels first, or give the new file another name");
    }
  }
  return File();
}

using Handle = LibraryHandle;

/// The loader gives the library that it has open under a name, whatever stands there now: the copy's name must be one that it has not.
/// Another has it if someone closed a copy's descriptor behind this runtime's back.
bool take_free_name(SealedCopy& copy) {
  while (const Handle other{dlopen(copy.path().c_str(), RTLD_LAZY | RTLD_NOLOAD)})
    if (!copy.rename()) return false;
  return true;
}

Result<Handle> load(const fs::path& path, SealedCopy& copy) {
  if (!take_free_name(copy)) return wrong_file(path, "cannot be loaded: too many files are open");
  Handle handle(dlopen(copy.path().c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    const std::string problem = last_problem();
    const bool is_found = access(copy.path().c_str(), R_OK) == 0;
    return wrong_file(path, words("cannot be loaded: ", problem, is_found ? "" : "; the loader finds the copy in /proc, which is not mounted"));
  }
  const std::string problem = table_problem(table_of(handle.get()));
  if (!problem.empty()) return wrong_file(path, problem);
  return handle;
}

Result<void> check_sum(const SealedCopy& copy, const fs::path& path, const Sha256& expected) {
  const Sha256 sum = sha256(copy.bytes());
  if (sum == expected) return {};
  return wrong_file(path,
               words("is another file than the one that is expected: its SHA-256 is ", text_of(sum), ", expected ", text_of(expected)));
}

}  // namespace

void CloseLibrary::operator()(void* handle) const { dlclose(handle); }

KernelFile::~KernelFile() {
  release_devices(table_.hooks);
  OpenFiles& files = open_files();
  const std::scoped_lock lock(files.mutex);
  std::erase_if(files.entries, [](const Entry& entry) { return entry.file.expired(); });
  handle_.reset();
}

Result<File> open_kernel_file(const fs::path& path, const std::optional<Sha256>& expected) {
  std::error_code error;
  const fs::path absolute = fs::canonical(path, error);  // one file, one name
  if (error) return wrong_file(path, words("cannot be read: ", error.message()));
  Result<SealedCopy> copy = SealedCopy::of(path);
  if (!copy) return copy.error();
  if (expected)
    if (const Result<void> same = check_sum(*copy, path, *expected); !same) return same.error();
  const Result<Sha256> hash = check_trailer(copy->bytes(), path);
  if (!hash) return hash.error();
  OpenFiles& files = open_files();
  const std::scoped_lock lock(files.mutex);
  files.entries.reserve(files.entries.size() + 1);  // behind this nothing fails while there is a file: its end takes the lock, too
  Entry entry{absolute.string(), copy->identity(), *hash, {}};
  Result<File> known = find_open(files.entries, path, entry);
  if (!known || *known != nullptr) return known;
  Result<Handle> handle = load(path, *copy);
  if (!handle) return handle.error();
  const attune_library_v1& table = *table_of(handle->get());
  take_over(table.hooks);
  File file = std::make_shared<const KernelFile>(std::move(*handle), std::move(*copy), table);
  entry.file = file;
  files.entries.push_back(std::move(entry));
  return file;
}

}  // namespace attune
