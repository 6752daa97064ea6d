/// Files of arrays: every input is refused in a sentence, or is an array that has all its elements.
#include "tests/hostile/fuzz_sentence.h"
#include "tools/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  const Result<NpyArray> array = parse_npy({reinterpret_cast<const std::byte*>(data), size}, "input");
  if (!array) {
    require_sentence(array.error().message);
    return 0;
  }
  double elements = 1;
  for (const std::int64_t extent : array->shape) elements *= static_cast<double>(extent);
  if (elements != static_cast<double>(array->size()) || array->data.size() > size) std::abort();
  return 0;
}
