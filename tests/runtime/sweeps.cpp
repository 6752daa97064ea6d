/// Steps that a call repeats for one block after the other: which blocks, and that each row is computed once.
#include "runtime/sweeps.h"

#include <catch2/catch.hpp>
#include <vector>

#include "runtime/arguments.h"
#include "runtime/kernel.h"
#include "runtime/stored.h"
#include "runtime/threads.h"
#include "runtime/words.h"
#include "tests/runtime/kernels/kernels.h"

namespace attune {
namespace {

enum { batch, rows, columns, batch_block, batch_start, rows_block, rows_start };

class WithThreads {
 public:
  explicit WithThreads(int count) : before_(num_threads()) { set_num_threads(count).value(); }
  WithThreads(const WithThreads&) = delete;
  ~WithThreads() { set_num_threads(before_).value(); }

 private:
  int before_;
};

/// The blocks of a call, chosen for its extents.
DimExtents chosen(std::int64_t of_batch, std::int64_t of_rows, std::int64_t of_columns, const attune_kernel_v5& kernel = attune_kernel_v5_swept) {
  DimExtents extents{of_batch, of_rows, of_columns, of_batch, 0, of_rows, 0};
  choose_blocks(kernel, usable_targets(kernel, this_machine()).front(), extents);
  return extents;
}

/// The call's result in memory whose rows lie `gap` elements further apart than they are long, and how many blocks it took.
int blocks_of_call(std::int64_t of_batch, std::int64_t of_rows, std::int64_t of_columns, std::int64_t gap) {
  const std::int64_t row_stride = of_columns + gap, batch_stride = of_rows * row_stride;
  std::vector<float> x(static_cast<std::size_t>(of_batch * batch_stride)), out(x.size(), -9);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1021);
  const std::array<Tensor, 2> tensors{Tensor(std::as_const(x).data(), {of_batch, of_rows, of_columns}, {batch_stride, row_stride, 1}),
                                      Tensor(out.data(), {of_batch, of_rows, of_columns}, {batch_stride, row_stride, 1})};
  swept_calls = 0;
  Kernel::from(attune_kernel_v5_swept).value().call(std::span<const Tensor>(tensors)).value();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t place = static_cast<std::int64_t>(i), row = place / row_stride % of_rows;
    wrong += out[i] != (place % row_stride < of_columns ? 2 * x[i] + static_cast<float>(row) : -9);
  }
  CHECK(wrong == 0);
  return swept_calls;
}

std::string refusal(const attune_kernel_v5& kernel) {
  const Result<Kernel> opened = Kernel::from(kernel);
  return opened ? std::string() : opened.error().message;
}

std::string refusal(const attune_sweep_v1& sweep) {
  attune_kernel_v5 kernel = attune_kernel_v5_swept;
  kernel.sweeps = &sweep;
  return refusal(kernel);
}

}  // namespace

TEST_CASE("each row of each batch is computed in one block", "[sweeps]") {
  const WithThreads one(1);
  for (const std::int64_t gap : {0, 3}) {
    CHECK(blocks_of_call(1, 1, 1, gap) == 1);
    CHECK(blocks_of_call(3, 37, 129, gap) == 1);
    CHECK(blocks_of_call(3, 2001, 1024, gap) == 6);
    CHECK(blocks_of_call(2, 65, 32771, gap) == 4);  // 64 rows at least, were there as many: 65 are two blocks
  }
}

namespace {

enum { columns_band = rows_start + 1, columns_start };

/// The swept kernel with a band of columns as its last dims.
struct BandedKernel {
  attune_kernel_v5 kernel = attune_kernel_v5_swept;
  std::vector<attune_dim_v1> dims;
  std::array<std::int32_t, 3> blocks{columns_band, batch_block, rows_block}, starts{columns_start, batch_start, rows_start};
  attune_sweep_v1 sweep{0, 2, 3, blocks.data(), starts.data()};

  BandedKernel(const attune_dim_v1& band, const attune_dim_v1& start) : dims(kernel.dims, kernel.dims + kernel.dim_count) {
    REQUIRE(dims.size() == columns_band);
    dims.insert(dims.end(), {band, start});
    kernel.dims = dims.data();
    kernel.dim_count = static_cast<std::int32_t>(dims.size());
    kernel.sweeps = &sweep;
  }
  BandedKernel(const BandedKernel&) = delete;
};

}  // namespace

TEST_CASE("a block of rows has the columns that a mask shows to one of them, the first all", "[sweeps]") {
  const std::int32_t of_band[] = {columns, rows_block, columns, rows}, of_start[] = {columns_band};
  const BandedKernel banded({"columns_block", attune_band, 4, of_band, -1},         // up to r + columns - rows - 1
                            {"columns_start", attune_band_start, 1, of_start, -2});  // from r - 2
  DimExtents extents{2, 10, 13, 1, 0, 4, 0, 13, 0};
  std::vector<std::array<std::int64_t, 4>> visited;
  for (BlockSweep all(banded.kernel, banded.sweep, extents); all.next();)
    visited.push_back({extents[batch_start], extents[rows_start], extents[columns_start], extents[columns_start] + extents[columns_band]});
  using Blocks = std::vector<std::array<std::int64_t, 4>>;
  CHECK(visited == Blocks{{0, 0, 0, 13}, {0, 3, 1, 8}, {0, 6, 4, 12}, {1, 0, 0, 13}, {1, 3, 1, 8}, {1, 6, 4, 12}});
}

TEST_CASE("manifests of bands that could not be are refused", "[sweeps]") {
  const auto refused = [](const attune_dim_v1& band, const attune_dim_v1& start) { return refusal(BandedKernel(band, start).kernel); };
  const std::int32_t of_band[] = {columns, rows_block}, of_other[] = {columns, batch_block}, of_whole[] = {columns, rows}, of_start[] = {columns_band};
  const attune_dim_v1 start{"start", attune_band_start, 1, of_start, 0};
  CHECK(refused({"band", attune_band, 2, of_band, 0}, start) == "");
  CHECK(refused({"band", attune_band, 2, of_whole, 0}, start).ends_with("is a band that follows from dim 1, which it may not"));
  CHECK(refused({"band", attune_band, 1, of_band, 0}, start).ends_with("is a band of 1 operands"));
  CHECK(refused({"band", attune_band, 2, of_band, ATTUNE_MAX_EXTENT + 1}, start).ends_with("is a band by 1073741825"));
  CHECK(refused({"band", attune_band, 2, of_other, 0}, start).ends_with("has dim number 7, which is no block"));
  CHECK(refused({"band", attune_band, 2, of_band, 0}, {"start", attune_start, 1, of_start, 1}).ends_with("is the start of what is no block"));
}

TEST_CASE("a kernel says what it sweeps, and no dim that changes during a call", "[sweeps]") {
  const std::string text = Kernel::from(attune_kernel_v5_swept).value().describe();
  CHECK(text.find("  steps 1 to 2 for one block of batch, rows after the other\n") != std::string::npos);
  CHECK(text.find("_start") == std::string::npos);
}

TEST_CASE("a sweep of nothing is an empty result", "[sweeps]") {
  CHECK(chosen(0, 5, 3)[batch_block] == 0);
  CHECK(chosen(3, 0, 3)[rows_block] == 0);
  CHECK(chosen(3, 5, 0)[rows_block] == 5);
  for (const auto& [a, b, c] : {std::array<std::int64_t, 3>{0, 5, 3}, {3, 0, 3}, {3, 5, 0}}) {
    std::vector<float> none(1);
    const std::array<Tensor, 2> tensors{Tensor(std::as_const(none).data(), {a, b, c}), Tensor(none.data(), {a, b, c})};
    CHECK(Kernel::from(attune_kernel_v5_swept).value().call(std::span<const Tensor>(tensors)).has_value());
  }
}

TEST_CASE("rows of a block follow from extents alone, of other dims there are as many as threads", "[sweeps]") {
  for (const int threads : {1, 2, 16}) {
    const WithThreads some(threads);
    const DimExtents few = chosen(9, 2001, 1024);
    CHECK(few[rows_block] == 1001);
    CHECK(few[batch_block] == (threads == 1 ? 1 : threads == 2 ? 2 : 9));
    CHECK(chosen(3, 37, 129)[batch_block] == 3);
  }
}

TEST_CASE("blocks are as long as it takes to read their columns again for nothing", "[sweeps]") {
  // as the product sums over `columns`
  attune_kernel_v5 kernel = attune_kernel_v5_swept;
  std::vector<attune_dim_v1> dims(kernel.dims, kernel.dims + kernel.dim_count);
  const std::array<std::int32_t, 2> rows_by_columns{rows, columns};
  dims[rows_block].operands = rows_by_columns.data();
  dims[rows_block].operand_count = 2;
  kernel.dims = dims.data();
  CHECK(refusal(kernel) == "");
  CHECK(chosen(1, 9000, 4096, kernel)[rows_block] == 3000);  // three of 4096 at most, where 4 MB would hold 256
  CHECK(chosen(1, 3000, 4096, kernel)[rows_block] == 3000);
}

TEST_CASE("blocks stay whole where a step has no code for them", "[sweeps]") {
  attune_kernel_v5 kernel = attune_kernel_v5_swept;
  std::vector<attune_step_v1> steps(kernel.steps, kernel.steps + kernel.step_count);
  const attune_condition_v1 many{rows_block, 1001, ATTUNE_MAX_EXTENT};
  attune_code_v3 code = *steps[1].codes;
  code.conditions = &many;
  code.condition_count = 1;
  steps[1].codes = &code;
  kernel.steps = steps.data();
  REQUIRE(refusal(kernel) == "");
  CHECK(chosen(1, 2002, 1024, kernel)[rows_block] == 2002);  // blocks of 1001, and of 1000
  CHECK(chosen(1, 4100, 800, kernel)[rows_block] == 1025);
}

TEST_CASE("what a sweep reads of a whole keeps its memory until the last block", "[sweeps]") {
  attune_kernel_v5 kernel = attune_kernel_v5_swept;
  CHECK(lifetimes_of(kernel).front().last == 1);
  // the same with a tensor that is stored whole: x is what an earlier step stores
  std::vector<attune_tensor_v1> tensors(kernel.tensors, kernel.tensors + 3);
  tensors.push_back(tensors[0]);
  const std::array<std::int32_t, 2> copy{0, 3}, doubled{4, 2}, out{2, 5};
  std::vector<attune_step_v1> steps{{"copy", 1, 1, copy.data(), 0, 1, nullptr, kernel.steps[1].codes}, kernel.steps[0], kernel.steps[1]};
  steps[1].tensors = doubled.data();
  steps[2].tensors = out.data();
  std::vector<attune_view_v1> views(kernel.views, kernel.views + 2);
  views[0].tensor = 3;
  const attune_sweep_v1 sweep{1, 2, 2, kernel.sweeps->blocks, kernel.sweeps->starts};
  kernel.tensors = tensors.data();
  kernel.stored_count = 2;
  kernel.steps = steps.data();
  kernel.step_count = 3;
  kernel.views = views.data();
  kernel.sweeps = &sweep;
  REQUIRE(refusal(kernel) == "");
  const std::vector<Lifetime> lifetimes = lifetimes_of(kernel);
  CHECK((lifetimes[0].first == 1 && lifetimes[0].last == 2));
  CHECK((lifetimes[1].first == 0 && lifetimes[1].last == 2));
}

TEST_CASE("a sweep that does not fit its kernel is refused", "[sweeps]") {
  const attune_sweep_v1 good = *attune_kernel_v5_swept.sweeps;
  const std::string who = "kernel 'swept': a sweep of its manifest ";
  CHECK(refusal(good) == "");
  CHECK(refusal({0, 3, 2, good.blocks, good.starts}) == who + "has 3 steps from number 0 on of 2, of which 0 are before it");
  CHECK(refusal({0, 2, 9, good.blocks, good.starts}) == who + "has 9 dims; expected 1 to 8");
  CHECK(refusal({0, 2, 2, good.starts, good.starts}) == who + "has dim number 4, which is no block");
  CHECK(refusal({0, 2, 2, good.blocks, good.blocks}) == who + "has dim number 3, which is not the start of dim number 3");
  CHECK(refusal({0, 1, 2, good.blocks, good.starts}) == "kernel 'swept': step 1 of its manifest has dim number 6, which none of its sweeps has");
  constexpr std::int32_t twice[] = {batch_block, batch_block}, their_starts[] = {batch_start, batch_start};
  CHECK(refusal({0, 2, 2, twice, their_starts}) == who + "has dim number 3, which it or one before it has already");
  attune_kernel_v5 kernel = attune_kernel_v5_swept;
  const std::array<attune_sweep_v1, 2> both{{{0, 1, 2, good.blocks, good.starts}, {1, 1, 2, good.blocks, good.starts}}};
  kernel.sweeps = both.data();
  kernel.sweep_count = 2;
  CHECK(refusal(kernel) == who + "has dim number 3, which it or one before it has already");
  kernel.sweeps = &good;
  kernel.sweep_count = 17;
  CHECK(refusal(kernel).find("17 sweeps") != std::string::npos);
}

TEST_CASE("a dim that changes during a call is on no argument and no other dim follows from it", "[sweeps]") {
  attune_kernel_v5 kernel = attune_kernel_v5_swept;
  std::vector<attune_tensor_v1> tensors(kernel.tensors, kernel.tensors + 3);
  tensors[1].dims = tensors[2].dims;
  kernel.tensors = tensors.data();
  CHECK(refusal(kernel) == "kernel 'swept': a tensor of its manifest has dim number 3, which changes during a call");
  tensors[1] = attune_kernel_v5_swept.tensors[1];
  const std::array<std::int32_t, 3> position{batch_block, rows_start, columns};
  tensors[2].dims = position.data();
  CHECK(refusal(kernel) == "kernel 'swept': what its manifest stores between steps has dim number 6, which is a position and no extent");
  kernel = attune_kernel_v5_swept;
  std::vector<attune_dim_v1> dims(kernel.dims, kernel.dims + kernel.dim_count);
  dims[rows_block].operands = dims[batch_start].operands;
  kernel.dims = dims.data();
  CHECK(refusal(kernel) == "kernel 'swept': dim number 5 of its manifest follows from dim 3, which changes during a call");
  dims[rows_block] = kernel.dims[batch_block];
  dims[rows_start].operands = dims[batch_block].operands;
  CHECK(refusal(kernel) == "kernel 'swept': dim number 6 of its manifest is the start of what is no block");
}

}  // namespace attune
