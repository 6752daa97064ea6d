#include "runtime/trailer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "runtime/file_error.h"
#include "runtime/words.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "the trailer is read and written as it lies in memory");
static_assert(sizeof(Trailer) == 56);
constexpr std::size_t trailer_bytes = sizeof(Trailer);
constexpr std::string_view damaged_advice = "; compile or copy it again";

/// The last bytes as a trailer, if they begin with its magic.
std::optional<Trailer> read_trailer(Bytes file) {
  Trailer trailer;
  if (file.size() < trailer_bytes) return std::nullopt;
  std::memcpy(&trailer, file.last(trailer_bytes).data(), trailer_bytes);
  if (std::memcmp(trailer.magic, trailer_magic.data(), sizeof trailer.magic) != 0) return std::nullopt;
  return trailer;
}

/// The ELF header's machine in words; empty if the bytes are no ELF file.
std::string architecture(Bytes bytes) {
  constexpr std::size_t machine_at = 18;  // e_machine: two bytes, little-endian on what we run on
  constexpr unsigned x86_64 = 62, aarch64 = 183;
  if (bytes.size() < machine_at + 2 || std::memcmp(bytes.data(), "\177ELF", 4) != 0) return {};
  const unsigned machine = std::to_integer<unsigned>(bytes[machine_at]) | std::to_integer<unsigned>(bytes[machine_at + 1]) << 8U;
  if (machine == x86_64) return "x86-64";
  if (machine == aarch64) return "arm64";
  return words("ELF machine ", machine);
}

#if defined(__x86_64__)
constexpr std::string_view own_architecture = "x86-64";
#else
constexpr std::string_view own_architecture = "arm64";
#endif

}  // namespace

Trailer trailer_of(Bytes content) {
  Trailer trailer{};
  std::memcpy(trailer.magic, trailer_magic.data(), sizeof trailer.magic);
  trailer.format_version = ATTUNE_ABI_VERSION;
  trailer.length = content.size();
  const Sha256 hash = sha256(content);
  std::copy(hash.begin(), hash.end(), trailer.sha256);
  return trailer;
}

Result<Sha256> check_trailer(Bytes file, const fs::path& path) {
  const std::optional<Trailer> trailer = read_trailer(file);
  if (!trailer)
    return wrong_file(path, words("is truncated or no kernel file: its last ", trailer_bytes,
                             " bytes are not Attune's trailer; expected a file that `attune compile --shared` wrote"));
  if (trailer->format_version != ATTUNE_ABI_VERSION)
    return wrong_file(path, words("is of format version ", trailer->format_version, "; this runtime reads version ", ATTUNE_ABI_VERSION,
                             ": compile the kernel again, or use the runtime it was compiled for"));
  const std::size_t length = file.size() - trailer_bytes;
  if (trailer->length != length)
    return wrong_file(path, words("is damaged: ", length, " bytes stand before its trailer, which says ", trailer->length, damaged_advice));
  if (trailer->reserved != 0)
    return wrong_file(path, words("is damaged: the trailer's reserved field is ", trailer->reserved, ", not 0", damaged_advice));
  const Bytes bytes = file.first(length);
  Sha256 expected{};
  std::copy(std::begin(trailer->sha256), std::end(trailer->sha256), expected.begin());
  const Sha256 hash = sha256(bytes);
  if (hash != expected)
    return wrong_file(
        path, words("is damaged: the SHA-256 of its content is ", text_of(hash), ", its trailer says ", text_of(expected), damaged_advice));
  const std::string machine = architecture(bytes);
  if (machine != own_architecture)
    return wrong_file(
        path, words("holds ", machine.empty() ? "no machine code" : words("code for ", machine), "; this machine is ", own_architecture));
  return hash;
}

}  // namespace attune
