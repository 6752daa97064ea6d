/// ScratchFolder: a folder for files that are gone at the end, also where a signal is the end.
#pragma once

#include <filesystem>
#include <string>

namespace attune {

class ScratchFolder {
 public:
  /// Among the system's temporary files.
  ScratchFolder();
  /// PARENT/PREFIX.XXXXXX: on the same disk as what is renamed out of it.
  ScratchFolder(const std::filesystem::path& parent, const std::string& prefix);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// False if none could be made: the parent does not exist or cannot be written to.
  bool exists() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// What a command says if there is no folder for temporary files.
inline constexpr const char* no_scratch_folder = "the folder for temporary files cannot be written to; TMPDIR names another";

/// From now on signals that end the process (hang-up, Ctrl-C, a closed pipe, kill, a limit, a crash) remove its scratch folders first; SIGKILL
/// alone cannot. For programs: a library leaves signals to the program that it is in.
void remove_scratch_folders_on_signals();

}  // namespace attune
