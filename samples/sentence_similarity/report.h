/// What the program prints and measures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "samples/sentence_similarity/encoder.h"

namespace sentence_similarity {

/// A row a sentence, a column a sentence: the dot products of their embeddings [sentences, model].
std::string similarity_table(const std::vector<std::string>& sentences, std::span<const float> embeddings);

/// A row a token, a column a token, with weights [tokens, tokens].
std::string weights_table(const std::vector<std::string>& tokens, std::span<const float> weights);

/// The largest |values - expected|; NaN if there is one in either. Both have the same size.
double largest_difference(std::span<const float> values, std::span<const double> expected);

/// The median time of encoding the batch, of at least three runs and as many as fit in `seconds`.
attune::Result<double> milliseconds_per_batch(Implementation& implementation, const Batch& batch, double seconds);

}  // namespace sentence_similarity
