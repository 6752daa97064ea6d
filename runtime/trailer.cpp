#include "runtime/trailer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "runtime/abi.h"
#include "runtime/words.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

static_assert(std::endian::native == std::endian::little, "the trailer is read and written as it lies in memory");
static_assert(sizeof(attune_trailer_v1) == 56);
constexpr std::size_t trailer_bytes = sizeof(attune_trailer_v1);
constexpr std::string_view damaged_advice = "; compile or copy it again";

Error wrong(const fs::path& path, const std::string& what) { return {words("kernel file '", path.string(), "': ", what)}; }

struct OpenFile {
  std::ifstream stream;
  std::size_t bytes = 0;
};

Result<OpenFile> open_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error) return wrong(path, words("cannot be read: ", error.message()));
  if (!fs::is_regular_file(status)) return wrong(path, "is a folder or a device; expected a file that `attune compile --shared` wrote");
  OpenFile file{std::ifstream(path, std::ios::binary | std::ios::ate)};
  const std::streamoff end = file.stream.tellg();
  if (!file.stream || end < 0) return wrong(path, "cannot be read: permission denied");
  file.bytes = static_cast<std::size_t>(end);
  return file;
}

/// `count` bytes from `first` on; fewer if the file has become shorter since it was opened.
Bytes read(OpenFile& file, std::size_t first, std::size_t count) {
  Bytes bytes(count);
  file.stream.clear();
  file.stream.seekg(static_cast<std::streamoff>(first));
  file.stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.stream.gcount()));
  return bytes;
}

/// The last bytes as a trailer, if they begin with its magic.
std::optional<attune_trailer_v1> read_trailer(OpenFile& file) {
  attune_trailer_v1 trailer;
  if (file.bytes < trailer_bytes) return std::nullopt;
  const Bytes bytes = read(file, file.bytes - trailer_bytes, trailer_bytes);
  if (bytes.size() < trailer_bytes) return std::nullopt;
  std::memcpy(&trailer, bytes.data(), trailer_bytes);
  if (std::memcmp(trailer.magic, ATTUNE_TRAILER_MAGIC, sizeof trailer.magic) != 0) return std::nullopt;
  return trailer;
}

/// The ELF header's machine in words; empty if the bytes are no ELF file.
std::string architecture(const Bytes& bytes) {
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

Result<void> write_whole(const fs::path& path, const Bytes& bytes, const attune_trailer_v1& trailer) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.write(reinterpret_cast<const char*>(&trailer), trailer_bytes);
  file.close();
  if (!file) return wrong(path, "cannot be written; is the disk full or the folder read-only?");
  return {};
}

}  // namespace

attune_trailer_v1 trailer_of(std::span<const std::byte> content) {
  attune_trailer_v1 trailer{};
  std::memcpy(trailer.magic, ATTUNE_TRAILER_MAGIC, sizeof trailer.magic);
  trailer.format_version = ATTUNE_ABI_VERSION;
  trailer.length = content.size();
  const Sha256 hash = sha256(content);
  std::copy(hash.begin(), hash.end(), trailer.sha256);
  return trailer;
}

Result<void> write_trailer(const fs::path& path) {
  Result<OpenFile> file = open_file(path);
  if (!file) return file.error();
  if (read_trailer(*file)) return wrong(path, "has a trailer already");
  const Bytes bytes = read(*file, 0, file->bytes);
  const attune_trailer_v1 trailer = trailer_of(bytes);

  static std::atomic<unsigned> count{0};
  fs::path finished = path;
  finished += words(".", getpid(), ".", count++);
  std::error_code error;
  Result<void> written = write_whole(finished, bytes, trailer);
  if (written) fs::permissions(finished, fs::status(path, error).permissions(), error);
  if (written && !error) fs::rename(finished, path, error);
  if (error) written = wrong(path, words("cannot be replaced: ", error.message()));
  if (!written) fs::remove(finished, error);
  return written;
}

Result<Sha256> check_trailer(const fs::path& path) {
  Result<OpenFile> file = open_file(path);
  if (!file) return file.error();
  const std::optional<attune_trailer_v1> trailer = read_trailer(*file);
  if (!trailer)
    return wrong(path, words("is truncated or no kernel file: its last ", trailer_bytes,
                             " bytes are not Attune's trailer; expected a file that `attune compile --shared` wrote"));
  if (trailer->format_version != ATTUNE_ABI_VERSION)
    return wrong(path, words("is of format version ", trailer->format_version, "; this runtime reads version ", ATTUNE_ABI_VERSION,
                             ": compile the kernel again, or use the runtime it was compiled for"));
  const std::size_t length = file->bytes - trailer_bytes;
  if (trailer->length != length)
    return wrong(path, words("is damaged: ", length, " bytes stand before its trailer, which says ", trailer->length, damaged_advice));
  if (trailer->reserved != 0)
    return wrong(path, words("is damaged: the trailer's reserved field is ", trailer->reserved, ", not 0", damaged_advice));
  const Bytes bytes = read(*file, 0, length);
  Sha256 expected{};
  std::copy(std::begin(trailer->sha256), std::end(trailer->sha256), expected.begin());
  const Sha256 hash = sha256(bytes);
  if (hash != expected)
    return wrong(
        path, words("is damaged: the SHA-256 of its content is ", text_of(hash), ", its trailer says ", text_of(expected), damaged_advice));
  const std::string machine = architecture(bytes);
  if (machine != own_architecture)
    return wrong(
        path, words("holds ", machine.empty() ? "no machine code" : words("code for ", machine), "; this machine is ", own_architecture));
  return hash;
}

}  // namespace attune
