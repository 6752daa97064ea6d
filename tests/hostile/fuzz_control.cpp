/// What the driver must find: this entry point crashes on a word that one mutation of its corpus makes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (std::string_view(reinterpret_cast<const char*>(data), size).find("1e309") != std::string_view::npos) std::abort();
  return 0;
}
