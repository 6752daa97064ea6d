#include <catch2/catch.hpp>

#include <array>
#include <cmath>

#include "tests/codegen/kernel_case.h"
#include "tests/special_numbers.h"
#include "tests/thinned.h"

namespace attune {
namespace {

/// Small attention with one batch and one head; the tests change single elements.
struct SmallCall {
  Shape extents;
  Arrays inputs;
  SmallCall(const KernelCase& kernel, const std::string& shape) {
    extents = fill_shape(kernel.graph(), parse_shape("batch=1,heads=1," + shape, "shape").extents).extents;
    inputs = random_inputs(kernel.graph(), extents, 7);
  }
  double& at(const char* name, std::int64_t row, std::int64_t column, std::int64_t width) {
    return inputs.at(name).data[static_cast<std::size_t>(row * width + column)];
  }
};

bool is_row(const std::vector<double>& out, std::int64_t row, std::int64_t width, bool (*holds)(double)) {
  for (std::int64_t d = 0; d < width; ++d)
    if (!holds(out[static_cast<std::size_t>(row * width + d)])) return false;
  return true;
}
bool is_nan(double x) { return std::isnan(x); }
bool is_finite(double x) { return std::isfinite(x); }
bool is_zero(double x) { return x == 0; }

constexpr const char* storages[] = {"f32", "bf16"};

/// The last key's value is infinite in two columns.
void check_infinite_value(const KernelCase& plain) {
  for (const int keys : {1, 5, 37, 129}) {
    for (const int queries : {1, 3, 10, 100}) {
      CAPTURE(keys, queries);
      SmallCall s(plain, "depth=16,queries=" + std::to_string(queries) + ",keys=" + std::to_string(keys));
      s.at("v", keys - 1, 3, 16) = infinity;
      s.at("v", keys - 1, 4, 16) = -infinity;
      const auto out = plain.outputs(s.extents, s.inputs).at("out");
      for (std::int64_t i = 0; i < queries; ++i) {
        const double* row = out.data() + i * 16;
        CHECK((row[3] == infinity && row[4] == -infinity && is_finite(row[2]) && is_finite(row[5])));
      }
    }
  }
}

void check_infinite_values(Tried tried) {
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 2; ++column) {
      if (!is_tried(tried, row, column, 2)) continue;
      const std::vector<std::string> known = row == 0 ? std::vector<std::string>{} : std::vector<std::string>{"depth=16"};
      CAPTURE(storages[column], known);
      check_infinite_value(KernelCase("scaled_dot_product", {.types = storages[column], .set = known}));
    }
}

/// One query sees no key: `hide` hides them from it; `row` of the result are zeros.
template <class Hide>
void check_blind_query(const KernelCase& kernel, std::int64_t row, Hide hide) {
  for (const auto& [queries, keys] : {std::pair(20, 33), std::pair(10, 80), std::pair(20, 80)}) {
    CAPTURE(queries, keys);
    SmallCall s(kernel, "queries=" + std::to_string(queries) + ",keys=" + std::to_string(keys) + ",depth=8");
    hide(s, keys);
    CHECK(is_row(kernel.outputs(s.extents, s.inputs).at("out"), row, 8, is_zero));
    CHECK(kernel.difference(s.extents, s.inputs) == "");
  }
}

void check_blind_queries(Tried tried) {
  for (std::size_t column = 0; column < 2; ++column) {
    CAPTURE(storages[column]);
    if (is_tried(tried, 0, column, 2))
      check_blind_query(KernelCase("masked", {.types = storages[column]}), 4, [](SmallCall& s, std::int64_t keys) {
        for (std::int64_t j = 0; j < keys; ++j) s.at("mask", 4, j, keys) = 0;
      });
    if (is_tried(tried, 1, column, 2))
      check_blind_query(KernelCase("padded", {.types = storages[column]}), 0,
                        [](SmallCall& s, std::int64_t) { s.inputs.at("lengths").data[0] = 0; });
  }
}

}  // namespace

TEST_CASE("a NaN key reaches exactly the queries that see it", "[special]") {
  const std::string types = GENERATE("f32", "bf16");
  CAPTURE(types);
  const KernelCase causal("causal", {.types = types});
  for (const char* shape : {"queries=9,keys=9,depth=8", "queries=9,keys=70,depth=8", "queries=70,keys=70,depth=8", "queries=4,keys=70,depth=8"}) {
    SmallCall s(causal, shape);
    s.at("k", 5, 3, 8) = std::nan("");
    const auto out = causal.outputs(s.extents, s.inputs).at("out");
    for (std::int64_t i = 0; i < s.extents.at("queries"); ++i) {
      CAPTURE(shape, i);
      CHECK(is_row(out, i, 8, i < 5 ? is_finite : is_nan));
    }
  }
}

TEST_CASE("an infinite score gives NaN, a score of minus infinity weighs nothing", "[special]") {
  const std::string types = GENERATE("f32", "bf16");
  CAPTURE(types);
  const KernelCase plain("scaled_dot_product", {.types = types});
  SmallCall s(plain, "queries=3,keys=" + std::to_string(GENERATE(40, 80)) + ",depth=4");
  for (std::int64_t d = 0; d < 4; ++d) s.at("q", 0, d, 4) = 1;
  s.at("k", 7, 0, 4) = infinity;
  s.at("q", 1, 0, 4) = -1;
  s.at("q", 2, 0, 4) = 1;
  const auto out = plain.outputs(s.extents, s.inputs).at("out");
  CHECK(is_row(out, 0, 4, is_nan));
  CHECK(is_row(out, 1, 4, is_finite));
  CHECK(is_row(out, 2, 4, is_nan));
  CHECK(plain.difference(s.extents, s.inputs) == "");
}

TEST_CASE("an infinite value of the last key reaches the result", "[special]") { check_infinite_values(Tried::part); }

TEST_CASE("a query that sees no key gives zeros", "[special]") { check_blind_queries(Tried::part); }

TEST_CASE("infinite values and queries that see no key do the same in every storage", "[.full]") {
  check_infinite_values(Tried::whole);
  check_blind_queries(Tried::whole);
}

TEST_CASE("scores of ten thousand do not overflow", "[special]") {
  const std::string types = GENERATE("f32", "bf16");
  CAPTURE(types);
  const KernelCase plain("scaled_dot_product", {.types = types});
  SmallCall s(plain, "queries=18,keys=70,depth=4");
  for (double& x : s.inputs.at("q").data) x *= 5000;
  const auto out = plain.outputs(s.extents, s.inputs).at("out");
  for (std::int64_t i = 0; i < 18; ++i) CHECK(is_row(out, i, 4, is_finite));
}

/// The largest of each row, twice: the second output is made of the first, in vectors whose loads have a condition.
struct LargestTwice {
  void operator()(Graph& g) const {
    auto [rows, columns] = g.dims("rows", "columns");
    const Value is_high = g.input("is_high", {rows, columns}, Kind::boolean);
    const Value high = g.input("high", {}, Kind::i64);
    const Value low = g.input("low", {}, Kind::i64);
    const Value x = select(is_high, high, low);
    g.output("first", max(x, columns), {rows});
    g.output("second", max(x, columns), {rows});
  }
};

TEST_CASE("an output that another one is made of may lie anywhere", "[special]") {
  const Graph graph = build(LargestTwice{});
  const KernelCase largest(graph, "largest");
  constexpr std::int64_t rows = 5, columns = 7;
  std::array<bool, rows * columns> is_high{};
  is_high[3 * columns + 4] = true;
  const std::int64_t high = 5, low = -3;
  for (std::size_t offset = 0; offset < 8; ++offset) {
    std::array<std::int64_t, rows + 8> first{};
    std::array<std::int64_t, rows> second{};
    const std::array<Tensor, 5> tensors{Tensor(is_high.data(), {rows, columns}), Tensor(&high, {}), Tensor(&low, {}),
                                        Tensor(first.data() + offset, {rows}), Tensor(second.data(), {rows})};
    REQUIRE(largest.kernel().call(tensors));
    for (std::size_t row = 0; row < rows; ++row) CHECK(second[row] == (row == 3 ? high : low));
  }
}

TEST_CASE("stored weights obey the same rules", "[special]") {
  const std::string types = GENERATE("f32", "bf16");
  CAPTURE(types);
  const KernelCase layer("multi_head", {.settings = {"mask=true", "weights=true"}, .types = types});
  SmallCall s(layer, "tokens=6,model=8,depth=4");
  for (std::int64_t j = 0; j < 6; ++j) s.at("mask", 2, j, 6) = 0;
  const auto outputs = layer.outputs(s.extents, s.inputs);
  CHECK(is_row(outputs.at("weights"), 2, 6, is_zero));
  CHECK(layer.difference(s.extents, s.inputs) == "");
}

}  // namespace attune
