/// The bytes of an input as a file, for readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace attune {

/// A file in memory that holds the bytes, for as long as this lives.
class FuzzFile {
 public:
  FuzzFile(const std::uint8_t* data, std::size_t size) : file_(memfd_create("input", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  FuzzFile(const FuzzFile&) = delete;
  ~FuzzFile() { close(file_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace attune
