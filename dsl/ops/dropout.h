/// Random zeros, the same for the same seed on every target at any number of threads.
#pragma once

#include "dsl/ops/matmul.h"
#include "dsl/philox.h"

namespace attune {

struct Dropout {
  double rate = 0;

  static constexpr std::string_view name = "dropout",
                                    meaning = "y = u >= rate ? x / (1 - rate) : 0; u = (w >> 8) * 2^-24, w the word e mod 4 of Philox "
                                              "4x32-10 at counter (e div 4, offset), key seed; e is the element's row-major number in "
                                              "the order of x's dims";
  static constexpr int arity = 3;
  static constexpr auto fields = std::tuple{Field{"rate", &Dropout::rate}};

  /// The type of x. Refuses a rate outside [0, 1), an x that is not real, a seed or offset that is not an i64 scalar.
  constexpr Checked infer(std::span<const Type> in) const {
    const Type type{Kind::real, in[0].dims};
    if (!(rate >= 0 && rate < 1)) return refuse(type, "rate is ", rate, "; it must be at least 0 and below 1");
    if (in[0].kind != Kind::real) return refuse(type, "x is ", in[0].kind, "; it must be real");
    for (std::size_t i = 1; i < 3; ++i)
      if (in[i] != Type{Kind::i64, {}})
        return refuse(type, i == 1 ? "seed" : "offset", " is ", in[i].kind, " ", in[i].dims, "; it must be an i64 scalar");
    return {type, {}};
  }
  /// `rate` in units of 2^-24, the resolution of u.
  constexpr std::uint32_t threshold() const {
    const double scaled = rate * 16777216.0;
    const auto whole = static_cast<std::uint32_t>(scaled);
    return whole + (static_cast<double>(whole) < scaled ? 1 : 0);
  }
  void reference(const DimExtents&, std::span<const Array> in, Array& out) const {
    const auto seed = static_cast<std::uint64_t>(static_cast<std::int64_t>(in[1].data[0]));
    const auto offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(in[2].data[0]));
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
    for (std::size_t e = 0; e < out.data.size(); ++e) {
      const auto words = philox<std::uint32_t>({low(e / 4), high(e / 4), low(offset), high(offset)}, {low(seed), high(seed)});
      out.data[e] = (words[e % 4] >> 8) >= threshold() ? in[0].data[e] / (1 - rate) : 0;
    }
  }
  /// Ones are dropped where x is, which has the order of dims by which elements are numbered.
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return g.out * dropout(select(g.in(0) == g.in(0), 1.0, 1.0), rate, g.in(1), g.in(2)); });
  }
};

constexpr Value dropout(Value x, double rate, Value seed, Value offset, Here at = Here::current()) {
  return call(Dropout{rate}, {x, seed, offset}, at);
}

}  // namespace attune
