#include "codegen/files/scratch_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
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

const std::string prefix = ".attune-scratch.";

std::error_code scratch_error() { return {errno, std::generic_category()}; }

int open_folder(const char* path) { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

/// True where the file system knows no locks too: nobody else gets one there either, and so removes nothing.
bool try_lock(int folder) { return flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

/// Whether the open folder still has the name.
bool stands_at(int folder, const fs::path& path) {
  struct stat open {
  }, named{};
  return fstat(folder, &open) == 0 && lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/// Removes what dead processes of this user left. The lock is held meanwhile, so that no owner takes the folder for its own.
void remove_stale(const fs::path& parent) {
  std::error_code ignored;
  for (fs::directory_iterator entry(parent, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const fs::path path = entry->path();
    if (!path.filename().string().starts_with(prefix)) continue;
    const int folder = open_folder(path.c_str());
    if (folder < 0) continue;
    struct stat status {};
    const bool is_stale = fstat(folder, &status) == 0 && status.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0;
    std::error_code left;
    if (is_stale && stands_at(folder, path)) fs::remove_all(path, left);
    close(folder);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const char* named = std::getenv("TMPDIR");
  make(named != nullptr && *named != '\0' ? named : "/tmp");
}

ScratchFolder::ScratchFolder(const fs::path& parent) { make(parent); }

void ScratchFolder::make(const fs::path& parent) {
  parent_ = parent;
  remove_stale(parent);
  while (true) {
    std::string path = fs::absolute(parent / (prefix + "XXXXXX"), error_).string();
    if (error_) return;
    if (mkdtemp(path.data()) == nullptr) {
      error_ = scratch_error();
      return;
    }
    lock_ = open_folder(path.c_str());
    if (lock_ < 0 && errno != ENOENT) {
      error_ = scratch_error();
      rmdir(path.c_str());
      return;
    }
    if (lock_ >= 0 && try_lock(lock_) && stands_at(lock_, path)) {
      path_ = path;
      return remember(path);
    }
    // another process took it for one whose owner is dead, in the moment before it was locked
    if (lock_ >= 0) close(lock_);
  }
}

ScratchFolder::~ScratchFolder() {
  if (!exists()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  forget(path_.string());
  close(lock_);
}

std::string no_scratch_folder(const ScratchFolder& folder) {
  return "the folder for temporary files, '" + folder.parent().string() + "', cannot be written to: " + folder.error().message() + "; TMPDIR names another";
}

FolderLock::FolderLock(const fs::path& folder) : path_(fs::absolute(folder / (prefix + "lock"), error_)) {
  while (!error_) {
    const bool is_there = mkdir(path_.c_str(), 0777) == 0 || errno == EEXIST;
    if (is_there) lock_ = open_folder(path_.c_str());
    if (is_there && lock_ < 0 && errno == ENOENT) continue;  // who had the lock removed it just now
    if (lock_ < 0) {
      error_ = scratch_error();
      break;
    }
    int status = 0;
    while ((status = flock(lock_, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (status != 0 || stands_at(lock_, path_)) break;
    close(lock_);
    lock_ = -1;
  }
  if (lock_ >= 0) remember(path_.string());
}

FolderLock::~FolderLock() {
  if (lock_ < 0) return;
  rmdir(path_.c_str());
  forget(path_.string());
  close(lock_);
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
