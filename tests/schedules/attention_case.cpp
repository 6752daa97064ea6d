#include "tests/schedules/attention_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "codegen/halide/bodies/late_rewrites.h"
#include "codegen/halide/numbers/elements.h"

using Halide::Buffer;
using Halide::Expr;

namespace attune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double dot(const Arguments& a, const Pair& p) {
  double sum = 0;
  for (int d = 0; d < a.shape.depth; ++d) sum += static_cast<double>(a.q(d, p.i, p.g, p.h, p.b)) * a.k(d, p.j, p.h, p.b);
  return a.shape.depth == 0 ? 0 : sum / std::sqrt(static_cast<double>(a.shape.depth));
}

}  // namespace

Arguments::Arguments(const Shape& s, unsigned seed)
    : shape(s),
      q(s.depth, s.queries, s.group, s.heads, s.batch),
      k(s.depth, s.keys, s.heads, s.batch),
      v(s.value_depth, s.keys, s.heads, s.batch),
      bias(s.keys, s.queries),
      mask(s.keys, s.queries, s.batch),
      lengths(s.batch),
      wa(s.depth) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  const auto fill = [](auto& buffer, auto draw) {
    if (buffer.number_of_elements() > 0) buffer.for_each_value([&](auto& e) { e = draw(); });
  };
  for (Buffer<float>* x : {&q, &k, &v, &bias, &wa}) fill(*x, [&] { return normal(generator); });
  fill(mask, [&] { return static_cast<std::uint8_t>(generator() % 3 != 0); });
  fill(lengths, [&] { return static_cast<std::int32_t>(generator() % static_cast<unsigned>(s.keys + 1)); });
}

AttentionCase::AttentionCase() {
  extents = {{"batch", q.dim(4).extent()}, {"heads", q.dim(3).extent()}, {"group", q.dim(2).extent()},      {"queries", q.dim(1).extent()},
             {"depth", q.dim(0).extent()}, {"keys", k.dim(1).extent()},  {"value_depth", v.dim(0).extent()}};
  body.batch = {"batch", "heads", "group"};
  body.queries = "queries";
  body.keys = "keys";
  body.value_depth = "value_depth";
  body.over = {"depth"};
  body.out = in_order;
  const Expr scale = 1.f / sqrt(Halide::cast<float>(extents.at("depth")));
  body.query = {{"batch", "heads", "group", "queries", "depth"}, [q = q, scale](const Coordinates& c) {
                  return Lowered{q(c.at("depth"), c.at("queries"), c.at("group"), c.at("heads"), c.at("batch")) * scale};
                }};
  body.key = {{"batch", "heads", "keys", "depth"},
              [k = k](const Coordinates& c) { return loaded(k, {c.at("depth"), c.at("keys"), c.at("heads"), c.at("batch")}, Element::f32); }};
  body.value = {{"batch", "heads", "keys", "value_depth"},
                [v = v](const Coordinates& c) { return loaded(v, {c.at("value_depth"), c.at("keys"), c.at("heads"), c.at("batch")}, Element::f32); }};
  score = dot;
}

AttentionCase::Row AttentionCase::expected(const Arguments& a, Pair row) const {
  std::vector<double> scores;
  Row result{std::vector<double>(static_cast<std::size_t>(a.shape.value_depth), 0.0), 0};
  double largest = -infinity, sum = 0;
  bool is_nan = false;
  for (row.j = 0; row.j < a.shape.keys; ++row.j) {
    const bool sees = !visible || visible(a, row);
    double s = sees ? score(a, row) : -infinity;
    if (sees && change) s = change(s, a, row);
    is_nan = is_nan || std::isnan(s);
    if (std::isfinite(s)) result.largest_score = std::max(result.largest_score, std::abs(s));
    largest = std::max(largest, s);
    scores.push_back(s);
  }
  if (is_nan || largest == infinity) result.values.assign(result.values.size(), std::numeric_limits<double>::quiet_NaN());
  if (is_nan || largest == infinity || largest == -infinity) return result;
  for (double& s : scores) sum += s = std::exp(s - largest);
  for (row.j = 0; row.j < a.shape.keys; ++row.j) {
    double w = scores[static_cast<std::size_t>(row.j)] / sum;
    if (w == 0) continue;
    if (weight) w = weight(w, a, row);
    for (int d = 0; d < a.shape.value_depth; ++d) result.values[static_cast<std::size_t>(d)] += w * a.v(d, row.j, row.h, row.b);
  }
  return result;
}

JitKernel compiled(const AttentionCase& attention, const Machine& machine, const std::vector<Parameter>& values, const SoftmaxTemplate& by,
                          const Halide::Target& target) {
  const Stored stored = by.build(attention.body, attention.extents, machine, values);
  Halide::Pipeline pipeline(stored.func);
  add_late_rewrites(pipeline, stored, Device::cpu);
  return {pipeline, attention.arguments(), target};
}

JitKernel compiled_by(const SoftmaxTemplate& by, const AttentionCase& attention, const Machine& machine, const Halide::Target& target) {
  return compiled(attention, machine, by.parameters(machine, by.size), by, target);
}

const JitKernel& kernel_of(AttentionCase (*make)(), const SoftmaxTemplate& by) {
  static std::map<std::tuple<std::uintptr_t, std::string_view, SizeClass>, JitKernel> kernels;
  const auto [place, is_new] = kernels.try_emplace({reinterpret_cast<std::uintptr_t>(make), by.name, by.size});
  if (is_new) place->second = compiled_by(by, make(), host_machine());
  return place->second;
}

Buffer<float> computed(const JitKernel& kernel, Arguments& a, const std::vector<std::string>& order_in_memory) {
  const Shape& s = a.shape;
  const std::map<std::string, int> extents = {
      {"batch", s.batch}, {"heads", s.heads}, {"group", s.group}, {"queries", s.queries}, {"value_depth", s.value_depth}};
  std::vector<int> sizes, places;
  for (auto dim = order_in_memory.rbegin(); dim != order_in_memory.rend(); ++dim) {
    places.push_back(static_cast<int>(in_order.end() - std::ranges::find(in_order, *dim)) - 1);
    sizes.push_back(extents.at(*dim));
  }
  Buffer<float> result(sizes);
  if (result.number_of_elements() > 0) result.fill(std::numeric_limits<float>::max());
  if (kernel(a.q, a.k, a.v, a.bias, a.mask, a.lengths, a.wa, result) != 0) result = Buffer<float>();
  return result.transposed(places);
}

double allowed_difference(double largest_score, double largest_value) {
  return 1e-5 + 4 * std::ldexp(1.0, -24) * largest_score * largest_value;
}

std::string difference(const AttentionCase& attention, const Arguments& a, const Buffer<float>& result, int rows) {
  const Shape& s = a.shape;
  double largest_value = 0, worst = 1;
  if (a.v.number_of_elements() > 0)
    a.v.for_each_value([&](float e) {
      if (std::isfinite(e)) largest_value = std::max(largest_value, std::abs(static_cast<double>(e)));
    });
  std::string text;
  const auto compare = [&](const Pair& p) {
    const AttentionCase::Row row = attention.expected(a, p);
    const double allowed = allowed_difference(row.largest_score, largest_value);
    for (int d = 0; d < s.value_depth; ++d) {
      const double expected = row.values[static_cast<std::size_t>(d)], got = result(d, p.i, p.g, p.h, p.b);
      if (expected == got || (std::isnan(expected) && std::isnan(got))) continue;
      const double share = std::isnan(expected) || std::isnan(got) ? infinity : std::abs(expected - got) / allowed;
      if (share <= worst) continue;
      worst = share;
      text = fmt::format("[{}, {}, {}, {}, {}]: got {}, expected {}, allowed {}", p.b, p.h, p.g, p.i, d, got, expected, allowed);
    }
  };
  const int step = std::max(1, s.queries / rows);
  for (Pair p{0, 0, 0, 0, 0}; p.b < s.batch; ++p.b)
    for (p.h = 0; p.h < s.heads; ++p.h)
      for (p.g = 0; p.g < s.group; ++p.g)
        for (p.i = 0; p.i < s.queries; p.i = p.i == s.queries - 1 ? s.queries : std::min(p.i + step, s.queries - 1)) compare(p);
  return text;
}

}  // namespace attune
