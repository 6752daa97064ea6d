/// A conversation as the model was trained on it.
#pragma once

#include <string>
#include <string_view>

namespace text_generation {

inline constexpr std::string_view default_system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

/// What is read before the answer to a message: <|im_start|>role, the text, <|im_end|> for each message, then the beginning of the assistant's.
/// In front of the first message stands what the assistant is told of itself, in front of the others the end of the answer before.
inline std::string turn_of(std::string_view message, bool is_first, std::string_view system = default_system) {
  std::string turn = is_first ? "<|im_start|>system\n" + std::string(system) + "<|im_end|>\n" : "<|im_end|>\n";
  return turn + "<|im_start|>user\n" + std::string(message) + "<|im_end|>\n<|im_start|>assistant\n";
}

}  // namespace text_generation
