/// KernelFile: a shared kernel file in memory, checked, with its Halide runtime in this program's hands.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "runtime/abi.h"
#include "runtime/result.h"
#include "runtime/sealed_copy.h"
#include "runtime/sha256.h"

namespace attune {

/// Of the loader.
struct CloseLibrary {
  void operator()(void* handle) const;
};
using LibraryHandle = std::unique_ptr<void, CloseLibrary>;

class KernelFile {
 public:
  KernelFile(LibraryHandle handle, SealedCopy copy, const attune_library_v1& table)
      : handle_(std::move(handle)), copy_(std::move(copy)), table_(table) {}
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;
  ~KernelFile();

  const attune_hooks_v2& hooks() const { return table_.hooks; }
  std::span<const attune_kernel_v5* const> kernels() const { return {table_.kernels, static_cast<std::size_t>(table_.kernel_count)}; }

 private:
  LibraryHandle handle_;
  SealedCopy copy_;  // its path is the loader's name of the library: it must not become another file's while that is open
  const attune_library_v1& table_;
};

/// Opens the file, or shares it with those who have it open. With `expected` the SHA-256 of the whole file must be that.
Result<std::shared_ptr<const KernelFile>> open_kernel_file(const std::filesystem::path& path, const std::optional<Sha256>& expected = {});

}  // namespace attune
