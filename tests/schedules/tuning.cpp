#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "tools/tune/limit.h"
#include "tools/tune/race.h"
#include "tools/tune/search.h"

namespace attune {
namespace {

/// A bowl over four parameters whose bottom is at (8, 64, 4, 2), where rows must divide tiles.
Space bowl_space() {
  return {{{"tile", {1, 2, 4, 8, 16, 32}, 0}, {"keys", {16, 32, 64, 128, 256}, 0}, {"rows", {1, 2, 4, 8}, 0}, {"vectors", {1, 2, 4}, 0}},
          [](const std::vector<Parameter>& values) {
            return value_of(values, "tile") % value_of(values, "rows") == 0 ? std::string() : std::string("rows do not divide tile");
          }};
}
const Point bottom = {8, 64, 4, 2};

double cost(const Point& point) {
  double sum = 1;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double octaves = std::log2(static_cast<double>(point[i]) / static_cast<double>(bottom[i]));
    sum += 0.08 * octaves * octaves;
  }
  return sum;
}

/// Times with noise of 5 %, of which one in eight is three times as long: a neighbour woke up.
class NoisyClock {
 public:
  explicit NoisyClock(unsigned seed) : random_(seed) {}
  double time(double cost) {
    const double noise = std::exp(0.05 * std::normal_distribution<>()(random_));
    return cost * noise * (random_() % 8 == 0 ? 3 : 1);
  }

 private:
  std::mt19937 random_;
};

/// What a race of the two on the clock gives.
Try raced(NoisyClock& clock, const Point& candidate, const Point& incumbent) {
  Race race;
  while (race.verdict() == Verdict::undecided) race.add(clock.time(cost(candidate)) / clock.time(cost(incumbent)));
  return {candidate, race.verdict() == Verdict::faster ? Outcome::won : Outcome::lost, race.median()};
}

bool never() { return false; }
void nothing() {}

}  // namespace

TEST_CASE("a search finds the bottom of a noisy bowl", "[tuning]") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    NoisyClock clock(seed);
    Search search(bowl_space(), {1, 16, 1, 1}, seed);
    run_search(search, [&](const Point& candidate, const Point& incumbent) { return raced(clock, candidate, incumbent); }, never, nothing);
    CAPTURE(seed, search.incumbent());
    CHECK(cost(search.incumbent()) <= 1.081);  // one octave away in one parameter at most
    CHECK(search.tries().size() < 200);        // of 270 legal points
  }
}

TEST_CASE("a search proposes legal points once", "[tuning]") {
  const Space space = bowl_space();
  Search search(space, bottom, 3, {}, {6, 1000});
  std::set<Point> seen{bottom};
  run_search(
      search,
      [&](const Point& candidate, const Point&) {
        CHECK(seen.insert(candidate).second);
        CHECK(space.is_legal(candidate));
        return Try{candidate, Outcome::lost, 2};
      },
      never, nothing);
  std::size_t legal = 0;
  for (const std::int64_t tile : space.parameters[0].legal)
    for (const std::int64_t rows : space.parameters[2].legal) legal += tile % rows == 0 ? 15 : 0;
  CHECK(seen.size() == legal);
  CHECK(search.incumbent() == bottom);
}

TEST_CASE("a search takes an illegal step with one that makes it legal", "[tuning]") {
  // 16 by 4 rows: 6 rows divide none of its neighbours but 12, 24 and 48.
  const Space space{{{"tile", {12, 16, 24}, 0}, {"rows", {4, 6}, 0}, {"kind", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0}},
                    [](const std::vector<Parameter>& values) {
                      return value_of(values, "tile") % value_of(values, "rows") == 0 ? std::string() : std::string("do not divide");
                    }};
  Search search(space, {16, 4, 0}, 1, {}, {0, 0});
  std::set<Point> tried;
  run_search(
      search,
      [&](const Point& candidate, const Point&) {
        tried.insert(candidate);
        return Try{candidate, Outcome::lost, 2};
      },
      [&] { return tried.size() == 5; }, nothing);
  CHECK(tried == std::set<Point>{{12, 4, 0}, {24, 4, 0}, {16, 4, 1}, {12, 6, 0}, {24, 6, 0}});
}

TEST_CASE("a search tries what is good elsewhere first, once and where it is legal", "[tuning]") {
  const Point illegal = {2, 64, 4, 2}, unknown = {3, 64, 1, 1}, tried = {16, 64, 4, 2}, good = {8, 128, 8, 4};
  Search search(bowl_space(), {1, 16, 1, 1}, 1, {illegal, tried, bottom, unknown, {1, 16, 1, 1}, good});
  search.tell({tried, Outcome::lost, 2});
  std::vector<Point> proposed;
  run_search(
      search,
      [&](const Point& candidate, const Point&) {
        proposed.push_back(candidate);
        return Try{candidate, Outcome::lost, 2};
      },
      [&] { return proposed.size() == 3; }, nothing);
  CHECK(proposed[0] == bottom);
  CHECK(proposed[1] == good);
  CHECK(proposed[2] != tried);
}

TEST_CASE("a search tries all of three values before it goes two steps", "[tuning]") {
  Search search(Space{{{"kind", {0, 1, 2}, 0}, {"extent", {0, 10, 20, 30}, 0}}, {}}, {0, 0}, 1, {}, {0, 0});
  std::set<Point> tried;
  int left = 3;
  run_search(
      search,
      [&](const Point& candidate, const Point&) {
        tried.insert(candidate);
        return Try{candidate, Outcome::lost, 2};
      },
      [&] { return left == 0; }, [&] { --left; });
  CHECK(tried == std::set<Point>{{1, 0}, {2, 0}, {0, 10}});
}

TEST_CASE("a search goes on after candidates that fail", "[tuning]") {
  NoisyClock clock(5);
  Search search(bowl_space(), {1, 16, 1, 1}, 5);
  std::size_t failed = 0;
  run_search(
      search,
      [&](const Point& candidate, const Point& incumbent) {
        if (candidate[3] != 4 && candidate[1] != 128) return raced(clock, candidate, incumbent);
        ++failed;
        return Try{candidate, Outcome::failed, 0};
      },
      never, nothing);
  CHECK(failed > 0);
  CHECK(cost(search.incumbent()) <= 1.081);
}

TEST_CASE("a search ends with its budget", "[tuning]") {
  Search search(bowl_space(), {1, 16, 1, 1}, 1);
  int left = 5;
  run_search(
      search,
      [](const Point& candidate, const Point&) {
        return Try{candidate, Outcome::lost, 2};
      },
      [&] { return left == 0; }, [&] { --left; });
  CHECK(search.tries().size() == 5);
}

TEST_CASE("a search that is told what another tried goes on from there", "[tuning]") {
  NoisyClock clock(9);
  const auto compare = [&](const Point& candidate, const Point& incumbent) { return raced(clock, candidate, incumbent); };
  Search first(bowl_space(), {1, 16, 1, 1}, 9);
  int left = 12;
  run_search(first, compare, [&] { return left == 0; }, [&] { --left; });
  Search second(bowl_space(), {1, 16, 1, 1}, 10);
  for (const Try& tried : first.tries()) second.tell(tried);
  CHECK(second.incumbent() == first.incumbent());
  run_search(second, compare, never, nothing);
  std::set<Point> points;
  for (const Try& tried : second.tries()) CHECK(points.insert(tried.point).second);
  CHECK(cost(second.incumbent()) <= 1.081);
}

TEST_CASE("the limit of small calls is where the small schedule becomes slower", "[tuning]") {
  const auto crossing = [](std::int64_t at) { return [at](std::int64_t extent) { return extent <= at ? 0.8 : 1.3; }; };
  CHECK(learned_limit(crossing(16), 256) == 16);
  CHECK(learned_limit(crossing(100), 256) == 64);
  CHECK(learned_limit(crossing(1), 256) == 1);
  CHECK(learned_limit(crossing(10000), 256) == 256);
  CHECK(learned_limit([](std::int64_t extent) { return extent == 4 ? 1.1 : 0.9; }, 256) == 2);  // not beyond a slower one
}

TEST_CASE("a race is seldom won by one that is no faster", "[tuning]") {
  NoisyClock clock(1);
  int wins = 0;
  constexpr int races = 2000;
  for (int i = 0; i < races; ++i) wins += raced(clock, bottom, bottom).outcome == Outcome::won ? 1 : 0;
  CHECK(wins < races / 50);
}

TEST_CASE("a race is won by one that is much faster, and soon lost by one that is much slower", "[tuning]") {
  NoisyClock clock(2);
  int wins = 0, pairs = 0;
  constexpr int races = 200;
  for (int i = 0; i < races; ++i) {
    Race race;
    while (race.verdict() == Verdict::undecided) race.add(clock.time(0.7) / clock.time(1));
    wins += race.verdict() == Verdict::faster ? 1 : 0;
    Race slow;
    while (slow.verdict() == Verdict::undecided) slow.add(clock.time(1.5) / clock.time(1));
    CHECK(slow.verdict() == Verdict::not_faster);
    pairs += slow.pairs();
  }
  CHECK(wins > races * 9 / 10);
  CHECK(pairs < races * 6);
}

TEST_CASE("the bounds of a median are order statistics", "[tuning]") {
  Race race;
  for (const double ratio : {5., 1., 4., 2., 3., 6., 8., 7.}) race.add(ratio);
  CHECK(race.median() == 4.5);
  // one in 256 that all eight lie on one side, nine in 256 that at most one does not
  CHECK((race.bounds(0.0039).lower == 0 && race.bounds(0.004).lower == 1 && race.bounds(0.004).upper == 8));
  CHECK((race.bounds(0.036).lower == 2 && race.bounds(0.036).upper == 7));
}

}  // namespace attune
