#include "samples/text_generation/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace text_generation {

void MappedFile::Unmap::operator()(const std::byte* memory) const { munmap(const_cast<std::byte*>(memory), size); }

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const auto problem = [&] { return Error{fmt::format("file '{}': cannot be read: {}", path.string(), std::generic_category().message(errno))}; };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe that nobody writes to would be waited for
  if (file < 0) return problem();
  struct Close {
    int file;
    ~Close() { ::close(file); }
  } const close{file};
  struct stat about {};
  if (fstat(file, &about) != 0) return problem();
  if (!S_ISREG(about.st_mode)) return Error{fmt::format("file '{}': is no regular file", path.string())};
  if (about.st_size == 0) return MappedFile({});  // no memory has no bytes
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) return problem();
  return MappedFile({static_cast<const std::byte*>(memory), size});
}

}  // namespace text_generation
