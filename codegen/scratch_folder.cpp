#include "codegen/scratch_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <ctime>

namespace attune {
namespace {

namespace fs = std::filesystem;

/// A folder's path where a signal handler can read it; free if `owner` is 0.
struct Slot {
  std::atomic<pid_t> owner = 0;  // a child that was forked must not remove its parent's folders
  char path[PATH_MAX] = {};
};
std::array<Slot, 64> slots;  // more folders at once are still removed, but not by a signal

void remember(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  for (Slot& slot : slots) {
    pid_t nobody = 0;
    if (!slot.owner.compare_exchange_strong(nobody, -1)) continue;  // -1: taken, and not yet to be read
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.owner = getpid();
    return;
  }
}

void forget(const std::string& path) {
  for (Slot& slot : slots)
    if (slot.owner == getpid() && path == slot.path) slot.owner = 0;
}

constexpr int deepest = 8;  // more levels than any command makes: a tuning run has a folder for each kernel, with that of its compilation

/// Removes what is in the open folder, and closes it. Only system calls: a signal may have come in the middle of malloc.
void remove_contents(int folder, int depth) {
  alignas(dirent64) char entries[4096];
  for (long bytes; (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;)
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      const bool is_self_or_parent = name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
      if (is_self_or_parent || unlinkat(folder, name, 0) == 0 || depth == deepest) continue;
      const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner >= 0) remove_contents(inner, depth + 1);
      unlinkat(folder, name, AT_REMOVEDIR);
    }
  close(folder);
}

void remove_folder(const char* path) {
  // a compiler that this process started may still be writing, until its output has no folder
  constexpr int tries = 20;
  constexpr timespec pause{0, 5'000'000};
  for (int i = 0; i < tries; ++i) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    remove_contents(folder, 0);
    if (rmdir(path) == 0) return;
    nanosleep(&pause, nullptr);
  }
}

void remove_all_and_end(int signal) {
  for (const Slot& slot : slots)
    if (slot.owner == getpid()) remove_folder(slot.path);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string path = (parent / "attune.XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) return;
  path_ = path;
  remember(path);
}

ScratchFolder::ScratchFolder(const fs::path& parent, const std::string& prefix) {
  std::string path = fs::absolute(parent / (prefix + ".XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) return;
  path_ = path;
  remember(path);
}

ScratchFolder::~ScratchFolder() {
  if (!exists()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  forget(path_.string());
}

void remove_scratch_folders_on_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    struct sigaction action = {};
    // what the parent wants ignored (nohup, a shell's background process) stays so
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_all_and_end;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace attune
