/// An argument of the kernel.
#pragma once

#include "dsl/op.h"

namespace attune {

struct Input {
  Name label;
  Type type;

  static constexpr std::string_view name = "input", meaning = "the argument `label` of the call";
  static constexpr int arity = 0;
  static constexpr auto fields = std::tuple{Field{"label", &Input::label}};

  /// The declared type. Refuses a dim that is named twice.
  constexpr Checked infer(std::span<const Type>) const {
    for (int i = 0; i < type.dims.size(); ++i)
      if (type.dims.position(type.dims[i]) != i)
        return refuse(type, label, " names ", type.dims[i], " twice: it is ", type.dims,
                      "; a second role of a dim is a second name (rename)");
    return {type, {}};
  }
};

}  // namespace attune
