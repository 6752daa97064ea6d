/// What a user says of a kernel before it is compiled: known extents, storage, and whether stages are fused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/targets/element.h"

namespace attune {

/// What is given. `reals` is the storage of the real inputs and outputs that `storage` does not name. `products` is f32, or bf16 if kernels may round the
/// operands of products (Matmul) to it.
struct Specialisation {
  KnownExtents extents;
  Element reals = Element::f32;
  std::map<std::string, Element, std::less<>> storage;
  Element products = Element::f32;
};

/// Reads "depth=64,heads=8" into `extents`, and "bf16,bias=f32,products=bf16" into `reals`, `storage` and `products`.
/// The answer is empty, or a sentence about what cannot be read.
std::string read_extents(std::string_view text, Specialisation& into);
std::string read_types(std::string_view text, Specialisation& into);

/// What operands of products may be rounded to, as the runtime calls it; nothing where they may not.
inline std::optional<attune_storage> rounded_products(const Specialisation& given) {
  return given.products == Element::f32 ? std::nullopt : std::optional(stored_as(given.products));
}

struct StageOptions {
  Specialisation specialisation;  ///< known extents and storage
  bool fuse = true;               ///< false: every matmul, softmax and reduction is a stage of its own
};

}  // namespace attune
