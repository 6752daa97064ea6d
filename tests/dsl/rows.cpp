/// Operations that walk rows: running sums, and the greatest elements.
#include "dsl/graph.h"
#include "tests/dsl/values.h"
#include "tests/operation_examples.h"

namespace attune {
namespace {

constexpr std::int64_t positions_asked = 4;

/// Of one row: sums up to and before each element, from it and from behind it on, the greatest `count`, their positions, and those sorted.
Arrays of_row(const std::vector<double>& row, std::int64_t count, Kind kind = Kind::real) {
  return outputs_of({{"x", array({static_cast<std::int64_t>(row.size())}, row)}}, [&](Graph& g) {
    const Dim keys = g.dim("keys"), choices = g.dim("choices", positions_asked);
    const Value x = g.input("x", {keys}, kind);
    g.output("sums", cumulative_sum(x, keys), {keys});
    g.output("before", cumulative_sum(x, keys, true), {keys});
    g.output("rests", reverse_cumulative_sum(x, keys), {keys});
    g.output("behind", reverse_cumulative_sum(x, keys, true), {keys});
    g.output("chosen", top_k(x, keys, count), {keys});
    g.output("positions", top_k_positions(x, keys, count, choices), {choices});
    g.output("sorted", sorted_positions(x, keys, count, choices), {choices});
  });
}

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("running sums take the element itself or stop before it", "[rows]") {
  const Arrays out = of_row({3, -1, 0, 5}, 1);
  CHECK(out.at("sums").data == Numbers{3, 2, 2, 7});
  CHECK(out.at("before").data == Numbers{0, 3, 2, 2});
  CHECK(of_row({1, 2, 3}, 1, Kind::i64).at("sums").data == Numbers{1, 3, 6});
}

TEST_CASE("running sums from the end take the element itself or begin behind it", "[rows]") {
  const Arrays out = of_row({3, -1, 0, 5}, 1);
  CHECK(out.at("rests").data == Numbers{7, 4, 5, 5});
  CHECK(out.at("behind").data == Numbers{4, 5, 5, 0});
  CHECK(of_row({1, 2, 3}, 1, Kind::i64).at("rests").data == Numbers{6, 5, 3});
  CHECK(of_row({}, 1).at("rests").data.empty());
}

TEST_CASE("a running sum keeps an infinity or NaN from where it stands", "[rows]") {
  const Array sums = of_row({1, infinity, 2, -infinity, 3}, 1).at("sums"), before = of_row({1, infinity, 2, -infinity, 3}, 1).at("before");
  CHECK((sums.data[0] == 1 && sums.data[1] == infinity && sums.data[2] == infinity && std::isnan(sums.data[3]) && std::isnan(sums.data[4])));
  CHECK((before.data[1] == 1 && before.data[2] == infinity && before.data[3] == infinity && std::isnan(before.data[4])));
}

TEST_CASE("the greatest elements are chosen, of equals the first, and NaN before every number", "[rows]") {
  CHECK(of_row({1, 5, 3, 5, 2}, 3).at("chosen").data == Numbers{0, 1, 1, 1, 0});
  CHECK(of_row({2, 2, 2, 2}, 2).at("chosen").data == Numbers{1, 1, 0, 0});
  CHECK(of_row({0.0, -0.0, 0.0}, 2).at("chosen").data == Numbers{1, 1, 0});
  CHECK(of_row({infinity, quiet_nan, 7, quiet_nan}, 1).at("chosen").data == Numbers{0, 1, 0, 0});
  CHECK(of_row({infinity, quiet_nan, 7, quiet_nan}, 3).at("chosen").data == Numbers{1, 1, 0, 1});
  CHECK(of_row({-infinity, -infinity, -9}, 2).at("chosen").data == Numbers{1, 0, 1});
  CHECK(of_row({-3, 7, -8}, 2, Kind::i64).at("chosen").data == Numbers{1, 1, 0});
}

TEST_CASE("of fewer elements than are asked for all are chosen, and of none none", "[rows]") {
  CHECK(of_row({4, quiet_nan, -infinity}, 7).at("chosen").data == Numbers{1, 1, 1});
  CHECK(of_row({}, 3).at("chosen").data.empty());
  CHECK(of_row({}, 3).at("positions").data == Numbers{-1, -1, -1, -1});
}

TEST_CASE("the positions of the greatest ascend, and -1 stands where there are no more", "[rows]") {
  CHECK(of_row({1, 5, 3, 5, 2}, 3).at("positions").data == Numbers{1, 2, 3, -1});
  CHECK(of_row({9, 8, 7, 6, 5, 4}, 6).at("positions").data == Numbers{0, 1, 2, 3});
}

TEST_CASE("sorted positions are those of the greatest first, of equals of the first, and -1 stands where there are no more", "[rows]") {
  CHECK(of_row({1, 5, 3, 5, 2}, 3).at("sorted").data == Numbers{1, 3, 2, -1});
  CHECK(of_row({1, 5, 3, 6, 2}, 4).at("sorted").data == Numbers{3, 1, 2, 4});
  CHECK(of_row({2, quiet_nan, -infinity, infinity, quiet_nan}, 4).at("sorted").data == Numbers{1, 4, 3, 0});
  CHECK(of_row({-3, 7, -8, 7}, 4, Kind::i64).at("sorted").data == Numbers{1, 3, 0, 2});
  CHECK(of_row({4, 9}, 3).at("sorted").data == Numbers{1, 0, -1, -1});
  CHECK(of_row({}, 3).at("sorted").data == Numbers{-1, -1, -1, -1});
  CHECK(of_row({4, 5, 6, 7, 8, 9}, 6).at("sorted").data == Numbers{3, 2, 1, 0});  // of the four that the list has
}

namespace {
void check_plain(const Graph& plain) {
  REQUIRE(text(plain.problem()) == "");
  CHECK_FALSE(has_composites(plain));
}
}  // namespace

TEMPLATE_LIST_TEST_CASE("an expanded graph holds no composite, whatever its composites expand to", "[rows]", AnyOp) {
  check_plain(expanded(graph_of_operation<TestType>()));
}

}  // namespace attune
