/// The program's own `new`, over malloc. That of mimalloc, a library of C, ends the process where memory is short; this one throws std::bad_alloc, which
/// becomes a sentence.
#include <mimalloc.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

/// Of blocks of more than 16 MB mimalloc asks the system one by one, and gives each back when it is freed: a kernel whose stages store so much would
/// pay for fresh pages at every call, 0.3 ms a MB. Out of address space that is reserved once they come like all others. Without it they are right, only slow.
constexpr std::size_t reserved_bytes = std::size_t{1} << 30;
[[maybe_unused]] const int not_reserved = mi_reserve_os_memory(reserved_bytes, true, false);

void* or_thrown(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* taken(std::size_t bytes) { return or_thrown(std::malloc(bytes == 0 ? 1 : bytes)); }

void* taken(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  if (bytes > SIZE_MAX - step) throw std::bad_alloc();
  return or_thrown(std::aligned_alloc(step, bytes == 0 ? step : (bytes + step - 1) / step * step));
}

}  // namespace

// The forms that take std::nothrow stay those of mimalloc, which give null.
void* operator new(std::size_t bytes) { return taken(bytes); }
void* operator new[](std::size_t bytes) { return taken(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return taken(bytes, alignment); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return taken(bytes, alignment); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
