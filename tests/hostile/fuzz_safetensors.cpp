/// Files of weights as sentence models have them: every input is refused in a sentence, or its tensors have as many elements as their shapes say.
#include "samples/sentence_similarity/safetensors.h"
#include "tests/hostile/fuzz_file.h"
#include "tests/hostile/fuzz_sentence.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sentence_similarity;
  const attune::FuzzFile input(data, size);
  auto file = Safetensors::open(input.path());
  if (!file) {
    attune::require_sentence(file.error().message);
    return 0;
  }
  const auto check = [](const auto& elements, std::size_t count) {
    if (!elements) attune::require_sentence(elements.error().message);
    else if (elements->size() != count) std::abort();
  };
  check(file->read<float>("a", {2, 3}), 6);
  check(file->read<std::int32_t>("b", {4}), 4);
  check(file->read<double>("c", {}), 1);
  return 0;
}
