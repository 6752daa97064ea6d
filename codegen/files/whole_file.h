/// Files that are written whole or not at all. Every write of Attune's programs goes through here: a disk may be full at any byte.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

namespace attune {

/// What a file is made of, one after the other: large arrays are not copied to stand behind their header.
using Parts = std::initializer_list<std::string_view>;

/// Makes the file anew from the bytes, or writes them to a device or a pipe. After an error part of them may stand there: for files of a
/// scratch folder, which is removed with them.
[[nodiscard]] std::error_code write_file(const std::filesystem::path& path, Parts parts);

/// What a user is told: "'PATH': cannot be written: No space left on device".
std::string cannot_be_written(const std::filesystem::path& path, const std::error_code& error);

/// Replaces the file in one step: a reader, and who comes after a failure, finds the bytes or what stood there before. They are written
/// beside their place and renamed. What a link points to is replaced; a device or a pipe is written to as it is. The problem in words, or
/// nothing.
[[nodiscard]] std::string write_whole(const std::filesystem::path& path, Parts parts);

}  // namespace attune
