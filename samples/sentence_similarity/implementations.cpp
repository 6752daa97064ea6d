#include "samples/sentence_similarity/implementations.h"

#include "samples/sentence_similarity/kernels.h"
#include "samples/sentence_similarity/plain.h"

namespace sentence_similarity {

attune::Result<Implementations> implementations_of(const Model& model) {
  Implementations implementations;
  auto kernels = Kernels::of(model);
  if (!kernels) return kernels.error();
  implementations.push_back(std::make_unique<Kernels>(std::move(kernels).value()));
  implementations.push_back(std::make_unique<PlainLoops>(model));
  return implementations;
}

}  // namespace sentence_similarity
