#include "codegen/halide/bodies/block_ranges.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "tests/schedules/host.h"

using namespace attune;
using Halide::Buffer;
using Halide::Expr;
using Halide::Var;

namespace {

constexpr int batches = 2;

/// A tensor [batch, rows, columns] of T whose extents are known at the call, and what is known of its blocks.
template <class T>
struct Tensor {
  Tensor() {
    const auto element = [this](const Coordinates& c) {
      const Expr e = tensor(c.at("columns"), c.at("rows"), c.at("batch"));
      return sizeof(T) == 1 ? Lowered{e != Halide::cast<T>(0)} : Lowered::of(e);
    };
    known = block_ranges("tensor", element, {"batch", "rows", "columns"}, extents, host_machine());
  }

  Halide::ImageParam tensor{Halide::type_of<T>(), 3, "tensor"};
  Extents extents{{"batch", tensor.dim(2).extent()}, {"rows", tensor.dim(1).extent()}, {"columns", tensor.dim(0).extent()}};
  BlockSource known;
};

template <class T>
Buffer<T> random_tensor(int rows, int columns) {
  std::mt19937 random(static_cast<unsigned>(rows * 1000 + columns));
  Buffer<T> data(columns, rows, batches);
  data.for_each_value([&](T& x) { x = static_cast<T>(sizeof(T) == 1 ? random() % 40 != 0 : random() - 0x7fffffff); });
  return data;
}

/// How many blocks of row_size x column_size are said to be what their elements are not.
template <class T>
int wrong_blocks(const Buffer<T>& data, int row_size, int column_size, const Buffer<T>& least, const Buffer<T>& greatest) {
  int wrong = 0;
  least.for_each_element([&](int j, int i, int b) {
    T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::min();
    for (int r = i * row_size; r < std::min((i + 1) * row_size, data.dim(1).extent()); ++r)
      for (int c = j * column_size; c < std::min((j + 1) * column_size, data.dim(0).extent()); ++c) {
        low = std::min(low, data(c, r, b));
        high = std::max(high, data(c, r, b));
      }
    wrong += least(j, i, b) != low || greatest(j, i, b) != high;
  });
  return wrong;
}

template <class T>
void check_all() {
  Tensor<T> tensor;
  // the third is made of the second, and that of the first
  for (const auto& [row_size, column_size] :
       {std::pair{4, 16}, std::pair{24, 128}, std::pair{24, 256}, std::pair{6, 64}, std::pair{1, 7}, std::pair{5, 1}}) {
    const Var b("b"), i("i"), j("j");
    const auto span = [](const Var& number, int size, const Expr& extent) {
      return Span{number * size, Halide::min(number * size + size, extent) - 1, number, size};
    };
    const auto range = tensor.known({{"batch", {b, b}},
                                     {"rows", span(i, row_size, tensor.extents.at("rows"))},
                                     {"columns", span(j, column_size, tensor.extents.at("columns"))}});
    REQUIRE(range);
    Halide::Func f;
    f(j, i, b) = Halide::Tuple(Halide::cast<T>(range->low.expr), Halide::cast<T>(range->high.expr));
    for (const int rows : {1, 5, 37, 129})
      for (const int columns : {1, 37, 129, 300}) {
        const Buffer<T> data = random_tensor<T>(rows, columns);
        tensor.tensor.set(data);
        const Halide::Realization got = f.realize({(columns + column_size - 1) / column_size, (rows + row_size - 1) / row_size, batches});
        INFO(rows << " x " << columns << " in blocks of " << row_size << " x " << column_size);
        CHECK(wrong_blocks<T>(data, row_size, column_size, got[0], got[1]) == 0);
      }
  }
}

}  // namespace

TEST_CASE("the least and the greatest element of blocks are those of their elements", "[block_ranges]") {
  check_all<std::int64_t>();
  check_all<std::int32_t>();
}

TEST_CASE("of truth values a block knows whether all hold, and whether one does", "[block_ranges]") { check_all<std::uint8_t>(); }

TEST_CASE("of blocks without a number nothing is known", "[block_ranges]") {
  const Tensor<std::int64_t> tensor;
  const Var b("b");
  CHECK(!tensor.known({{"batch", {b, b}}, {"rows", {0, 4}}, {"columns", {0, 6, 0, 7}}}));
}
