/// GGUF files: every input is refused in a sentence, or its tensors lie inside it, and a tokenizer that it holds gives back the bytes that it takes.
#include "samples/text_generation/gguf.h"
#include "samples/text_generation/model.h"
#include "samples/text_generation/tokenizer.h"
#include "tests/hostile/fuzz_file.h"
#include "tests/hostile/fuzz_sentence.h"

namespace {

template <class T>
bool is_refused(const attune::Result<T>& result) {
  if (!result) attune::require_sentence(result.error().message);
  return !result;
}

void try_tokenizer(const text_generation::Tokenizer& tokenizer) {
  for (const std::string_view text : {"The capital of France is", "  \n12 of <|im_start|>\xc3\xa9\xe2\x82\xac", "\xff"}) {
    const auto tokens = tokenizer.tokens_of(text);
    if (is_refused(tokens)) continue;
    std::string bytes;
    for (const text_generation::Token token : *tokens) {
      if (token < 0 || token >= tokenizer.vocabulary_size()) std::abort();
      bytes += tokenizer.bytes_of(token);
    }
    if (bytes.size() > text.size()) std::abort();  // bytes without a token are left out
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace text_generation;
  const attune::FuzzFile input(data, size);
  const auto file = Gguf::open(input.path());
  if (is_refused(file)) return 0;
  for (const char* name : {"a", "w"})
    if (const auto tensor = file->tensor(name, {32}); !is_refused(tensor) && tensor->bytes.size() > size) std::abort();
  const auto tokenizer = Tokenizer::of(*file);
  if (!is_refused(tokenizer)) try_tokenizer(*tokenizer);
  if (!is_refused(Model::of(*file, WeightForm::packed))) std::abort();  // no input is as large as the model
  return 0;
}
