#include "dsl/interval.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "dsl/interval_functions.h"
#include "tests/numbers/masks.h"
#include "tests/numbers/tree_value.h"

namespace attune {
namespace {

using Numbers = Interval<double>;
using Truth = Interval<bool>;

Numbers point(double x) { return Numbers::point(x); }
double itself(double x) { return x; }

/// Of a block of queries x keys: whether all and whether some pairs are visible, one by one.
template <class Mask>
Truth counted(Numbers queries, Numbers keys) {
  Truth truth{true, false};
  for (double i = queries.low; i <= queries.high; ++i)
    for (double j = keys.low; j <= keys.high; ++j) {
      const bool is_visible = Mask::template visible<double>(i, j, itself);
      truth = {truth.low && is_visible, truth.high || is_visible};
    }
  return truth;
}

/// Blocks of 1 to 96 queries and 1 to 64 keys, more of them near the diagonal than far off.
std::vector<std::pair<Numbers, Numbers>> random_blocks(std::size_t count) {
  std::mt19937 random(11);
  const auto below = [&](unsigned limit) { return static_cast<double>(random() % limit); };
  std::vector<std::pair<Numbers, Numbers>> blocks(count);
  for (auto& [queries, keys] : blocks) {
    const double i = below(600), j = random() % 2 ? below(600) : std::max(0.0, i - 100 + below(200));
    queries = {i, i + below(96)}, keys = {j, j + below(64)};
  }
  return blocks;
}

static_assert(Causal::visible(Numbers{96, 191}, Numbers{0, 63}, Numbers::point).low, "a block left of the diagonal is wholly visible");
static_assert(!Causal::visible(Numbers{0, 95}, Numbers{96, 159}, Numbers::point).high, "a block right of the diagonal is hidden");

/// NaN is a member where nothing is known; an end that is NaN bounds nothing.
bool is_member(double x, Numbers in) { return std::isnan(x) ? std::isnan(in.low) && std::isnan(in.high) : !(x < in.low) && !(x > in.high); }
bool is_member(bool x, Truth in) { return x ? in.high : !in.low; }

/// Whether no number on the way is infinite: intervals tell of the others.
bool has_no_infinity(const Tree& tree, const Evaluation<double, bool>& evaluation) {
  for (std::size_t at = 0; at < tree.nodes.size(); ++at)
    if (tree.nodes[at].operation < Operation::less && std::isinf(evaluation.number(static_cast<int>(at)))) return false;
  return true;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("block predicates of masks are sound, and exact where promised", "[interval]", Masks) {
  int careful = 0;
  for (const auto& [queries, keys] : random_blocks(2000)) {
    const Truth got = TestType::visible(queries, keys, point), exact = counted<TestType>(queries, keys);
    INFO(TestType::name << ": queries " << queries.low << ".." << queries.high << ", keys " << keys.low << ".." << keys.high << ": got "
                        << got.low << got.high << ", exact " << exact.low << exact.high);
    CHECK((!got.low || exact.low));
    CHECK((got.high || !exact.high));
    if (TestType::is_exact) CHECK((got.low == exact.low && got.high == exact.high));
    careful += got.low != exact.low || got.high != exact.high;
  }
  INFO(TestType::name << ": judged too carefully: " << careful << " of 2000 blocks");
  CHECK(careful <= 2000 * TestType::allowed_share);
}

TEST_CASE("random trees of operations on intervals hold the values at every member", "[interval]") {
  int compared = 0;
  for (bool is_real : {false, true})
    for (std::uint32_t seed = 0; seed < 4000; ++seed) {
      TreeMaker maker(seed, 3, is_real);
      const bool is_number = maker.below(2) == 0;
      const Tree tree = is_number ? maker.number(4) : maker.truth(4);
      const double unit = is_real ? 0.37 : 1;
      std::array<Numbers, 3> box;
      for (Numbers& side : box) {
        side.low = unit * (maker.below(61) - 30);
        side.high = side.low + unit * (maker.below(3) == 0 ? 0 : maker.below(40));
      }
      const Evaluation<Numbers, Truth> all(tree, box, point);
      const Numbers numbers = is_number ? all.number() : Numbers{};
      const Truth truth = is_number ? Truth{} : all.truth();
      for (int sample = 0; sample < 40; ++sample) {
        std::array<double, 3> leaves;
        for (std::size_t k = 0; k < leaves.size(); ++k)
          leaves[k] = std::min(box[k].high, box[k].low + unit * maker.below(static_cast<int>((box[k].high - box[k].low) / unit + 0.5) + 1));
        const Evaluation<double, bool> one(tree, leaves, itself);
        if (!has_no_infinity(tree, one)) continue;
        ++compared;
        INFO("seed " << seed << (is_real ? ", reals" : ", integers") << ", leaves " << leaves[0] << " " << leaves[1] << " " << leaves[2]);
        if (is_number) {
          INFO("got " << one.number() << " outside of " << numbers.low << " to " << numbers.high);
          REQUIRE(is_member(one.number(), numbers));
        } else {
          REQUIRE(is_member(one.truth(), truth));
        }
      }
    }
  CHECK(compared > 200000);  // of 320000
}

}  // namespace attune
