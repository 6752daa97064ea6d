#include "schedules/common/prefetch.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "codegen/halide/numbers/elements.h"
#include "tests/folder.h"

namespace attune {
namespace {

using Halide::Func;
using Halide::ImageParam;
using Halide::Var;

std::string assembly_of(Func f, const std::vector<Halide::Argument>& arguments) {
  const Folder folder;
  f.compile_to_assembly(folder / "f.s", arguments, Halide::Target("x86-64-linux-no_asserts-no_runtime"));
  return contents(folder / "f.s");
}

}  // namespace

TEST_CASE("what prefetches counts as nothing wherever it lies", "[prefetch]") {
  const ImageParam in(Halide::Float(32), 2);
  const Var x("x");
  const PrefetchInto cache = GENERATE(PrefetchInto::first_level, PrefetchInto::second_level);
  Func f, ahead;
  define_prefetch(ahead, std::vector{x}, prefetch(loaded(in, {x - 5, x * 100000000}, Element::f32).load, cache));
  f(x) = after(ahead(x), in(x, 1));
  Halide::Buffer<float> values(4, 2);
  values.for_each_element([&](int i, int j) { values(i, j) = static_cast<float>(10 * j + i); });
  Halide::ImageParam(in).set(values);
  const Halide::Buffer<float> out = f.realize({4});
  for (int i = 0; i < 4; ++i) CHECK(out(i) == static_cast<float>(10 + i));
}

TEST_CASE("the line of an element is prefetched into the cache that is named, and nothing is added", "[prefetch]") {
  const ImageParam b(Halide::UInt(8), 1, "b");
  const Var x("x");
  const auto prefetching = [&](PrefetchInto cache) {
    Func f;
    f(x) = after(prefetch(loaded(b, {x + 3}, Element::u8).load, cache), Halide::cast<float>(x));
    return assembly_of(f, {b});
  };
  const auto count = [](const std::string& text, const std::string& instruction) {
    int count = 0;
    for (std::size_t at = text.find(instruction); at != std::string::npos; at = text.find(instruction, at + 1)) ++count;
    return count;
  };
  for (const auto& [cache, instruction] :
       {std::pair{PrefetchInto::first_level, "prefetchnta"}, std::pair{PrefetchInto::second_level, "prefetcht1"}}) {
    const std::string text = prefetching(cache);
    CHECK(count(text, instruction) == 1);
    CHECK(count(text, "prefetch") == 1);
    CHECK(count(text, "addss") == 0);
  }
  CHECK(count(prefetching(PrefetchInto::nowhere), "prefetch") == 0);
}

TEST_CASE("an element of memory is known as such where it is multiplied with what reads none", "[prefetch]") {
  const ImageParam in(Halide::UInt(16), 2, "in"), codes(Halide::Int(8), 1, "codes");
  const Var x("x"), y("y");
  const Lowered element = loaded(in, {x, y}, Element::bf16), half = Lowered::real(0.5);
  for (const Lowered& scaled : {element * half, half * element}) {
    REQUIRE(scaled.load);
    CHECK(scaled.load->element == Element::bf16);
    CHECK(scaled.load->constant_factor() == 0.5f);
    CHECK(scaled.load->stored.type() == Halide::UInt(16));
    CHECK(scaled.load->place.size() == 2);
  }
  CHECK(element.load->constant_factor() == 1.f);
  CHECK((element * half * half).load->constant_factor() == 0.25f);
  const Lowered turned = element * Lowered{Halide::sqrt(Halide::cast<float>(y))};
  REQUIRE(turned.load);
  CHECK(!turned.load->constant_factor());
  CHECK(!turned.load->has_uniform_factor());
  const Halide::Param<int> extent("extent");
  const Lowered by_extent = element * Lowered{Halide::sqrt(Halide::cast<float>(extent))};
  CHECK(!by_extent.load->constant_factor());
  CHECK(by_extent.load->has_uniform_factor());
  CHECK(to_real(loaded(codes, {x}, Element::i8)).load);
  CHECK(!(element * element).load);
  CHECK(!(element + half).load);
  CHECK(!(element * Lowered::real(0)).load);
  CHECK(!exp(element).load);
  CHECK(!prefetch((element + half).load, PrefetchInto::first_level).defined());
}

TEST_CASE("nothing is prefetched whose place is loaded, too", "[prefetch]") {
  const ImageParam in(Halide::Float(32), 2, "in"), table(Halide::Int(32), 1, "table");
  const Var x("x");
  const auto is_prefetched = [&](const Halide::Expr& first, const Halide::Expr& second) {
    return prefetch(loaded(in, {first, second}, Element::f32).load, PrefetchInto::first_level).defined();
  };
  CHECK(is_prefetched(x + 100000000, x * 3));
  CHECK(is_prefetched(Halide::unsafe_promise_clamped(x, 0, 4), 0));
  CHECK(!is_prefetched(x, table(x)));
  Func made;
  made(x) = x * 2;
  made.compute_root();
  CHECK(!is_prefetched(x, made(x)));
}

TEST_CASE("of all that an expression reads the lines that lie along a loop are prefetched, of rows where that is asked", "[prefetch]") {
  const ImageParam by_row(Halide::Float(32), 2, "by_row"), by_column(Halide::Float(32), 1, "by_column"), ids(Halide::Int(32), 1, "ids");
  const Var x("x"), row("row");
  const Halide::RDom line(0, 4, "line");
  const Halide::Expr of_rows = by_row(line.x * 16, row), of_columns = by_column(line.x * 16), of_sums = by_column(line.x + row);
  const Halide::Expr of_ids = by_row(line.x, ids(row)), of_no_line = by_column(row);
  const auto count = [&](const Halide::Expr& element, PrefetchedReads reads) {
    const Halide::Expr lines = prefetch_all(element, reads, PrefetchInto::first_level);
    if (!lines.defined()) return std::size_t{0};
    Func f;
    f(row) = 0;
    f(row) += lines;
    f.update().unroll(line.x);
    const std::string text = assembly_of(f, {by_row, by_column, ids});
    std::size_t found = 0;
    for (std::size_t at = text.find("prefetchnta"); at != std::string::npos; at = text.find("prefetchnta", at + 1)) ++found;
    return found / 4;
  };
  CHECK(count(of_rows + of_columns + of_sums + of_no_line, {.along = line.x}) == 3);
  CHECK(count(of_rows + of_columns + of_sums + of_no_line, {.along = line.x, .rows = "row"}) == 1);
  CHECK(count(of_ids, {.along = line.x}) == 0);
  CHECK(count(of_ids, {.along = line.x, .may_be_gathered = true}) == 1);
  CHECK(count(of_no_line, {.along = line.x}) == 0);
}

}  // namespace attune
