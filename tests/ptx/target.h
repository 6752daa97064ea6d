/// What PTX is compiled for, and which devices take it.
#pragma once

#include <charconv>
#include <string_view>

namespace attune::ptx {

/// "sm_90a" is of capability 9.0 alone, "sm_80" of 8.0 and later ones.
struct Target {
  int capability = 0;  ///< 80 for 8.0
  bool is_exact = false;
  bool fits(int device) const { return is_exact ? device == capability : device >= capability; }
};

/// Of the text of a module; of capability 0 if it says none.
inline Target target_of(std::string_view ptx) {
  constexpr std::string_view begin = "\n.target sm_";
  Target target;
  const std::size_t place = ptx.find(begin);
  if (place == std::string_view::npos) return target;
  const char* const last = ptx.data() + ptx.size();
  const auto [end, error] = std::from_chars(ptx.data() + place + begin.size(), last, target.capability);
  target.is_exact = error == std::errc() && end != last && *end == 'a';
  return target;
}

}  // namespace attune::ptx
