/// How kernels are compared with the interpreter: what makes `attune check` fail.
#include <catch2/catch.hpp>

#include <limits>

#include "tools/measure/allowance.h"

namespace attune {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

Array table(std::vector<double> values) {
  Array array;
  array.extents = {2, static_cast<std::int64_t>(values.size()) / 2};
  array.data = std::move(values);
  return array;
}

}  // namespace

TEST_CASE("elements that are too far off are counted, and the worst is named", "[difference]") {
  const Difference d = compare({1, 2.5, 3, 4, 5, 6.125}, table({1, 2, 3, 4, 5, 6}), {0.1, 0, {}});
  CHECK(d.differing == 2);
  CHECK(d.elements == 6);
  CHECK(d.worst_index == std::vector<std::int64_t>{0, 1});
  CHECK(describe(d) == "2 of 6 elements differ; worst at [0, 1]: got 2.5, expected 2, allowed 0.1");
}

TEST_CASE("what is within the tolerance agrees, and its distance is told", "[difference]") {
  const Difference d = compare({1, 2.0625}, table({1, 2}), {0.1, 0, {}});
  CHECK(d.differing == 0);
  CHECK(d.worst == 0.0625);
}

TEST_CASE("special values agree with themselves alone", "[difference]") {
  CHECK(compare({nan, infinity, -infinity, 0}, table({nan, infinity, -infinity, -0.0}), {1e-5, 0, {}}).differing == 0);
  for (const auto& [got, expected] :
       {std::pair{nan, 1.0}, {1.0, nan}, {infinity, nan}, {nan, infinity}, {infinity, -infinity}, {1e300, infinity}, {infinity, 0.0}}) {
    const Difference d = compare({0, got}, table({0, expected}), {1e-5, 0, {}});
    INFO(got << " for " << expected);
    CHECK(d.differing == 1);
    CHECK(d.worst == infinity);
    CHECK(d.worst_index == std::vector<std::int64_t>{1, 0});
  }
}

TEST_CASE("infinity agrees with what a storage cannot hold", "[difference]") {
  const Allowance f16{0.5, 0x1p-11, {}, 65504};
  CHECK(compare({infinity, -infinity, 65504, infinity}, table({3e21, -65520, 65504, 65500}), f16).differing == 0);
  for (const auto& [got, expected] : {std::pair{infinity, 60000.0}, {-infinity, 3e21}, {65504.0, 3e21}, {nan, 3e21}}) {
    INFO(got << " for " << expected);
    CHECK(compare({0, got}, table({0, expected}), f16).differing == 1);
  }
}

}  // namespace attune
