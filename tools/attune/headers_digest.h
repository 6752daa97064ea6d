/// Which headers of the language a program was built with, and which ones a folder holds: structs of one version cross into code of another wrongly.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attune {

/// Of the headers that this program was built with (tools/headers_digest.cmake).
extern const std::string_view digest_of_own_headers;

/// Of the names and bytes of FOLDER/dsl/**/*.h.
std::string headers_digest(const std::filesystem::path& folder);

/// Empty, or which version the headers in FOLDER/dsl are of instead of this program's.
std::string headers_problem(const std::filesystem::path& folder);

}  // namespace attune
