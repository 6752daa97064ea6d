/// Text files that a user names, read to their end; not without end, which a device or a pipe may not have.
#pragma once

#include <string>
#include <system_error>

namespace attune {

/// No text that a command takes is near it.
inline constexpr std::size_t most_bytes_of_text = std::size_t{256} << 20;

/// The bytes of a file, or why there are none: the system's reason, file_too_large of more than `most_bytes_of_text`.
struct FileBytes {
  std::string bytes;
  std::error_code error;
};
FileBytes read_file(const std::string& path);

/// What a user is told behind the file's name: "cannot be read: No such file or directory", "has more than 256 MiB".
std::string cannot_be_read(const std::error_code& error);

}  // namespace attune
