/// SealedCopy: the bytes of a file at one moment, in memory that nobody can change or cut off any more.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "runtime/result.h"

namespace attune {

/// Which file was copied: its names may have become those of others meanwhile.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// A memory file (memfd) under all seals, with its bytes mapped for reading. What is checked here is what the loader opens: a path leads to
/// other bytes as soon as somebody replaces the file, and the bytes of an open file change when somebody writes to it.
class SealedCopy {
 public:
  /// Refuses what is not a regular file, what cannot be read, and a process without memory files.
  static Result<SealedCopy> of(const std::filesystem::path& path);

  SealedCopy(SealedCopy&& other) noexcept;
  SealedCopy& operator=(SealedCopy&& other) noexcept;
  ~SealedCopy();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  FileIdentity identity() const { return identity_; }

  /// A path under which this process can open the copy as long as this object lives.
  std::string path() const;

  /// From now on path() is another one for the same copy; false if there are no more descriptors.
  bool rename();

 private:
  SealedCopy() = default;

  int memory_ = -1;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  FileIdentity identity_;
};

}  // namespace attune
