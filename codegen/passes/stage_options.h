/// What a user says of a kernel before it is compiled: known extents, storage, and whether stages are fused.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "codegen/targets/element.h"

namespace attune {

/// What is given. `reals` is the storage of the real inputs and outputs that `storage` does not name.
struct Specialisation {
  KnownExtents extents;
  Element reals = Element::f32;
  std::map<std::string, Element, std::less<>> storage;
};

/// Reads "depth=64,heads=8" into `extents`, and "bf16,bias=f32" into `reals` and `storage`.
/// The answer is empty, or a sentence about what cannot be read.
std::string read_extents(std::string_view text, Specialisation& into);
std::string read_types(std::string_view text, Specialisation& into);

struct StageOptions {
  Specialisation specialisation;  ///< known extents and storage
  bool fuse = true;               ///< false: every matmul, softmax and reduction is a stage of its own
};

}  // namespace attune
