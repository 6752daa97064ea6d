/// The fields of an operation or a variant as a dictionary of attributes, and back.
#pragma once

#include <fmt/format.h>

#include "codegen/dialect/codec.h"

namespace attune {

/// The fields of an operation or a variant by name.
template <class Owner>
mlir::DictionaryAttr encode_fields(const Owner& owner, mlir::MLIRContext* c) {
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  std::apply(
      [&](const auto&... f) {
        (attributes.emplace_back(mlir::StringAttr::get(c, llvm::StringRef(f.name)),
                                 Codec<std::decay_t<decltype(owner.*f.member)>>::encode(c, owner.*f.member)),
         ...);
      },
      Owner::fields);
  return mlir::DictionaryAttr::get(c, attributes);
}

/// Sets the fields from the attributes of the same names. The answer is empty, or says which one is missing or of another form.
template <class Owner>
std::string decode_fields(mlir::DictionaryAttr attributes, Owner& owner) {
  std::string problem;
  const auto decode = [&](const auto& f) {
    using T = std::decay_t<decltype(owner.*f.member)>;
    const mlir::Attribute attribute = attributes.get(llvm::StringRef(f.name));
    if (const std::optional<T> value = Codec<T>::decode(attribute))
      owner.*f.member = *value;
    else if (problem.empty())
      problem = fmt::format("field '{}' is {}; it must be {}", f.name, attribute ? "of another form" : "missing", Codec<T>::form);
  };
  std::apply([&](const auto&... f) { (decode(f), ...); }, Owner::fields);
  return problem;
}

}  // namespace attune
