#include "tools/tune/search.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace attune {

std::vector<Parameter> Space::values(const Point& point) const {
  std::vector<Parameter> values = parameters;
  for (std::size_t i = 0; i < values.size(); ++i) values[i].value = point[i];
  return values;
}

Point Space::point(const std::vector<Parameter>& values) const {
  Point point;
  for (const Parameter& p : parameters) point.push_back(value_of(values, p.name));
  return point;
}

bool Space::has(const Point& point) const {
  if (point.size() != parameters.size()) return false;
  for (std::size_t i = 0; i < point.size(); ++i)
    if (std::ranges::find(parameters[i].legal, point[i]) == parameters[i].legal.end()) return false;
  return true;
}

Search::Search(Space space, Point start, std::uint64_t seed, std::vector<Point> hints, const SearchRules& rules)
    : space_(std::move(space)), rules_(rules), incumbent_(std::move(start)), hints_(std::move(hints)), random_(seed) {
  seen_.emplace(incumbent_, true);
  std::erase_if(hints_, [&](const Point& point) { return !space_.has(point); });
  std::ranges::reverse(hints_);
  rules_.random_points += static_cast<int>(hints_.size());
}

bool Search::is_open(const Point& point) const { return !seen_.contains(point) && space_.is_legal(point); }

std::optional<Point> Search::hint() {
  while (!hints_.empty()) {
    const Point point = std::move(hints_.back());
    hints_.pop_back();
    if (is_open(point)) return point;
  }
  return std::nullopt;
}

std::optional<Point> Search::random_point() {
  // Where most combinations are illegal or seen, drawing ends without one: the space is then as good as searched.
  constexpr int draws = 1000;
  for (int draw = 0; draw < draws; ++draw) {
    Point point;
    for (const Parameter& p : space_.parameters) point.push_back(p.legal[random_() % p.legal.size()]);
    if (is_open(point)) return point;
  }
  return std::nullopt;
}

std::vector<Point> Search::steps_from(const Point& point) const {
  std::vector<Point> steps;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const std::vector<std::int64_t>& legal = space_.parameters[i].legal;
    const auto place = std::ranges::find(legal, point[i]) - legal.begin();
    const std::ptrdiff_t count = std::ssize(legal);
    for (std::ptrdiff_t to = 0; to < count; ++to) {
      // Of many values the next ones; few may be kinds of a thing, of which none lies between others.
      const bool is_step = to != place && (count <= 3 || std::abs(to - place) == 1);
      if (!is_step) continue;
      steps.push_back(point);
      steps.back()[i] = legal[static_cast<std::size_t>(to)];
    }
  }
  return steps;
}

std::optional<Point> Search::neighbour() {
  const std::vector<Point> near = steps_from(incumbent_);
  std::vector<Point> open;
  const auto add = [&](const std::vector<Point>& points) {
    std::ranges::copy_if(points, std::back_inserter(open), [&](const Point& p) { return is_open(p); });
  };
  add(near);
  // A step that is illegal by itself is taken with each that makes it legal: rows that do not divide a tile with tiles that they divide.
  for (const Point& step : near)
    if (!space_.is_legal(step)) add(steps_from(step));
  for (std::size_t i = 0; open.empty() && i < near.size(); ++i) add(steps_from(near[i]));
  if (open.empty()) return std::nullopt;
  return open[random_() % open.size()];
}

std::optional<Point> Search::next() {
  std::optional<Point> point = hint();
  if (point) return point;
  if (tries_.size() < static_cast<std::size_t>(rules_.random_points)) point = random_point();
  else if (!(point = neighbour()) && ++in_vain_ <= rules_.patience) point = random_point();
  return point;
}

void Search::tell(const Try& tried) {
  seen_.emplace(tried.point, true);
  tries_.push_back(tried);
  if (tried.outcome != Outcome::won) return;
  incumbent_ = tried.point;
  in_vain_ = 0;
}

void run_search(Search& search, const std::function<Try(const Point& candidate, const Point& incumbent)>& compare,
                const std::function<bool()>& is_over, const std::function<void()>& after) {
  while (!is_over()) {
    const std::optional<Point> candidate = search.next();
    if (!candidate) return;
    const Try tried = compare(*candidate, search.incumbent());
    if (is_over() && tried.outcome == Outcome::failed) return;  // stopped, not failed
    search.tell(tried);
    after();
  }
}

}  // namespace attune
