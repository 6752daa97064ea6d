/// What is wrong with a kernel file, in one sentence that names it.
#pragma once

#include <filesystem>
#include <string_view>

#include "runtime/result.h"
#include "runtime/words.h"

namespace attune {

inline Error wrong_file(const std::filesystem::path& path, std::string_view what) { return {words("kernel file '", path.string(), "': ", what)}; }

}  // namespace attune
