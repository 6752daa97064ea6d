/// How elements are stored, and extents by name: what is said of tensors without MLIR.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "dsl/type.h"

namespace attune {

/// How an element is stored. `real`: not chosen yet (the pass specialise chooses).
enum class Element { real, f32, bf16, f16, i32, i64, i8, u8, boolean };

inline constexpr std::array<std::string_view, 9> element_names = {"real", "f32", "bf16", "f16", "i32", "i64", "i8", "u8", "boolean"};
constexpr std::string_view name_of(Element element) { return element_names[static_cast<std::size_t>(element)]; }
/// What the language calls it: every storage of a real is a real.
Kind kind_of(Element element);
/// `reals` for a real; otherwise the element of the same name.
Element element_of(Kind kind, Element reals = Element::real);

/// The extents that are known before a kernel runs, by the name of the dim.
using KnownExtents = std::map<std::string, std::int64_t, std::less<>>;

}  // namespace attune
