#include "runtime/sealed_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/file_error.h"
#include "runtime/words.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

Error unread(const fs::path& path) { return wrong_file(path, words("cannot be read: ", std::strerror(errno))); }
Error uncopied(const fs::path& path, const std::string& why) { return wrong_file(path, words("cannot be copied into memory: ", why)); }

constexpr std::size_t most_bytes = std::size_t{1} << 30U;  // kernel files have some megabytes: what has more is taken for something else

struct Descriptor {
  int number = -1;
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

bool write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Copies `size` bytes of `from`.
Result<void> copy(const fs::path& path, int from, int to, std::size_t size) {
  std::array<char, 65536> chunk;
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = read(from, chunk.data(), std::min(chunk.size(), size - done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unread(path);
    if (count == 0) return wrong_file(path, words("was cut off while it was being read: after ", done, " of ", size, " bytes; open it again"));
    if (!write_all(to, chunk.data(), static_cast<std::size_t>(count))) return uncopied(path, std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return {};
}

/// An empty memory file; debuggers and profilers see it as memfd:NAME. It needs no right to be executed as a program is.
int memory_file(const fs::path& path) {
  constexpr unsigned noexec_seal = 8;   // MFD_NOEXEC_SEAL, of Linux 6.3; the headers may be older, and so may the kernel
  constexpr std::size_t longest = 249;  // more the kernel does not take
  const std::string name = path.filename().string().substr(0, longest);
  const int file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | noexec_seal);
  return file >= 0 || errno != EINVAL ? file : memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/// What speaks against so large a copy. The limit of file sizes counts for memory files too, and who passes it gets a signal that ends the
/// program.
std::string limit_problem(std::size_t bytes) {
  if (bytes > most_bytes) return words("it has ", bytes, " bytes; kernel files have at most ", most_bytes);
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return {};
  return words("it has ", bytes, " bytes; the limit of file sizes (RLIMIT_FSIZE) is ", limit.rlim_cur);
}

}  // namespace

Result<SealedCopy> SealedCopy::of(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));  // a pipe without a writer would be waited for
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0) return unread(path);
  if (!S_ISREG(status.st_mode)) return wrong_file(path, "is a folder or a device; expected a file that `attune compile --shared` wrote");
  SealedCopy made;
  made.identity_ = {status.st_dev, status.st_ino};
  made.size_ = static_cast<std::size_t>(status.st_size);
  if (const std::string problem = limit_problem(made.size_); !problem.empty()) return uncopied(path, problem);
  made.memory_ = memory_file(path);
  if (made.memory_ < 0) return uncopied(path, words("memfd_create: ", std::strerror(errno)));
  if (const Result<void> copied = copy(path, file.number, made.memory_, made.size_); !copied) return copied.error();
  if (fcntl(made.memory_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return uncopied(path, words("F_ADD_SEALS: ", std::strerror(errno)));
  if (made.size_ == 0) return made;
  void* data = mmap(nullptr, made.size_, PROT_READ, MAP_PRIVATE, made.memory_, 0);
  if (data == MAP_FAILED) return uncopied(path, words("mmap: ", std::strerror(errno)));
  made.data_ = static_cast<const std::byte*>(data);
  return made;
}

SealedCopy::SealedCopy(SealedCopy&& other) noexcept { *this = std::move(other); }

SealedCopy& SealedCopy::operator=(SealedCopy&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(identity_, other.identity_);
  return *this;
}

SealedCopy::~SealedCopy() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
  if (memory_ >= 0) close(memory_);
}

std::string SealedCopy::path() const { return words("/proc/self/fd/", memory_); }

bool SealedCopy::rename() {
  const int other = fcntl(memory_, F_DUPFD_CLOEXEC, memory_ + 1);
  if (other < 0) return false;
  close(memory_);
  memory_ = other;
  return true;
}

}  // namespace attune
