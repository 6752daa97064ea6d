#include "codegen/halide/rewrites/memory_checks.h"

#include <catch2/catch.hpp>
#include <string>

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

}  // namespace attune
