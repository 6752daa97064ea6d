/// Dropout and the random numbers beneath it.
#include <algorithm>

#include "dsl/graph.h"
#include "tests/dsl/values.h"

namespace attune {
namespace {

using Words = std::array<std::uint32_t, 4>;

Array dropped(std::int64_t size, double rate, double seed, double offset) {
  const Arrays inputs = {
      {"x", array({size}, std::vector<double>(static_cast<std::size_t>(size), 3))}, {"seed", scalar(seed)}, {"offset", scalar(offset)}};
  return result_of(inputs, [rate](Graph& g) {
    const Dim rows = g.dim("rows");
    const Value seed_of = g.input("seed", {}, Kind::i64), offset_of = g.input("offset", {}, Kind::i64);
    g.output("out", dropout(g.input("x", {rows}), rate, seed_of, offset_of), {rows});
  });
}

}  // namespace

TEST_CASE("Philox 4x32-10 gives the known answers of Random123", "[dropout]") {
  CHECK(philox<std::uint32_t>({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox<std::uint32_t>({ones, ones, ones, ones}, {ones, ones}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  // the digits of pi
  CHECK(philox<std::uint32_t>({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("dropout keeps the elements that its formula says, divided by 1 - rate", "[dropout]") {
  const double rate = 0.25, seed = 1234567890123, offset = -5;  // a negative offset is its bits
  const Array got = dropped(11, rate, seed, offset);
  const auto bits = [](double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
  for (std::uint32_t e = 0; e < 11; ++e) {
    const Words words = philox<std::uint32_t>({e / 4, 0, static_cast<std::uint32_t>(bits(offset)), static_cast<std::uint32_t>(bits(offset) >> 32)},
                                              {static_cast<std::uint32_t>(bits(seed)), static_cast<std::uint32_t>(bits(seed) >> 32)});
    const double u = (words[e % 4] >> 8) / 16777216.0;
    CHECK(got.data[e] == (u >= rate ? 4.0 : 0.0));
  }
}

TEST_CASE("dropout drops the stated share", "[dropout]") {
  const std::int64_t size = 100000;
  for (const double rate : {0.1, 0.5, 0.9}) {
    double kept = 0;
    for (const double x : dropped(size, rate, 7, 0).data) kept += x != 0;
    const double deviation = std::sqrt(rate * (1 - rate) / static_cast<double>(size));
    INFO("rate " << rate << ": kept " << kept << " of " << size);
    CHECK(std::abs(kept / static_cast<double>(size) - (1 - rate)) < 5 * deviation);
  }
}

TEST_CASE("dropout is the same for the same seed and offset, and another for others", "[dropout]") {
  const Array first = dropped(1000, 0.5, 7, 3);
  CHECK(dropped(1000, 0.5, 7, 3).data == first.data);
  const auto equal_share = [&](const Array& other) {
    double equal = 0;
    for (std::size_t i = 0; i < first.data.size(); ++i) equal += first.data[i] == other.data[i];
    return equal / 1000;
  };
  for (const Array& other : {dropped(1000, 0.5, 8, 3), dropped(1000, 0.5, 7, 4), dropped(1000, 0.5, 7 + 4294967296, 3)})
    CHECK(std::abs(equal_share(other) - 0.5) < 5 * 0.5 / std::sqrt(1000));  // independent masks agree in half the places
}

TEST_CASE("dropout of rate 0 changes nothing", "[dropout]") {
  for (const double x : dropped(100, 0, 7, 0).data) REQUIRE(x == 3);
}

TEST_CASE("dropout drops a NaN as any other element", "[dropout]") {
  const Arrays inputs = {{"x", array({64}, std::vector<double>(64, quiet_nan))}, {"seed", scalar(1)}, {"offset", scalar(0)}};
  const Array got = result_of(inputs, [](Graph& g) {
    const Dim rows = g.dim("rows");
    g.output("out", dropout(g.input("x", {rows}), 0.5, g.input("seed", {}, Kind::i64), g.input("offset", {}, Kind::i64)), {rows});
  });
  const auto zeros = std::count(got.data.begin(), got.data.end(), 0.0);
  CHECK(zeros > 10);
  CHECK(zeros < 54);
}

}  // namespace attune
