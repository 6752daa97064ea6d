/// JSON that a command prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace attune {

/// Indented; bytes that are no UTF-8, as names of files may have, become U+FFFD.
inline std::string text_of_json(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune
