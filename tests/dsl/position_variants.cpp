/// The variants that know positions, documents and distances, against plain loops and numbers by hand.
#include <algorithm>

#include "tests/dsl/by_heads.h"

namespace attune {
namespace {

TEST_CASE("sinks sees the first keys and the nearest ones", "[variants]") {
  const Arrays inputs = by_heads(9, 9);
  for (const auto& [sinks, window] : {std::pair{0, 3}, {2, 3}, {20, 1}})
    check_close(out_of(Sinks{.sinks = sinks, .window = window}, inputs),
                expected(inputs, where([&](Size, Size i, Size j) { return j <= i && (j < sinks || i - j < window); })).out, allowed);
  // equal scores: rows 0 to 3 are the means of keys 0; 0, 1; 0, 1, 2; and, key 1 having left the window, of 0, 2, 3
  check_close(out_of(Sinks{.sinks = 1, .window = 2}, equal_scores(1, {8, 4, 12, 16})), array({1, 1, 4, 1}, {8, 6, 8, 12}), allowed);
}

TEST_CASE("prefix_lm sees the prefix from everywhere, and is causal behind it", "[variants]") {
  Arrays inputs = by_heads();
  inputs["prefix"] = array({batch}, {3, 0});
  check_close(out_of(PrefixLm{}, inputs), expected(inputs, where([](Size b, Size i, Size j) { return j < (b == 0 ? 3 : 0) || j <= i; })).out,
              allowed);
  Arrays equal = equal_scores(1, {8, 4, 12, 16});
  equal["prefix"] = array({1}, {2});
  check_close(out_of(PrefixLm{}, equal), array({1, 1, 4, 1}, {6, 6, 8, 10}), allowed);
}

TEST_CASE("document sees the keys of the query's document, in any order of documents", "[variants]") {
  Arrays inputs = by_heads(7, 7);
  inputs["ids"] = array({batch, 7}, {0, 0, 0, 1, 1, 2, 2, 5, 3, 5, 3, 3, 5, -1});
  const auto is_own = [&](Size b, Size i, Size j) { return at(inputs["ids"], {b, i}) == at(inputs["ids"], {b, j}); };
  check_close(out_of(Document{}, inputs), expected(inputs, where(is_own)).out, allowed);
  check_close(out_of(Document{.causal = true}, inputs),
              expected(inputs, where([&](Size b, Size i, Size j) { return j <= i && is_own(b, i, j); })).out, allowed);
  Arrays equal = equal_scores(1, {8, 4, 12, 20});
  equal["ids"] = array({1, 4}, {7, 9, 7, 9});
  check_close(out_of(Document{}, equal), array({1, 1, 4, 1}, {10, 12, 10, 12}), allowed);
  check_close(out_of(Document{.causal = true}, equal), array({1, 1, 4, 1}, {8, 4, 10, 12}), allowed);
}

TEST_CASE("alibi adds the distance times the slope of the head", "[variants]") {
  const Arrays inputs = by_heads();
  const auto bias = [](Size, Size h, Size i, Size j, double s) {
    return s + static_cast<double>(j - i) * std::exp2(-8 * static_cast<double>(h + 1) / heads);
  };
  check_close(out_of(Alibi{}, inputs), expected(inputs, bias).out, allowed);
  check_close(out_of(Alibi{.causal = true}, inputs), expected(inputs, [&](Size b, Size h, Size i, Size j, double s) {
                return j <= i ? bias(b, h, i, j, s) : -infinity;
              }).out, allowed);
  // of 8 heads the first has slope 1/2, the last 1/256: the weight of the second of two keys is 1 / (1 + exp(-slope))
  const Array out = out_of(Alibi{}, equal_scores(8, {0, 1}));
  CHECK(std::abs(at(out, {0, 0, 0, 0}) - 0.6224593312018546) < allowed);
  CHECK(std::abs(at(out, {0, 7, 1, 0}) - 0.5009765612582384) < allowed);
}

TEST_CASE("relative_bias of T5 has a row for each small distance and wider ones behind", "[variants]") {
  // the least distances of the buckets from 8 to 15 of 32, 16 of them on a side, up to 128: T5's own
  const std::vector<Size> least = {8, 12, 16, 23, 32, 46, 64, 91};
  const Size length = 130;
  Arrays inputs = equal_scores(1, std::vector<double>(length, 1));
  Array& bias = inputs["bias"] = plain::random({32, 1}, 18);
  for (Size j = 0; j < length; ++j) at(inputs["v"], {0, 0, j, 0}) = static_cast<double>(j % 7);
  const auto bucket = [&](Size distance) {
    const Size size = std::abs(distance), wide = std::ranges::upper_bound(least, size) - least.begin();
    return (distance > 0 ? 16 : 0) + (size < 8 ? size : 7 + wide);
  };
  const auto change = [&](Size, Size, Size i, Size j, double s) { return s + at(bias, {bucket(j - i), 0}); };
  check_close(out_of(RelativeBias{}, inputs), expected(inputs, change).out, allowed);
}

TEST_CASE("relative_bias of a causal T5 spends all rows on what is before the query", "[variants]") {
  // of 8 buckets up to 16: 0 to 3 one by one, then from 4, 5.66, 8 and 11.3, rounded up
  const std::vector<Size> bucket = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7};
  const Size length = static_cast<Size>(bucket.size());
  Arrays inputs = by_heads(length, length);
  inputs["bias"] = plain::random({8, heads}, 18);
  const auto change = [&](Size, Size h, Size i, Size j, double s) {
    return j <= i ? s + at(inputs["bias"], {bucket[static_cast<std::size_t>(i - j)], h}) : -infinity;
  };
  check_close(out_of(RelativeBias{.buckets = 8, .max_distance = 16, .causal = true}, inputs), expected(inputs, change).out, allowed);
}

TEST_CASE("relative_bias clipped has a row for each distance, the ends standing for all beyond", "[variants]") {
  Arrays inputs = by_heads();
  const RelativeBias variant{.distances = Distances::clipped, .max_distance = 2};
  inputs["bias"] = plain::random({5, heads}, 18);
  const auto change = [&](Size, Size h, Size i, Size j, double s) { return s + at(inputs["bias"], {std::clamp<Size>(j - i, -2, 2) + 2, h}); };
  check_close(out_of(variant, inputs), expected(inputs, change).out, allowed);
  // row 0 is that of distance -2: with a bias of ln 2 there, query 2 weighs keys 0, 1, 2 as 2, 1, 1
  Arrays equal = equal_scores(1, {8, 4, 12});
  equal["bias"] = array({5, 1}, {std::log(2.0), 0, 0, 0, 0});
  check_close(out_of(variant, equal), array({1, 1, 3, 1}, {8, 8, 8}), allowed);
  equal["v"].data = {6, 1, 1};
  check_close(out_of(variant, equal), array({1, 1, 3, 1}, {8. / 3, 8. / 3, 3.5}), allowed);

  Arrays causal = by_heads(5, 5);
  causal["bias"] = plain::random({3, heads}, 18);
  const auto before = [&](Size, Size h, Size i, Size j, double s) {
    return j <= i ? s + at(causal["bias"], {std::max<Size>(j - i, -2) + 2, h}) : -infinity;
  };
  check_close(out_of(RelativeBias{.distances = Distances::clipped, .max_distance = 2, .causal = true}, causal), expected(causal, before).out,
              allowed);
}

TEST_CASE("relative_bias leaves the scores unscaled if T5 itself is wanted", "[variants]") {
  Arrays inputs = by_heads();
  inputs["bias"] = plain::zeros({32, heads});
  const auto unscaled = [](Size, Size, Size, Size, double s) { return s * std::sqrt(static_cast<double>(depth)); };
  check_close(out_of(RelativeBias{.scaled = false}, inputs), expected(inputs, unscaled).out, allowed);
}

TEST_CASE("parameters that make no sense are refused with their values", "[variants]") {
  const auto problem = [](const auto& variant) { return text(build(variant).problem()); };
  CHECK(problem(Sinks{.sinks = -1}) == "sinks is -1; it must be at least 0");
  CHECK(problem(Sinks{.window = 0}) == "window is 0; it must be at least 1");
  CHECK(problem(RelativeBias{.buckets = 30}) == "buckets is 30; it must be a multiple of 4 up to 64");
  CHECK(problem(RelativeBias{.buckets = 66, .causal = true}) == "buckets is 66; it must be a multiple of 2 up to 64");
  CHECK(problem(RelativeBias{.max_distance = 8}) == "max_distance is 8; it must be from 9 to 1048576");
  CHECK(problem(RelativeBias{.buckets = 64, .max_distance = 33, .causal = true}) == "");
}

}  // namespace
}  // namespace attune
