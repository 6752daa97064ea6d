#include "codegen/files/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "codegen/files/scratch_folder.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() { return {errno, std::generic_category()}; }

std::error_code write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? last_error() : std::make_error_code(std::errc::io_error);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// The file that the path names in the end, though the last link may lead to none.
fs::path target_of(const fs::path& path, std::error_code& error) {
  if (fs::exists(path, error)) return fs::canonical(path, error);
  constexpr int most_links = 40;  // as many as Linux follows
  fs::path target = path;
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    if (i == most_links) return error = std::make_error_code(std::errc::too_many_symbolic_link_levels), target;
    target = target.parent_path() / fs::read_symlink(target, error);
    if (error) return target;
  }
  error.clear();  // that nothing is there is none
  return target;
}

std::error_code replace(const fs::path& path, Parts parts) {
  std::error_code error;
  const fs::path target = target_of(path, error);
  if (error) return error;
  if (!target.has_filename()) return std::make_error_code(std::errc::is_a_directory);
  const ScratchFolder scratch(target.has_parent_path() ? target.parent_path() : fs::path("."));
  if (!scratch.exists()) return scratch.error();
  const fs::path draft = scratch.path() / target.filename();
  error = write_file(draft, parts);
  if (!error) fs::rename(draft, target, error);
  return error;
}

}  // namespace

std::error_code write_file(const fs::path& path, Parts parts) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  if (file < 0) return last_error();
  for (const std::string_view part : parts)
    if (const std::error_code error = write_all(file, part)) {
      close(file);
      return error;
    }
  // some file systems say at the end only that the bytes found no place
  return close(file) == 0 ? std::error_code() : last_error();
}

std::string cannot_be_written(const fs::path& path, const std::error_code& error) {
  return "'" + path.string() + "': cannot be written: " + error.message();
}

std::string write_whole(const fs::path& path, Parts parts) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_special = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  error = fs::is_directory(status) ? std::make_error_code(std::errc::is_a_directory)
          : is_special             ? write_file(path, parts)
                                   : replace(path, parts);
  return error ? cannot_be_written(path, error) : std::string();
}

}  // namespace attune
