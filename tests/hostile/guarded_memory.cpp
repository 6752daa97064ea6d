#include "tests/hostile/guarded_memory.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace attune {
namespace {

/// One guarded memory as the handler of faults finds it: it may take no lock and no memory.
struct Entry {
  std::array<char, 64> name;
  const std::byte *room = nullptr, *room_end = nullptr, *data = nullptr, *data_end = nullptr;
};

std::mutex entries_mutex;  // of those who add and remove; the handler only reads, while nobody goes on
std::array<Entry, 1024> entries;
std::array<char, 512> current_call{};
int report_descriptor = -1;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// What nobody may touch at each end: wide, so that an access by far is told of the memory it was meant for and hits no other.
std::size_t guard_bytes() { return 16 * page_bytes(); }

void copy_text(std::span<char> to, const std::string& text) {
  const std::size_t length = std::min(text.size(), to.size() - 1);
  *std::copy_n(text.begin(), length, to.begin()) = 0;
}

/// "reads", "writes" or, where the machine does not say, "touches".
const char* access_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr greg_t write_bit = 2;  // of the page fault's error code
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & write_bit) != 0 ? "writes" : "reads";
#else
  return "touches";
#endif
}

int describe(std::span<char> text, const std::byte* at, const char* access) {
  for (const Entry& entry : entries) {
    if (entry.room == nullptr || at < entry.room - guard_bytes() || at >= entry.room_end + guard_bytes()) continue;
    const char* name = entry.name.data();
    if (at >= entry.data_end)
      return std::snprintf(text.data(), text.size(), "%s: %s %td bytes beyond the end of %s", current_call.data(), access,
                           at - entry.data_end, name);
    if (at < entry.data)
      return std::snprintf(text.data(), text.size(), "%s: %s %td bytes before the first byte of %s", current_call.data(), access,
                           entry.data - at, name);
    return std::snprintf(text.data(), text.size(), "%s: %s byte %td of %s, which is read-only", current_call.data(), access,
                         at - entry.data, name);
  }
  return std::snprintf(text.data(), text.size(), "%s: %s address %p, which is in no guarded memory", current_call.data(), access,
                       static_cast<const void*>(at));
}

void on_fault(int, siginfo_t* info, void* context) {
  std::array<char, 1024> text;
  const int length = describe(text, static_cast<const std::byte*>(info->si_addr), access_of(context));
  const auto bytes = std::min(static_cast<std::size_t>(std::max(length, 0)), text.size() - 1);
  const bool is_written = write(report_descriptor, text.data(), bytes) == static_cast<ssize_t>(bytes);
  _exit(is_written ? 1 : 2);
}

}  // namespace

GuardedMemory::GuardedMemory(const std::string& name, std::size_t bytes, Flush flush, std::size_t alignment, std::size_t slack)
    : bytes_(bytes) {
  const std::size_t page = page_bytes();
  room_bytes_ = (bytes + 2 * (slack + alignment - 1) + page - 1) / page * page;
  void* memory = mmap(nullptr, room_bytes_ + 2 * guard_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  room_ = static_cast<std::byte*>(memory) + guard_bytes();
  if (room_bytes_ > 0 && mprotect(room_, room_bytes_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  const std::size_t slack_before = (slack + alignment - 1) / alignment * alignment;
  data_ = flush == Flush::first ? room_ + slack_before : room_ + (room_bytes_ - slack - bytes) / alignment * alignment;
  const std::scoped_lock lock(entries_mutex);
  const auto entry = std::ranges::find(entries, nullptr, &Entry::room);
  if (entry == entries.end()) return;  // a fault is then told by its address
  copy_text(entry->name, name);
  entry->room_end = room_ + room_bytes_;
  entry->data = data_;
  entry->data_end = data_ + bytes;
  entry->room = room_;
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : room_(std::exchange(other.room_, nullptr)), room_bytes_(other.room_bytes_), data_(other.data_), bytes_(other.bytes_) {}

GuardedMemory::~GuardedMemory() {
  if (room_ == nullptr) return;
  {
    const std::scoped_lock lock(entries_mutex);
    if (const auto entry = std::ranges::find(entries, room_, &Entry::room); entry != entries.end()) entry->room = nullptr;
  }
  munmap(room_ - guard_bytes(), room_bytes_ + 2 * guard_bytes());
}

void GuardedMemory::make_read_only() const {
  if (room_bytes_ > 0 && mprotect(room_, room_bytes_, PROT_READ) != 0) throw std::bad_alloc();
}

void say_before_faults(const std::string& what) { copy_text(current_call, what); }

void report_faults(int descriptor) {
  report_descriptor = descriptor;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace attune
