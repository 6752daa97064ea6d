/// The implementations of the encoder that the program compares.
#pragma once

#include <memory>
#include <vector>

#include "samples/sentence_similarity/encoder.h"
#include "samples/sentence_similarity/model.h"

namespace sentence_similarity {

using Implementations = std::vector<std::unique_ptr<Implementation>>;

/// All of them, at least one; the first is the one whose results are shown. They refer to the model.
attune::Result<Implementations> implementations_of(const Model& model);

}  // namespace sentence_similarity
