/// Kernels of several steps: what they store for one another, in which memory.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/stored.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {

struct Answer {
  std::vector<float> out;
  std::array<std::int32_t, 2> extents{-1, -1};
  bool operator==(const Answer&) const = default;
};

Answer expected(const std::vector<float>& x, std::int32_t rows, std::int32_t columns) {
  Answer answer{x, {rows, columns}};
  float total = 0;
  for (float& element : answer.out) total += element += 1;
  for (float& element : answer.out) element *= total;
  return answer;
}

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
  return x;
}

Answer call(const Kernel& kernel, std::vector<float>& x, std::int32_t rows, std::int32_t columns, Workspace* workspace) {
  Answer answer{std::vector<float>(x.size(), -1)};
  const std::array<Tensor, 3> tensors{Tensor(x, {rows, columns}), Tensor(answer.out, {rows, columns}), Tensor(answer.extents, {2})};
  kernel.call(std::span<const Tensor>(tensors), workspace).value();
  return answer;
}

/// A manifest of tensors alone, `sizes` elements of f32 each, in use from step `first` to `last`.
struct Life {
  std::int64_t elements;
  Lifetime steps;
};
StoredPlaces placed(const std::vector<Life>& lives) {
  std::vector<attune_dim_v1> dims;
  std::vector<attune_tensor_v1> tensors;
  std::vector<std::int32_t> numbers(lives.size());
  std::vector<std::int64_t> extents;
  std::vector<Lifetime> lifetimes;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    numbers[i] = static_cast<std::int32_t>(i);
    dims.push_back({"n", attune_free, 0, nullptr, 1});
    tensors.push_back({"t", attune_f32, 0, 1, &numbers[i]});
    extents.push_back(lives[i].elements);
    lifetimes.push_back(lives[i].steps);
  }
  const auto count = static_cast<std::int32_t>(lives.size());
  const attune_kernel_v5 kernel{ATTUNE_ABI_VERSION, "k", "k", "", "0", count, 0, count, 0, dims.data(), tensors.data(), nullptr, 0, nullptr, 0, nullptr};
  StoredPlaces places;
  place_stored(kernel, lifetimes, extents, places).value();
  return places;
}

}  // namespace

TEST_CASE("steps run in their order, each with its tensors and the extents of its dims", "[steps]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_steps).value();
  for (const auto& [rows, columns] : std::vector<std::pair<std::int32_t, std::int32_t>>{{1, 1}, {5, 37}, {129, 64}}) {
    std::vector<float> x = numbers(std::int64_t{rows} * columns);
    CHECK(call(kernel, x, rows, columns, nullptr) == expected(x, rows, columns));
  }
}

TEST_CASE("what is stored without elements has memory of a row", "[steps]") {
  const std::array<attune_dim_v1, 2> dims{attune_dim_v1{"rows", attune_free, 0, nullptr, 1}, {"columns", attune_free, 0, nullptr, 1}};
  const std::array<std::int32_t, 2> numbers{0, 1};
  const attune_tensor_v1 tensor{"t", attune_f32, 0, 2, numbers.data()};
  const attune_kernel_v5 kernel{ATTUNE_ABI_VERSION, "k", "k", "", "0", 2, 0, 1, 0, dims.data(), &tensor, nullptr, 0, nullptr, 0, nullptr};
  const std::array lifetimes{Lifetime{}};
  const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
    StoredPlaces places;
    place_stored(kernel, lifetimes, std::array{rows, columns}, places).value();
    return places.bytes;
  };
  CHECK(bytes(0, 1000) == bytes(1, 1000));
  CHECK(bytes(1000, 0) == bytes(1, 1));
}

TEST_CASE("a step whose results have no elements does not run, and those after it see none", "[steps]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_steps).value();
  std::vector<float> x;
  CHECK(call(kernel, x, 0, 37, nullptr) == expected(x, 0, 37));
  CHECK(call(kernel, x, 5, 0, nullptr) == expected(x, 5, 0));
}

TEST_CASE("a workspace serves what steps store and what each takes, and is used again by the next", "[steps]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_steps).value();
  std::vector<float> x = numbers(129 * 64);
  Workspace measure;
  CHECK(call(kernel, x, 129, 64, &measure) == expected(x, 129, 64));
  constexpr std::size_t stored = 129 * 64 * 4, scratch = 64 * 4;
  CHECK(measure.peak_bytes() >= stored + scratch);
  CHECK(measure.peak_bytes() <= stored + scratch + 1536);
  std::vector<std::byte> memory(measure.peak_bytes());
  Workspace workspace(memory);
  for (int i = 0; i < 3; ++i) CHECK(call(kernel, x, 129, 64, &workspace) == expected(x, 129, 64));
  Workspace small(std::span<std::byte>(memory.data(), stored));
  Answer answer{x};
  const std::array<Tensor, 3> tensors{Tensor(x, {129, 64}), Tensor(answer.out, {129, 64}), Tensor(answer.extents, {2})};
  CHECK(kernel.call(std::span<const Tensor>(tensors), &small).error().message.find("its workspace is too small: it has 33024 bytes") != std::string::npos);
}

TEST_CASE("stored tensors that are too large are refused by their dims", "[steps]") {
  // 2 x 2^30 elements, which no argument has
  attune_kernel_v5 kernel = attune_kernel_v5_steps;
  std::vector<attune_dim_v1> dims(kernel.dims, kernel.dims + kernel.dim_count);
  dims[0] = {"rows", attune_fixed, 0, nullptr, ATTUNE_MAX_EXTENT};
  kernel.dims = dims.data();
  const std::array<std::int64_t, 3> extents{ATTUNE_MAX_EXTENT, 3, 2};
  StoredPlaces places;
  const std::vector<Lifetime> lifetimes = lifetimes_of(kernel);
  CHECK((lifetimes[0].first == 0 && lifetimes[0].last == 2 && lifetimes[1].first == 1 && lifetimes[1].last == 2));
  CHECK(place_stored(kernel, lifetimes, extents, places).error().message ==
        "kernel 'steps': what it stores between its stages as [rows x columns] has 3221225472 elements; 2147483647 are the most");
}

TEST_CASE("memory of tensors that are read no longer is used again", "[steps]") {
  // each in turn: two are in use at once
  const StoredPlaces chain = placed({{1000, {0, 1}}, {1000, {1, 2}}, {1000, {2, 3}}, {1000, {3, 4}}});
  CHECK(chain.begin[0] == chain.begin[2]);
  CHECK(chain.begin[1] == chain.begin[3]);
  CHECK(chain.bytes == 2 * 4096);
  // a small one in the place of a large one, beside one that is still in use
  const StoredPlaces mixed = placed({{1000, {0, 1}}, {100, {1, 3}}, {10, {2, 3}}});
  CHECK(mixed.begin[2] == 0);
  CHECK(mixed.bytes == 4096 + 512);
  const StoredPlaces together = placed({{100, {0, 3}}, {100, {0, 3}}, {0, {1, 2}}});
  CHECK(together.bytes == 2 * 512 + 128);
  CHECK(placed({}).bytes == 0);
}

TEST_CASE("a step writes and reads an output by the parts of its dims, wherever its rows lie", "[steps]") {
  const Kernel kernel = Kernel::from(attune_kernel_v5_parts).value();
  CHECK(kernel.describe().find("step add_up: joined -> totals") != std::string::npos);
  constexpr std::int64_t heads = 3, depth = 5, model = heads * depth;
  for (const std::int64_t rows : {0, 1, 4})
    for (const std::int64_t row_stride : {model, model + 2}) {
      std::vector<float> x = numbers(heads * rows * depth), joined(static_cast<std::size_t>(rows * row_stride), -9), totals(static_cast<std::size_t>(rows));
      const std::array<Tensor, 3> tensors{Tensor(x, {heads, rows, depth}), Tensor(joined.data(), {rows, model}, {row_stride, 1}), Tensor(totals, {rows})};
      kernel.call(std::span<const Tensor>(tensors)).value();
      for (std::int64_t r = 0; r < rows; ++r) {
        float total = 0;
        for (std::int64_t i = 0; i < row_stride; ++i) {
          const float got = joined[static_cast<std::size_t>(r * row_stride + i)];
          const float expected = i < model ? x[static_cast<std::size_t>((i / depth * rows + r) * depth + i % depth)] + 1 : -9;
          CHECK(got == expected);
          if (i < model) total += got;
        }
        CHECK(totals[static_cast<std::size_t>(r)] == total);
      }
    }
}

TEST_CASE("a view that an output's dims are not the products of is refused", "[steps]") {
  const auto refusal = [](attune_view_v1 view) {
    attune_kernel_v5 kernel = attune_kernel_v5_parts;
    kernel.views = &view;
    const Result<Kernel> opened = Kernel::from(kernel);
    return opened ? std::string() : opened.error().message;
  };
  constexpr std::int32_t dims[] = {0, 1, 2, 1}, turned[] = {0, 2, 1}, beyond[] = {0, 1, 4}, parts[] = {1, 2}, few[] = {1, 1}, many[] = {1, 3}, three[] = {1, 1, 1};
  CHECK(refusal({1, 3, dims, parts}) == "");
  CHECK(refusal({1, 4, dims, parts}) == "kernel 'parts': view number 0 of its manifest has 1 dims more than 'joined' is made of");
  CHECK(refusal({1, 3, dims, many}) == "kernel 'parts': view number 0 of its manifest has 3 parts of a dim where 2 dims are left");
  for (const std::int32_t* wrong : {dims, turned})
    CHECK(refusal({1, 3, wrong, wrong == dims ? few : parts}) == "kernel 'parts': view number 0 of its manifest has parts whose product dim number 3 is not");
  CHECK(refusal({1, 3, beyond, parts}) == "kernel 'parts': view number 0 of its manifest has dim number 4 of 4");
  CHECK(refusal({1, 9, dims, parts}) == "kernel 'parts': view number 0 of its manifest has 9 dims; at most 8");
  CHECK(refusal({1, 3, dims, nullptr}) == "kernel 'parts': view number 0 of its manifest has no table of the parts of 'joined'");
  CHECK(refusal({0, 3, dims, three}) == "kernel 'parts': view number 0 of its manifest has parts whose product dim number 1 is not");
  CHECK(refusal({3, 3, dims, parts}) == "kernel 'parts': view number 0 of its manifest is of tensor number 3 of 3");
}

}  // namespace attune
