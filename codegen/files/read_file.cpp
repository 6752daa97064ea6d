#include "codegen/files/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace attune {

FileBytes read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  FileBytes read_bytes;
  if (file < 0) return {{}, {errno, std::generic_category()}};
  std::array<char, 65536> chunk;
  while (!read_bytes.error) {
    const ssize_t count = read(file, chunk.data(), chunk.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) read_bytes.error = {errno, std::generic_category()};
    else if (read_bytes.bytes.append(chunk.data(), static_cast<std::size_t>(count)).size() > most_bytes_of_text)
      read_bytes.error = std::make_error_code(std::errc::file_too_large);
  }
  close(file);
  if (read_bytes.error) read_bytes.bytes.clear();
  return read_bytes;
}

std::string cannot_be_read(const std::error_code& error) {
  if (error == std::errc::file_too_large) return "has more than " + std::to_string(most_bytes_of_text >> 20) + " MiB";
  return "cannot be read: " + error.message();
}

}  // namespace attune
