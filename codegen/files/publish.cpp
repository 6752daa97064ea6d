#include "codegen/files/publish.h"

#include <signal.h>

#include "codegen/files/whole_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

/// Signals come when all files are in their places, or none is.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

std::string kept(const ScratchFolder& scratch, const std::string& name) { return scratch.file("replaced." + name); }

/// Gives what stands at the place a second name in the scratch folder; a copy of it where the file system has one name for each file.
std::error_code keep(const fs::path& place, const fs::path& second) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(place, error))) return {};
  fs::create_hard_link(place, second, error);
  if (error) fs::copy(place, second, fs::copy_options::copy_symlinks, error);
  return error;
}

void put_back(const fs::path& place, const fs::path& second) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(second, ignored)))
    fs::rename(second, place, ignored);
  else
    fs::remove(place, ignored);
}

}  // namespace

std::string place_problem(const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::error_code ignored;
    if (fs::is_directory(fs::symlink_status(folder / name, ignored)))
      return cannot_be_written(folder / name, std::make_error_code(std::errc::is_a_directory));
  }
  return {};
}

std::string publish(const ScratchFolder& scratch, const fs::path& folder, const std::vector<std::string>& names) {
  const FolderLock lock(folder);  // two sets of files would mix
  if (lock.error()) return cannot_be_written(folder, lock.error());
  const BlockedSignals blocked;
  if (std::string problem = place_problem(folder, names); !problem.empty()) return problem;
  for (const std::string& name : names)
    if (const std::error_code error = keep(folder / name, kept(scratch, name))) return cannot_be_written(folder / name, error);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::error_code error;
    fs::rename(scratch.file(names[i]), folder / names[i], error);
    if (!error) continue;
    for (std::size_t done = 0; done < i; ++done) put_back(folder / names[done], kept(scratch, names[done]));
    return cannot_be_written(folder / names[i], error);
  }
  return {};
}

}  // namespace attune
