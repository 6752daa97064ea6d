/// Finished files go to their folder together.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/files/scratch_folder.h"

namespace attune {

/// Why a file of one of these names could not stand in the folder: a folder has the name. The problem in words, or nothing.
[[nodiscard]] std::string place_problem(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// Renames the files of these names from the scratch folder, which is in the folder, into it: in this order, all or none. Where one fails
/// the others get back what they replaced. Who is killed in between leaves whole files, of which the first are this call's. The problem in
/// words, or nothing.
[[nodiscard]] std::string publish(const ScratchFolder& scratch, const std::filesystem::path& folder, const std::vector<std::string>& names);

}  // namespace attune
