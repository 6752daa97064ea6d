/// A file's bytes as memory, read from the disk where they are looked at.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "runtime/result.h"

namespace text_generation {

using attune::Error;
using attune::Result;

/// The bytes of a file for as long as this lives. Whoever shortens the file meanwhile ends the program.
class MappedFile {
 public:
  /// Refuses what cannot be opened, and what is no regular file.
  static Result<MappedFile> open(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  struct Unmap {
    std::size_t size;
    void operator()(const std::byte* memory) const;
  };
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes), memory_(bytes.data(), Unmap{bytes.size()}) {}

  std::span<const std::byte> bytes_;
  std::unique_ptr<const std::byte, Unmap> memory_;
};

}  // namespace text_generation
