/// Kernel files for tests: what the build made, with the trailer that the compiler would append.
#pragma once

#include <filesystem>

#include "runtime/library.h"
#include "runtime/trailer.h"
#include "tests/folder.h"

namespace attune {

/// A copy of the shared object NAME in the folder, with a trailer.
inline std::filesystem::path kernel_file(const Folder& folder, const std::string& name) {
  const std::filesystem::path path = folder / (name + ".so").c_str();
  std::filesystem::copy_file(std::filesystem::path(KERNEL_FILES) / (name + ".so"), path, std::filesystem::copy_options::overwrite_existing);
  write_trailer(path).value();
  return path;
}

}  // namespace attune
