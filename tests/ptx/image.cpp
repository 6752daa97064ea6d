#include "tests/ptx/image.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string_view>

#include "tests/ptx/target.h"

namespace attune::ptx {
namespace {

struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // behind this
};
struct FatEntry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // of the payload, behind the header
};
constexpr std::uint32_t fat_magic = 0xba55ed50;
constexpr std::uint16_t kind_ptx = 1, kind_machine_code = 2;

void each_entry(const void* image, const std::function<void(std::uint16_t kind, std::string_view payload)>& visit) {
  FatHeader header{};
  std::memcpy(&header, image, sizeof header);
  const char* place = static_cast<const char*>(image) + header.header_bytes;
  for (const char* end = place + header.bytes; place < end;) {
    FatEntry entry{};
    std::memcpy(&entry, place, sizeof entry);
    if (entry.header_bytes < sizeof entry) throw std::runtime_error("an image of a fat binary has a header of " + std::to_string(entry.header_bytes) + " bytes");
    visit(entry.kind, {place + entry.header_bytes, entry.bytes});
    place += entry.header_bytes + entry.bytes;
  }
}

}  // namespace

bool is_fat_binary(const void* image) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  return magic == fat_magic;
}

std::string ptx_of_image(const void* image, int capability) {
  if (!is_fat_binary(image)) return static_cast<const char*>(image);
  std::string ptx;
  int texts = 0;
  each_entry(image, [&](std::uint16_t kind, std::string_view payload) {
    if (kind != kind_ptx || payload.find(".version") == std::string_view::npos) return;
    ++texts;
    const std::string_view text = payload.substr(0, payload.find('\0'));
    const auto rank = [](const Target& target) { return 2 * target.capability + (target.is_exact ? 1 : 0); };
    if (const Target target = target_of(text); target.fits(capability) && (ptx.empty() || rank(target) > rank(target_of(ptx)))) ptx = text;
  });
  if (texts == 0) throw std::runtime_error("a fat binary has no PTX that is text");
  return ptx;
}

int machine_codes_of_image(const void* image) {
  int count = 0;
  if (is_fat_binary(image)) each_entry(image, [&](std::uint16_t kind, std::string_view) { count += kind == kind_machine_code ? 1 : 0; });
  return count;
}

}  // namespace attune::ptx
