#include "codegen/halide/rewrites/memory_checks.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tests/jit_kernel.h"

namespace attune {
namespace {

/// The last element of a table of rows x columns that is stored whole: rows + columns - 2.
struct Last {
  Halide::Param<int> rows{"rows"}, columns{"columns"};
  Halide::Var x{"x"}, y{"y"};
  Halide::Func table{"table"}, last{"last"};
  Halide::Pipeline pipeline;

  Last() {
    table(x, y) = x + y;
    table.compute_root().bound(x, 0, columns).bound(y, 0, rows);
    last(x) = table(columns - 1, rows - 1) + 0 * x;
    pipeline = Halide::Pipeline(last);
  }

  int of(int row_count, int column_count) {
    rows.set(row_count);
    columns.set(column_count);
    const Halide::Buffer<int> result = pipeline.realize({1});
    return result(0);
  }

  /// What Halide says of such a call; nothing if it succeeds.
  std::string problem_of(int row_count, int column_count) {
    try {
      of(row_count, column_count);
      return {};
    } catch (const Halide::Error& error) {
      return error.what();
    }
  }
};

}  // namespace

TEST_CASE("more elements than 32-bit indices tell apart end the call before they are stored", "[memory_checks]") {
  Last table;
  limit_stored_elements(table.pipeline);
  CHECK(table.of(3, 5) == 6);
  const std::string status = "exit status " + std::to_string(halide_error_code_buffer_allocation_too_large);
  CHECK_THAT(table.problem_of(65536, 65536), Catch::Contains(status));
  CHECK_THAT(table.problem_of(65536, 32768), Catch::Contains(status));
  CHECK(table.of(1, 1) == 0);
}

TEST_CASE("without memory a call ends though Halide's other checks are taken out", "[memory_checks]") {
  Last table;
  const JitKernel kernel(table.pipeline, {table.rows, table.columns});
  const int rows = 3, columns = 5;
  Halide::Buffer<int> result(1);
  const std::vector<const void*> addresses{&rows, &columns, result.raw_buffer()};
  CHECK(kernel.call(addresses) == 0);
  CHECK(result(0) == 6);
  Halide::JITUserContext without_memory;
  without_memory.handlers.custom_malloc = [](Halide::JITUserContext*, std::size_t) -> void* { return nullptr; };
  CHECK(kernel.call(addresses, without_memory) == halide_error_code_out_of_memory);
}

TEST_CASE("what a schedule promises and Halide cannot prove is checked, and what it can is not", "[memory_checks]") {
  Halide::Param<int> first("first"), last("last");
  Halide::Var x("x"), tile("tile");
  const Halide::Buffer<int> result(8);
  const auto call = [&](const std::function<void(Halide::Func&)>& promise, int from, int to) {
    Halide::Func stored("stored"), taken("taken");
    stored(x) = x * x;
    // Of a range that the call says, in the place of one element each.
    taken(x) = stored(Halide::clamp(x, first, last)) + stored(Halide::clamp(x, first, last) + 1);
    stored.compute_at(taken, tile);
    taken.split(x, tile, x, 4, Halide::TailStrategy::GuardWithIf);
    promise(stored);
    const JitKernel kernel(Halide::Pipeline(taken), {first, last});
    const std::vector<const void*> addresses{&from, &to, result.raw_buffer()};
    return kernel.call(addresses);
  };
  const auto extent = [&](int count) { return [&x, count](Halide::Func& f) { f.bound_extent(x, count); }; };
  const auto storage = [&](int count) { return [&x, count](Halide::Func& f) { f.bound_storage(x, count); }; };
  CHECK(call(extent(2), 3, 3) == 0);
  CHECK(call(extent(2), 0, 7) == halide_error_code_explicit_bounds_too_small);
  CHECK(call(extent(5), 0, 7) == 0);
  CHECK(call(storage(2), 3, 3) == 0);
  CHECK(call(storage(2), 0, 7) == halide_error_code_storage_bound_too_small);
}

}  // namespace attune
