#include "tests/ptx/arrays.h"

#include <charconv>

#include "tests/ptx/text.h"

namespace attune::ptx {

std::optional<Array> read_array(std::string_view text) {
  const std::size_t bracket = text.find('['), name = text.find_last_of(blanks, bracket) + 1, align = text.find(".align ");
  if (bracket == std::string_view::npos || text.find(".b8 ") == std::string_view::npos) return std::nullopt;
  Array array;
  array.name = std::string(text.substr(name, bracket - name));
  std::from_chars(text.data() + bracket + 1, text.data() + text.size(), array.bytes);
  if (align != std::string_view::npos) std::from_chars(text.data() + align + 7, text.data() + text.size(), array.alignment);
  return array;
}

}  // namespace attune::ptx
