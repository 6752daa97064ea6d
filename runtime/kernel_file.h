/// KernelFile: a shared kernel file in memory, checked, with its Halide runtime in this program's hands.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "runtime/abi.h"
#include "runtime/result.h"

namespace attune {

class KernelFile {
 public:
  KernelFile(void* handle, std::string path, const attune_library_v1& table) : handle_(handle), path_(std::move(path)), table_(table) {}
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;
  ~KernelFile();

  std::span<const attune_kernel_v1* const> kernels() const { return {table_.kernels, static_cast<std::size_t>(table_.kernel_count)}; }

 private:
  void* handle_;
  std::string path_;
  const attune_library_v1& table_;
};

/// Opens the file, or shares it with those who have it open.
Result<std::shared_ptr<const KernelFile>> open_kernel_file(const std::filesystem::path& path);

}  // namespace attune
