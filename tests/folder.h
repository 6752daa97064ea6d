/// A folder for the files of one test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace attune {

/// Empty at first; removed at the end with all that is in it.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attune_test_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::filesystem::filesystem_error("mkdtemp", pattern, std::error_code(errno, std::generic_category()));
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  /// How many files are in it.
  auto size() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

  /// Writes the file and gives its path. One that is there is another file: ext4 waits for the disk where a file that is emptied is written anew.
  std::filesystem::path write(const char* name, std::string_view text) const {
    std::error_code ignored;
    std::filesystem::remove(path_ / name, ignored);
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// All bytes of a file; empty if there is none.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace attune
