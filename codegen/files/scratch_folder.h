/// ScratchFolder: a folder for files that are gone at the end, also where a signal is the end.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace attune {

/// PARENT/.attune-scratch.XXXXXX, locked as long as its process lives. What SIGKILL left of others, nobody holds the lock of, and the next scratch
/// folder in the same place removes it; so no file of anybody else may be called so.
class ScratchFolder {
 public:
  /// Among the system's temporary files.
  ScratchFolder();
  /// In a folder: on the same disk as what is renamed out of it.
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// False if none could be made, for the reason in error().
  bool exists() const { return !path_.empty(); }
  const std::error_code& error() const { return error_; }
  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& parent() const { return parent_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  void make(const std::filesystem::path& parent);

  std::filesystem::path path_, parent_;
  std::error_code error_;
  int lock_ = -1;
};

/// What a command says if there is no folder for temporary files.
std::string no_scratch_folder(const ScratchFolder& folder);

/// One process at a time has it for a folder, where the file system knows locks. The lock is a folder in the folder, gone at the end.
class FolderLock {
 public:
  /// Waits until the lock is free.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Why there is no lock.
  const std::error_code& error() const { return error_; }

 private:
  std::filesystem::path path_;
  std::error_code error_;
  int lock_ = -1;
};

/// From now on signals that end the process (hang-up, Ctrl-C, a closed pipe, kill, a limit, a crash) remove its scratch folders first; SIGKILL
/// alone cannot. For programs: a library leaves signals to the program that it is in.
void remove_scratch_folders_on_signals();

}  // namespace attune
