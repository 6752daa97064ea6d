#include "runtime/kernel_file.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "runtime/context.h"
#include "runtime/trailer.h"
#include "runtime/words.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using File = std::shared_ptr<const KernelFile>;

constexpr int max_kernels = 4096;  // a count above is taken for damage

Error wrong(const fs::path& path, const std::string& what) { return {words("kernel file '", path.string(), "': ", what)}; }

std::string last_problem() {
  const char* problem = dlerror();
  return problem != nullptr ? problem : "unknown reason";
}

struct Close {
  void operator()(void* handle) const { dlclose(handle); }
};

const attune_library_v1* table_of(void* handle) { return static_cast<const attune_library_v1*>(dlsym(handle, "attune_library_v1")); }

std::string table_problem(const attune_library_v1* table) {
  if (table == nullptr) return "has no table of kernels: it lacks the symbol attune_library_v1; `attune compile --shared` writes one";
  if (table->abi_version != ATTUNE_ABI_VERSION)
    return words("is of ABI version ", table->abi_version, "; this runtime reads version ", ATTUNE_ABI_VERSION);
  if (table->kernel_count < 0 || table->kernel_count > max_kernels || (table->kernel_count > 0 && table->kernels == nullptr))
    return words("has a table of ", table->kernel_count, " kernels");
  for (int i = 0; i < table->kernel_count; ++i)
    if (table->kernels[i] == nullptr) return words("has a table of kernels whose entry ", i, " is null");
  const attune_hooks_v1& hooks = table->hooks;
  if (hooks.set_do_par_for == nullptr || hooks.set_malloc == nullptr || hooks.set_free == nullptr || hooks.set_error_handler == nullptr)
    return "lacks a hook into its Halide runtime";
  return {};
}

/// Tells a file from one that took its place.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t bytes = -1;
  time_t seconds = 0;
  long nanoseconds = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// What is open at a path: the loader gives the old content for a path that it has open, whatever the file is now.
struct Entry {
  std::weak_ptr<const KernelFile> file;
  Sha256 hash{};
  int handles = 0;  ///< not yet given back to the loader; may outlive `file` by a moment
};

struct OpenFiles {
  std::mutex mutex;
  std::map<std::string, Entry> by_path;
  std::multiset<void*> handles;  ///< of the loader; one file has one handle, whatever its paths
};

OpenFiles& open_files() {
  static auto* files = new OpenFiles;  // never destroyed: files may be closed after main
  return *files;
}

using Handle = std::unique_ptr<void, Close>;

Result<Handle> load(const fs::path& path, const fs::path& absolute, const Identity& checked) {
  Handle handle(dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) return wrong(path, words("cannot be loaded: ", last_problem()));
  if (identity_of(absolute) != checked) return wrong(path, "was replaced while it was being opened; open it again");
  const std::string problem = table_problem(table_of(handle.get()));
  if (!problem.empty()) return wrong(path, problem);
  return handle;
}

}  // namespace

KernelFile::~KernelFile() {
  OpenFiles& files = open_files();
  const std::scoped_lock lock(files.mutex);
  files.handles.erase(files.handles.find(handle_));
  dlclose(handle_);
  const auto entry = files.by_path.find(path_);
  if (--entry->second.handles == 0) files.by_path.erase(entry);
}

Result<File> open_kernel_file(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::canonical(path, error);  // one file, one name
  if (error) return wrong(path, words("cannot be read: ", error.message()));
  OpenFiles& files = open_files();
  const std::scoped_lock lock(files.mutex);
  const Identity identity = identity_of(absolute);
  const Result<Sha256> hash = check_trailer(path);
  if (!hash) return hash.error();
  const auto known = files.by_path.find(absolute.string());
  if (known != files.by_path.end()) {
    if (known->second.hash != *hash)
      return wrong(path, "was replaced while it is open; close it and its kernels first, or give the new file another name");
    if (File open = known->second.file.lock()) return open;
  }
  Result<Handle> handle = load(path, absolute, identity);
  if (!handle) return handle.error();
  const attune_library_v1& table = *table_of(handle->get());
  if (!files.handles.contains(handle->get())) take_over(table.hooks);  // else its kernels may be running
  files.handles.insert(handle->get());
  File file = std::make_shared<const KernelFile>(handle->release(), absolute.string(), table);
  Entry& entry = files.by_path[absolute.string()];
  entry = {file, *hash, entry.handles + 1};
  return file;
}

}  // namespace attune
