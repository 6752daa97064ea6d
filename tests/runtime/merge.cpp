#include "runtime/merge.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "runtime/attune.h"

namespace attune {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Contiguous [rows, depth], and the logarithms of the rows.
struct Memory {
  std::vector<float> out, lse;
  Partial view(std::int64_t rows, std::int64_t depth) { return {{out, {rows, depth}}, {lse, {rows}}}; }
};

Memory random(std::size_t rows, std::size_t depth, unsigned seed) {
  std::mt19937 words(seed);
  std::normal_distribution<float> normal;
  Memory memory{std::vector<float>(rows * depth), std::vector<float>(rows)};
  for (float& x : memory.out) x = normal(words);
  for (float& x : memory.lse) x = 5 * normal(words);
  return memory;
}

std::string problem(const Partial& a, const Partial& b, const Partial& result) {
  const Result<void> merged = merge_partials(a, b, result);
  return merged ? std::string() : merged.error().message;
}

}  // namespace

TEST_CASE("two partial results are weighed by what their softmaxes divided by", "[merge]") {
  for (const std::size_t depth : {0U, 1U, 5U, 37U, 129U}) {
    const std::size_t rows = 37;
    Memory a = random(rows, depth, 1), b = random(rows, depth, 2), result = random(rows, depth, 3);
    const auto n = static_cast<std::int64_t>(rows), d = static_cast<std::int64_t>(depth);
    REQUIRE(merge_partials(a.view(n, d), b.view(n, d), result.view(n, d)));
    for (std::size_t row = 0; row < rows; ++row) {
      const double of_a = std::exp(static_cast<double>(a.lse[row])), of_b = std::exp(static_cast<double>(b.lse[row]));
      CHECK(static_cast<double>(result.lse[row]) == Approx(std::log(of_a + of_b)).margin(1e-6));
      for (std::size_t i = row * depth; i < (row + 1) * depth; ++i) {
        const double expected = (of_a * static_cast<double>(a.out[i]) + of_b * static_cast<double>(b.out[i])) / (of_a + of_b);
        CHECK(static_cast<double>(result.out[i]) == Approx(expected).margin(1e-6));
      }
    }
    // into one of the two, as a ring of machines does
    REQUIRE(merge_partials(a.view(n, d), b.view(n, d), a.view(n, d)));
    CHECK(a.out == result.out);
    CHECK(a.lse == result.lse);
  }
}

TEST_CASE("rows that saw no key add nothing, whatever they hold", "[merge]") {
  Memory a{{1, NAN, 3, NAN}, {0, -infinity, 200, -infinity}}, b{{NAN, 2, 5, NAN}, {-infinity, 7, 200, -infinity}}, result = a;
  REQUIRE(merge_partials(a.view(4, 1), b.view(4, 1), result.view(4, 1)));
  CHECK(result.out == std::vector<float>{1, 2, 4, 0});
  CHECK(result.lse[0] == 0);
  CHECK(result.lse[1] == 7);
  CHECK(result.lse[2] == Approx(200 + std::log(2.F)));
  CHECK(result.lse[3] == -infinity);

  Memory special{{1, 1, 1}, {NAN, infinity, 1}}, plain{{2, 2, 2}, {1, 1, NAN}};
  for (const bool is_turned : {false, true}) {
    Memory merged = special;
    REQUIRE(merge_partials((is_turned ? plain : special).view(3, 1), (is_turned ? special : plain).view(3, 1), merged.view(3, 1)));
    for (const float x : merged.out) CHECK(std::isnan(x));
    for (const float x : merged.lse) CHECK(std::isnan(x));
  }
}

TEST_CASE("partial results of bf16 and of any strides are merged, from C too", "[merge]") {
  std::vector<bfloat16> a{bfloat16(1.F), bfloat16(2.F), bfloat16(3.F), bfloat16(4.F)};
  std::vector<float> b{1, 3, 2, 4}, lse_a{0, 0}, lse_b{0, 0}, out(4, -1.F), lse(2);
  // b lies turned: [row, depth] with strides [1, 2]
  REQUIRE(merge_partials({{a, {2, 2}}, {lse_a, {2}}}, {{b, {2, 2}, {1, 2}}, {lse_b, {2}}}, {{out, {2, 2}}, {lse, {2}}}));
  CHECK(out == std::vector<float>{1, 2, 3, 4});
  const std::int64_t extents[] = {2, 2}, turned[] = {1, 2};
  const attune_tensor tensors[] = {{nullptr, a.data(), attune_bf16, 2, extents, nullptr}, {nullptr, lse_a.data(), attune_f32, 1, extents, nullptr},
                                   {nullptr, b.data(), attune_f32, 2, extents, turned},   {nullptr, lse_b.data(), attune_f32, 1, extents, nullptr},
                                   {nullptr, out.data(), attune_f32, 2, extents, nullptr}, {nullptr, lse.data(), attune_f32, 1, extents, nullptr}};
  out.assign(4, -1.F);
  REQUIRE(attune_merge_partials(&tensors[0], &tensors[1], &tensors[2], &tensors[3], &tensors[4], &tensors[5]) == 0);
  CHECK(out == std::vector<float>{1, 2, 3, 4});
  CHECK(attune_merge_partials(&tensors[0], nullptr, &tensors[2], &tensors[3], &tensors[4], &tensors[5]) == -1);
  CHECK(std::string(attune_last_error()) == "attune_merge_partials: a tensor is null");
}

TEST_CASE("what does not fit is refused before anything is written", "[merge]") {
  Memory a = random(3, 2, 1), b = random(3, 2, 2), result = random(3, 2, 3);
  const Memory before = result;
  const Partial p = a.view(3, 2), q = b.view(3, 2), r = result.view(3, 2);
  CHECK(problem(a.view(2, 3), q, r) == "merge_partials: out of a is f32 [2 x 3]; the merged result is f32 [3 x 2]");
  CHECK(problem(p, {q.out, {b.lse, {3, 1}}}, r) == "merge_partials: lse of b is f32 [3 x 1]; the merged result is f32 [3 x 2], and it has all of its dims but the last");
  CHECK(problem(p, {q.out, {b.lse.data(), {3}, {1, 1}}}, r).starts_with("merge_partials: lse of b is f32 [3]"));
  std::vector<std::int32_t> integers(6);
  CHECK(problem({{integers, {3, 2}}, p.lse}, q, r) == "merge_partials: out of a holds i32; expected f32, bf16 or f16");
  CHECK(problem(p, {q.out, {integers, {3}}}, r) == "merge_partials: lse of b holds i32; expected f32");
  CHECK(problem(p, {{static_cast<float*>(nullptr), {3, 2}}, q.lse}, r) ==
        "merge_partials: out of b is null, but it is f32 [3 x 2]; only a tensor with an extent of 0 may be null");
  CHECK(problem(p, q, {{static_cast<const float*>(result.out.data()), {3, 2}}, r.lse}) == "merge_partials: out is read-only memory; expected memory to write to");
  CHECK(problem(p, q, {{result.out, {3, 2}, {3, 1}}, r.lse}) == "merge_partials: out is f32 [3 x 2] and reaches elements 0 to 7; its memory has 6");
  CHECK(problem(p, q, {{a.out.data() + 1, {3, 2}}, r.lse}) == "merge_partials: out overlaps out of a; expected memory of its own, or the same places");
  CHECK(problem(p, q, {{a.out, {}}, r.lse}) == "merge_partials: out has 0 dims and 0 strides; expected 1 to 8 of both");
  CHECK(problem(p, q, {{result.out, {3, 2}, {0, 1}}, r.lse}) ==
        "merge_partials: out is f32 [3 x 2] with strides that reach an element twice; expected one place for each");
  CHECK(problem(p, q, {r.out, {result.lse, {3}, {0}}}) ==
        "merge_partials: lse is f32 [3] with strides that reach an element twice; expected one place for each");
  const std::int64_t far = std::int64_t{1} << 61;
  CHECK(problem({{a.out, {3, 1}, {far, 1}}, p.lse}, b.view(3, 1), result.view(3, 1)) ==
        "merge_partials: out of a is f32 [3 x 1] with strides that reach farther than 63 bits count");
  CHECK(problem({{a.out, {3, 1}}, p.lse}, b.view(3, 1), {{result.out, {3, 1}, {1, 0}}, {result.out.data(), {3}, {1}}}) ==
        "merge_partials: out overlaps lse; expected memory of its own, or the same places");
  Partial on_device = p;
  on_device.out.device = attune_cuda;
  CHECK(problem(on_device, q, r) == "merge_partials: out of a is on cuda:0; expected memory of the cpu");
  CHECK(result.out == before.out);
  CHECK(result.lse == before.lse);
}

TEST_CASE("partial results of f16 and bf16 are merged in f32 and rounded once", "[merge]") {
  const auto check = []<class T>(T) {
    std::vector<T> a{T(1.0F), T(-2.0F)}, b{T(3.0F), T(0.5F)}, out(2);
    std::vector<float> lse_a{0.5F}, lse_b{-0.25F}, lse(1);
    REQUIRE(merge_partials({{a, {1, 2}}, {lse_a, {1}}}, {{b, {1, 2}}, {lse_b, {1}}}, {{out, {1, 2}}, {lse, {1}}}));
    const double w = 1 / (1 + std::exp(-0.75));
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(float(out[i]) == float(T(static_cast<float>(w * static_cast<double>(float(a[i])) + (1 - w) * static_cast<double>(float(b[i]))))));
  };
  check(float16{});
  check(bfloat16{});
}

}  // namespace attune
