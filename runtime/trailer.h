/// The trailer of a shared kernel file: it tells a whole kernel file from a truncated, damaged or foreign one before it is opened.
/// That is all that it tells: it is a checksum, which whoever changes the file on purpose makes anew. Kernel files are code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "runtime/abi.h"
#include "runtime/result.h"
#include "runtime/sha256.h"

namespace attune {

inline constexpr std::string_view trailer_magic = "ATTUNEK1";

/// The last bytes of a shared kernel file, little-endian, unaligned in the file.
struct Trailer {
  char magic[trailer_magic.size()];
  std::uint32_t format_version;  ///< ATTUNE_ABI_VERSION
  std::uint32_t reserved;        ///< 0
  std::uint64_t length;          ///< of the file before the trailer, in bytes
  std::uint8_t sha256[32];       ///< of those bytes
};

/// What makes a kernel file of a shared object's bytes when it is appended to them.
Trailer trailer_of(std::span<const std::byte> content);

/// Checks that the bytes are a shared object for this machine's architecture and end in a trailer of this runtime's version, and that
/// length and SHA-256 of the content before it are those of the trailer; gives the SHA-256. `path` is for the sentence alone.
Result<Sha256> check_trailer(std::span<const std::byte> file, const std::filesystem::path& path);

}  // namespace attune
