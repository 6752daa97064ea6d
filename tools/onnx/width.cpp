#include "tools/onnx/width.h"

#include <cmath>

namespace attune {

Width width_of(const OnnxElement& element) {
  constexpr int bits_of_byte = 8, bits_of_i32 = 32;
  if (element.kind == Kind::real || element.kind == Kind::boolean) return {};
  const int bits = static_cast<int>(element.bytes) * bits_of_byte;
  const bool is_signed = !element.name.starts_with('u');
  return bits < bits_of_i32 || (bits == bits_of_i32 && !is_signed) ? Width{bits, is_signed} : Width{};
}

double wrapped(double x, Width width) {
  if (width.bits == 0) return x;
  const double all = std::ldexp(1, width.bits), least = width.is_signed ? -all / 2 : 0;
  return x - std::floor((x - least) / all) * all;
}

Value wrapped(Value x, Width width) {
  if (width.bits == 0) return x;
  const std::int64_t all = std::int64_t{1} << width.bits, half = width.is_signed ? all / 2 : 0;
  return half == 0 ? mod(x, all) : mod(x + half, all) - half;
}

}  // namespace attune
