/// The trailer of a shared kernel file: it tells a whole kernel file from a truncated, damaged or foreign one before it is opened.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "runtime/abi.h"
#include "runtime/result.h"
#include "runtime/sha256.h"

namespace attune {

/// What makes a kernel file of a shared object's bytes when it is appended to them.
attune_trailer_v1 trailer_of(std::span<const std::byte> content);

/// Appends the trailer to a shared object. The file is replaced by renaming a finished copy: nobody ever sees half of one.
/// Refuses what is not a regular file or has a trailer.
Result<void> write_trailer(const std::filesystem::path& path);

/// Checks that the file is a shared object for this machine's architecture that ends in a trailer of this runtime's version,
/// and that length and SHA-256 of its content are those of the trailer; gives the SHA-256. Nothing of the file runs.
Result<Sha256> check_trailer(const std::filesystem::path& path);

}  // namespace attune
