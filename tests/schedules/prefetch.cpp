#include "schedules/common/prefetch.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

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

TEST_CASE("elements that are asked for ahead count as 0 wherever they lie", "[prefetch]") {
  ImageParam in(Halide::Float(32), 2);
  Var x("x");
  Func f;
  const PrefetchInto cache = GENERATE(PrefetchInto::first_level, PrefetchInto::second_level);
  f(x) = in(x, 1) + Halide::cast<float>(prefetched(in(x - 5, x * 100000000), cache));
  Halide::Buffer<float> values(4, 2);
  values.for_each_element([&](int i, int j) { values(i, j) = static_cast<float>(10 * j + i); });
  in.set(values);
  const Halide::Buffer<float> out = f.realize({4});
  for (int i = 0; i < 4; ++i) CHECK(out(i) == static_cast<float>(10 + i));
}

TEST_CASE("the input's element that an expression loads is asked for, into the cache that is named", "[prefetch]") {
  ImageParam b(Halide::UInt(8), 1, "b");
  Var x("x");
  const auto asked = [&](PrefetchInto cache, const std::string& instruction) {
    Func f;
    f(x) = prefetched(Halide::sqrt(Halide::cast<float>(b(x + 3))), cache);
    const std::string text = assembly_of(f, {b});
    int count = 0;
    for (std::size_t at = text.find(instruction); at != std::string::npos; at = text.find(instruction, at + 1)) ++count;
    return count;
  };
  CHECK(asked(PrefetchInto::first_level, "prefetchnta") == 1);
  CHECK(asked(PrefetchInto::first_level, "prefetch") == 1);
  CHECK(asked(PrefetchInto::second_level, "prefetcht1") == 1);
  CHECK(asked(PrefetchInto::second_level, "prefetch") == 1);
  CHECK(!prefetched(b(x), PrefetchInto::nowhere).defined());
}

TEST_CASE("where no input is loaded there is nothing to ask for", "[prefetch]") {
  ImageParam in(Halide::Float(32), 1);
  Var x("x");
  Func made;
  made(x) = in(x) + 1;
  made.compute_root();
  CHECK(!prefetched(made(x) * 2, PrefetchInto::first_level).defined());
  Func turned;  // an input's elements, but not at these coordinates
  turned(x) = in(-x);
  CHECK(!prefetched(turned(x), PrefetchInto::first_level).defined());
  CHECK(!prefetched(Halide::cast<float>(x), PrefetchInto::first_level).defined());
}

TEST_CASE("only what takes no other loads is asked for", "[prefetch]") {
  ImageParam in(Halide::Float(32), 2, "in"), table(Halide::Int(32), 1, "table");
  Var x("x");
  CHECK(prefetched(in(x + 100000000, x * 3) * 2, PrefetchInto::first_level).defined());
  CHECK(prefetched(in(Halide::unsafe_promise_clamped(x, 0, 4), 0), PrefetchInto::first_level).defined());
  CHECK(!prefetched(in(x, table(x)), PrefetchInto::first_level).defined());
  CHECK(!prefetched(in(x, 0) * in(x, 1), PrefetchInto::first_level).defined());
  CHECK(!prefetched(Halide::cast<float>(x), PrefetchInto::first_level).defined());
  Func made;
  made(x) = x * 2;
  made.compute_root();
  CHECK(!prefetched(in(x, made(x)), PrefetchInto::first_level).defined());
}

}  // namespace attune
