/// Kernel files for tests: what the build made, with the trailer that the compiler would append.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "runtime/library.h"
#include "runtime/trailer.h"
#include "tests/folder.h"

namespace attune {

/// The bytes with the trailer behind them that the compiler would append.
inline std::string sealed(std::string content) {
  const Trailer trailer = trailer_of(std::as_bytes(std::span(content)));
  return content.append(reinterpret_cast<const char*>(&trailer), sizeof trailer);
}

/// A copy of the shared object NAME in the folder, with a trailer.
inline std::filesystem::path kernel_file(const Folder& folder, const std::string& name) {
  const std::string file = name + ".so";
  return folder.write(file.c_str(), sealed(contents(std::filesystem::path(KERNEL_FILES) / file)));
}

}  // namespace attune
