/// How elements are stored, and extents by name: what is said of tensors without MLIR.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "dsl/type.h"
#include "runtime/storage.h"

namespace attune {

/// How an element is stored: a storage of the runtime that graphs have. `real`: not chosen yet (the pass specialise chooses).
enum class Element : std::int8_t {
  real = -1,
  f32 = attune_f32,
  bf16 = attune_bf16,
  f16 = attune_f16,
  i32 = attune_i32,
  i64 = attune_i64,
  i8 = attune_i8,
  u8 = attune_u8,
  boolean = attune_boolean
};

/// All of them, in the order in which sentences name them.
inline constexpr std::array all_elements = {Element::real, Element::f32, Element::bf16, Element::f16, Element::i32,
                                        Element::i64,  Element::i8,  Element::u8,   Element::boolean};

/// What the runtime calls it; a real that nobody chose a storage for is computed as f32.
constexpr attune_storage stored_as(Element element) { return element == Element::real ? attune_f32 : static_cast<attune_storage>(element); }
constexpr std::string_view name_of(Element element) { return element == Element::real ? "real" : name_of(stored_as(element)); }
/// What the language calls it: every storage of a real is a real, and others have the kind of the same name.
constexpr Kind kind_of(Element element) {
  for (std::size_t kind = 0; kind < kind_names.size(); ++kind)
    if (kind_names[kind] == name_of(element)) return static_cast<Kind>(kind);
  return Kind::real;
}
/// `reals` for a real; otherwise the element of the same name.
constexpr Element element_of(Kind kind, Element reals = Element::real) {
  for (const Element element : all_elements)
    if (kind != Kind::real && name_of(kind) == name_of(element)) return element;
  return reals;
}

/// The storage of reals that a text names, or `real`.
constexpr Element storage_of_reals(std::string_view text) {
  for (const Element element : all_elements)
    if (kind_of(element) == Kind::real && name_of(element) == text) return element;
  return Element::real;
}
/// "f32, bf16, f16"
inline std::string names_of_real_storages() {
  std::string names;
  for (const Element element : all_elements)
    if (element != Element::real && kind_of(element) == Kind::real) names += (names.empty() ? "" : ", ") + std::string(name_of(element));
  return names;
}

/// The extents that are known before a kernel runs, by the name of the dim.
using KnownExtents = std::map<std::string, std::int64_t, std::less<>>;

}  // namespace attune
