/// Library: an open kernel file.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/result.h"

namespace attune {

class KernelFile;

/// A handle, cheap to copy; the file stays open as long as a handle or one of its kernels lives.
class Library {
 public:
  /// Opens a file that `attune compile --shared` wrote, after checking it: nothing of a truncated, damaged, foreign or newer file runs.
  /// What is checked is a copy in sealed memory, and that is what runs: whatever happens to the file afterwards does no harm. A file that
  /// is open already is shared; if it was replaced meanwhile, it is refused. An open file takes a descriptor and, once for the
  /// process, its size in memory. The system has to have memfd_create and /proc.
  ///
  /// The check finds damage, not attackers: who changes a file can write the checksum that fits. A kernel file is code, and to open one is
  /// to run it: open files of people whom you trust, and sign them where they travel.
  static Result<Library> open(const std::filesystem::path& path);

  /// The same for one certain file: refuses, before anything of it runs, a file whose SHA-256 is not that of the 64 hexadecimal digits, as
  /// `sha256sum FILE` prints it. With digits from where no attacker writes (a signed list, the program itself) this keeps changed files
  /// out.
  static Result<Library> open(const std::filesystem::path& path, std::string_view expected_sha256);

  /// Refuses an unknown name, and a kernel that has no code for this machine.
  Result<Kernel> kernel(std::string_view name) const;

  /// The same with the code of one device ("cpu", "opencl", "cuda", "vulkan", "cuda:1") or of one target alone, as Kernel::on gives it.
  Result<Kernel> kernel(std::string_view name, std::string_view device) const;

  /// All of them, also those that cannot run here.
  std::span<const Kernel> kernels() const;

 private:
  struct State;
  Result<Kernel> find(std::string_view name) const;
  static Result<Library> of(const std::filesystem::path& path, const std::shared_ptr<const KernelFile>& file);
  explicit Library(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace attune
