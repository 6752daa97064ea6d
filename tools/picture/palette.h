/// The colours of pictures. Every two that stand beside each other differ in lightness, too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace attune {

/// Shares of light from 0 to 1.
struct Colour {
  double red = 0, green = 0, blue = 0;
};

constexpr Colour mixed(const Colour& a, const Colour& b, double share_of_b) {
  const auto mix = [&](double from, double to) { return from + (to - from) * share_of_b; };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}
constexpr Colour of_bytes(int red, int green, int blue) { return {red / 255.0, green / 255.0, blue / 255.0}; }

inline constexpr Colour paper = {1, 1, 1}, ink = {0.13, 0.13, 0.15}, faint_ink = {0.42, 0.42, 0.45}, hair = {0.72, 0.72, 0.75};

/// Blue, sky blue and orange of Okabe and Ito's palette for all kinds of colour vision; orange as a tint.
inline constexpr Colour dark_blue = of_bytes(0, 92, 150), sky_blue = of_bytes(86, 180, 233), light_orange = of_bytes(252, 228, 184),
                        dark_orange = of_bytes(166, 86, 0);

/// From nearly white to dark blue in equal steps of lightness (ColorBrewer's nine blues), for a share from 0 to 1.
inline Colour blues(double share) {
  constexpr std::array<Colour, 9> stops = {of_bytes(247, 251, 255), of_bytes(222, 235, 247), of_bytes(198, 219, 239),
                                           of_bytes(158, 202, 225), of_bytes(107, 174, 214), of_bytes(66, 146, 198),
                                           of_bytes(33, 113, 181),  of_bytes(8, 81, 156),    of_bytes(8, 48, 107)};
  const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  return mixed(stops[lower], stops[lower + 1], place - static_cast<double>(lower));
}

}  // namespace attune
