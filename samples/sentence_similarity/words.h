/// Splits text into the words that BERT's uncased tokenizer looks up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace sentence_similarity {

/// The words and punctuation marks of a UTF-8 text in order: lower case, without accents and control characters, split at
/// blanks, at each punctuation mark and at each Chinese character. Refuses bytes that are not UTF-8;
/// the caller adds whose text it is.
attune::Result<std::vector<std::string>> words_of(std::string_view text);

/// How many columns a terminal gives to a UTF-8 text.
std::size_t columns_of(std::string_view text);

/// The bytes of the UTF-8 character that begins at text[0], which is not empty; 1 where none does.
std::size_t character_bytes(std::string_view text);

}  // namespace sentence_similarity
