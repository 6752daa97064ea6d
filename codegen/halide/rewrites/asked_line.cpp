#include "codegen/halide/rewrites/asked_line.h"

namespace attune {

using Halide::Expr;
using Halide::Internal::Call;

Expr asked_line(AskedInto cache, const Halide::Type& type, const Expr& base, const Expr& offset) {
  if (cache == AskedInto::first_level)
    return Halide::cast<std::int32_t>(Call::make(type, Call::prefetch, {base, offset, 1, 1}, Call::Intrinsic));
  const Expr bytes = Halide::cast<std::int64_t>(offset) * type.bytes();
  const Expr address = Halide::reinterpret<std::uint64_t>(base) + Halide::reinterpret<std::uint64_t>(bytes);
  // LLVM's own, which Halide's runtime declares: for reading (0), kept by the second-level cache and those behind it (2), of data (1).
  const Expr ask = Call::make(Halide::Int(32), "llvm.prefetch.p0", {Halide::reinterpret(Halide::Handle(), address), 0, 2, 1}, Call::Extern);
  // A real, as what adds an integer 0 is left out.
  return Halide::cast<std::int32_t>(Call::make(Halide::Float(32), Call::return_second, {ask, 0.f}, Call::Intrinsic));
}

}  // namespace attune
