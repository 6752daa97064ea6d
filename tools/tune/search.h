/// Search: which values of a schedule's parameters to try next. Points that are known to be good elsewhere first, then random ones, then the
/// neighbourhood of the best.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "schedules/records/tuned.h"

namespace attune {

/// A value of each parameter, in the order of the space.
using Point = std::vector<std::int64_t>;

/// What may be tried: the legal values, and what is wrong with values together (empty if nothing is).
struct Space {
  std::vector<Parameter> parameters;
  std::function<std::string(const std::vector<Parameter>&)> problem;

  std::vector<Parameter> values(const Point& point) const;
  Point point(const std::vector<Parameter>& values) const;
  /// The point has a legal value for each parameter; values together are judged by is_legal.
  bool has(const Point& point) const;
  bool is_legal(const Point& point) const { return !problem || problem(values(point)).empty(); }
};

enum class Outcome { won, lost, failed };

/// A candidate that was compared with the incumbent of that time. `ratio` is its time over the incumbent's; 0 if it failed.
struct Try {
  Point point;
  Outcome outcome = Outcome::lost;
  double ratio = 0;
};

struct SearchRules {
  int random_points = 6;  ///< before the neighbourhood of the best, and after the hints
  int patience = 24;      ///< so many points after the neighbourhood was searched in vain, the search ends
};

/// No point is proposed twice, and none that is not legal.
class Search {
 public:
  Search(Space space, Point start, std::uint64_t seed, std::vector<Point> hints = {}, const SearchRules& rules = {});

  /// A point to compare with the incumbent; nothing when there is none left or patience is at its end.
  std::optional<Point> next();
  /// What came of a point; the winner is the incumbent from then on. Earlier tries of a search that was interrupted are told first.
  void tell(const Try& tried);

  const Point& incumbent() const { return incumbent_; }
  const Space& space() const { return space_; }
  const std::vector<Try>& tries() const { return tries_; }

 private:
  std::optional<Point> hint();
  std::optional<Point> random_point();
  std::optional<Point> neighbour();
  std::vector<Point> steps_from(const Point& point) const;
  bool is_open(const Point& point) const;

  Space space_;
  SearchRules rules_;
  Point incumbent_;
  std::vector<Point> hints_;  // that were not proposed yet, the next one last
  std::map<Point, bool> seen_;
  std::vector<Try> tries_;
  int in_vain_ = 0;  // points since the neighbourhood was exhausted
  std::mt19937_64 random_;
};

/// Proposes, compares and tells until nothing is left or `is_over`; `after` is called after every try.
void run_search(Search& search, const std::function<Try(const Point& candidate, const Point& incumbent)>& compare,
                const std::function<bool()>& is_over, const std::function<void()>& after);

}  // namespace attune
