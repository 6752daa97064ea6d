#include "codegen/halide/rewrites/prefetch_line.h"

namespace attune {

using Halide::Expr;
using Halide::Internal::Call;

Expr prefetch_line(PrefetchInto cache, const Halide::Type& type, const Expr& base, const Expr& offset) {
  if (cache == PrefetchInto::first_level)
    return Halide::cast<std::int32_t>(Call::make(type, Call::prefetch, {base, offset, 1, 1}, Call::Intrinsic));
  const Expr bytes = Halide::cast<std::int64_t>(offset) * type.bytes();
  const Expr address = Halide::reinterpret<std::uint64_t>(base) + Halide::reinterpret<std::uint64_t>(bytes);
  // LLVM's own, which Halide's runtime declares: for reading (0), kept by the second-level cache and those behind it (2), of data (1).
  const Expr line = Call::make(Halide::Int(32), "llvm.prefetch.p0", {Halide::reinterpret(Halide::Handle(), address), 0, 2, 1}, Call::Extern);
  // Of a float: Halide would fold away the addition of an integer zero.
  return Halide::cast<std::int32_t>(Call::make(Halide::Float(32), Call::return_second, {line, 0.f}, Call::Intrinsic));
}

}  // namespace attune
