/// Kernels that write rows into the memory of an input: which rows, in which order with those who read it, and that they touch nothing else.
#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <span>

#include "dsl/variants.h"
#include "tests/codegen/kernel_case.h"
#include "tools/measure/example.h"

namespace attune {
namespace {

/// A cache of rows and new ones for it.
struct Cache {
  Graph g;
  Dim batch = g.dim("batch"), rows = g.dim("rows"), tokens = g.dim("tokens"), depth = g.dim("depth");
  Value cache = g.input("cache", {batch, rows, depth});
  Value fresh = g.input("fresh", {batch, tokens, depth});
  Value start = g.input("start", {batch}, Kind::i64);

  Value updated(bool wraps = false) const { return write_rows(cache, rows, fresh, tokens, start, wraps); }
  Graph finished() {
    g.finish();
    if (!g.problem().empty()) throw std::invalid_argument(std::string(g.problem().view()));
    return g;
  }
};

/// A call whose rows begin at these places.
std::string difference_at(const KernelCase& kernel, const std::string& shape, std::vector<double> start) {
  const Shape extents = fill_shape(kernel.graph(), parse_shape(shape, "shape").extents).extents;
  Arrays inputs = random_inputs(kernel.graph(), extents, 1);
  inputs.at("start").data = std::move(start);
  return kernel.difference(extents, inputs);
}

/// Of f32, for tests that need no other: it has codes of all sizes of call.
const KernelCase& cached() {
  static const KernelCase kernel("cached");
  return kernel;
}

/// Memory of which all pages but some may only be read.
class GuardedPages {
 public:
  GuardedPages(std::size_t pages, std::size_t first, std::size_t last) : bytes_(pages * page()) {
    memory_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_, bytes_, PROT_READ);
    mprotect(memory_ + first * page(), (last - first) * page(), PROT_READ | PROT_WRITE);
  }
  GuardedPages(const GuardedPages&) = delete;
  ~GuardedPages() { munmap(memory_, bytes_); }
  float* data() { return reinterpret_cast<float*>(memory_); }
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

 private:
  std::size_t bytes_;
  char* memory_;
};

}  // namespace

TEST_CASE("rows are written where they belong, and beyond the ends of the memory nowhere", "[in-place]") {
  for (const bool wraps : {false, true}) {
    Cache c;
    c.g.output_in_place(c.cache, c.updated(wraps));
    const Graph graph = c.finished();
    const KernelCase kernel(graph, "write");
    for (const char* shape : {"batch=2,rows=1,tokens=1,depth=1", "batch=2,rows=37,tokens=5,depth=129", "batch=2,rows=5,tokens=5,depth=64",
                              "batch=2,rows=5,tokens=13,depth=5", "batch=2,rows=129,tokens=37,depth=16", "batch=2,rows=7,tokens=0,depth=5",
                              "batch=2,rows=0,tokens=3,depth=5", "batch=2,rows=7,tokens=2,depth=0"})
      for (const double start : {0.0, 3.0, 36.0, -2.0, 1e15, -1e15}) CHECK(difference_at(kernel, shape, {start, 1}) == "");
  }
}

TEST_CASE("without a place of its own the same graph gives a copy", "[in-place]") {
  Cache c;
  c.g.output("copy", c.updated(), {c.depth, c.batch, c.rows});
  c.g.output("ring", c.updated(true), {c.batch, c.rows, c.depth});
  const Graph graph = c.finished();
  const KernelCase kernel(graph, "copy");
  for (const char* shape : {"batch=2,rows=37,tokens=5,depth=5", "batch=2,rows=5,tokens=13,depth=1", "batch=2,rows=5,tokens=0,depth=3"})
    for (const double start : {0.0, 3.0, -2.0, 36.0}) CHECK(difference_at(kernel, shape, {start, 1}) == "");
}

TEST_CASE("what reads the input comes before the write, what reads its result after", "[in-place]") {
  Cache c;
  const Value once = c.updated();
  const Value twice = write_rows(once, c.rows, -c.fresh, c.tokens, c.start + 1);
  c.g.output("after", sum(twice, c.rows), {c.batch, c.depth});
  c.g.output("between", sum(once, c.rows), {c.batch, c.depth});
  c.g.output("before", sum(c.cache, c.rows), {c.batch, c.depth});
  c.g.output("old", c.cache, {c.batch, c.rows, c.depth});
  c.g.output("copy", twice, {c.batch, c.rows, c.depth});
  c.g.output_in_place(c.cache, twice);
  const Graph graph = c.finished();
  const KernelCase kernel(graph, "order");
  for (const char* shape : {"batch=2,rows=37,tokens=5,depth=5", "batch=2,rows=5,tokens=5,depth=1", "batch=2,rows=5,tokens=0,depth=3"})
    CHECK(difference_at(kernel, shape, {3, 1}) == "");
}

TEST_CASE("rows that are made of what stands in the memory are read before it is written", "[in-place]") {
  Cache c;
  const Dim moved = c.g.dim("moved");
  c.g.output_in_place(
      c.cache, write_rows(c.cache, c.rows, 2 * slice(c.cache, c.rows, {.start = 1}, moved), moved, c.start + extent(c.tokens) - extent(c.tokens)));
  const Graph graph = c.finished();
  const KernelCase kernel(graph, "moved");
  for (const char* shape : {"batch=2,rows=129,tokens=1,depth=64", "batch=2,rows=1,tokens=1,depth=1"})
    CHECK(difference_at(kernel, shape, {0, 2}) == "");
}

TEST_CASE("numbers of every storage are written as they are", "[in-place]") {
  for (const Kind kind : {Kind::i8, Kind::i64, Kind::boolean}) {
    Graph g;
    const Dim rows = g.dim("rows"), tokens = g.dim("tokens"), depth = g.dim("depth");
    const Value cache = g.input("cache", {rows, depth}, kind), fresh = g.input("fresh", {tokens, depth}, kind),
                start = g.input("start", {}, Kind::i32);
    g.output_in_place(cache, write_rows(cache, rows, fresh, tokens, start));
    g.finish();
    const KernelCase kernel(g, "kinds");
    CHECK(difference_at(kernel, "rows=37,tokens=5,depth=5", {3}) == "");
  }
}

TEST_CASE("attention over a cache sees the rows that the same call writes", "[in-place]") {
  for (const char* shape : {"batch=2,heads=2,group=3,queries=1,keys=37,depth=16", "batch=1,heads=1,group=1,queries=5,keys=129,depth=5", "batch=1,heads=1,group=2,queries=0,keys=5,depth=5"})
    CHECK(cached().difference(shape, 3) == "");
}

TEST_CASE("a cache of 16 bits is read as it is stored", "[in-place]") {
  const KernelCase kernel("cached", {.types = "k_cache=bf16,v_cache=f16", .schedule = "whole_rows"});
  CHECK(kernel.difference("batch=2,heads=2,group=3,queries=5,keys=37,depth=16", 3) == "");
}

TEST_CASE("a call writes the new rows and no others, even with what they hold", "[in-place]") {
  const std::int64_t depth = 64, keys = static_cast<std::int64_t>(6 * GuardedPages::page() / sizeof(float)) / depth, first = keys / 2;
  GuardedPages k_cache(6, 3, 4), v_cache(6, 3, 4);
  std::vector<float> q(64, 1), row(64, 2), out(64);
  std::vector<std::int64_t> position{first};
  const Tensor new_row(row, {1, 1, 1, depth}), k(k_cache.data(), {1, 1, keys, depth}), v(v_cache.data(), {1, 1, keys, depth});
  const Result<void> called =
      cached().kernel()(Tensor(q, {1, 1, 1, 1, depth}), new_row, new_row, k, v, Tensor(position, {1}), Tensor(out, {1, 1, 1, 1, depth}));
  REQUIRE(called);
  CHECK(k_cache.data()[first * depth] == 2);
  CHECK(v_cache.data()[first * depth + depth - 1] == 2);
  CHECK(out[0] > 1.9f);  // the new row has the largest score by far
}

TEST_CASE("memory that is written in place is no other argument's", "[in-place]") {
  std::vector<float> memory(4096), other(4096), out(64);
  std::vector<std::int64_t> position{0};
  const auto said = [&](const float* k_new, const float* k, const float* v) {
    const Tensor q(other, {1, 1, 1, 1, 16});
    const Result<void> called =
        cached().kernel()(q, Tensor(k_new, {1, 1, 1, 16}), Tensor(k_new, {1, 1, 1, 16}), Tensor(const_cast<float*>(k), {1, 1, 8, 16}),
                          Tensor(const_cast<float*>(v), {1, 1, 8, 16}), Tensor(position, {1}), Tensor(out, {1, 1, 1, 1, 16}));
    return called ? std::string() : called.error().message;
  };
  const std::string who = "kernel 'cached': input ", own = " in memory; expected memory of its own";
  CHECK(said(&other[1024], &memory[0], &memory[1024]) == "");
  CHECK(said(&other[1024], &memory[0], &memory[0]) == who + "'k_cache' overlaps input 'v_cache'" + own);
  CHECK(said(&other[1024], &memory[0], &memory[100]) == who + "'k_cache' overlaps input 'v_cache'" + own);
  CHECK(said(&memory[8], &memory[0], &memory[1024]) == who + "'k_cache' overlaps input 'k'" + own);
  const Result<void> fixed = cached().kernel()(Tensor(other, {1, 1, 1, 1, 16}), Tensor(other, {1, 1, 1, 16}), Tensor(other, {1, 1, 1, 16}),
                                               Tensor(static_cast<const float*>(memory.data()), {1, 1, 8, 16}), Tensor(&memory[1024], {1, 1, 8, 16}),
                                               Tensor(position, {1}), Tensor(out, {1, 1, 1, 1, 16}));
  REQUIRE(!fixed);
  CHECK(fixed.error().message == who + "'k_cache' is read-only memory; expected memory to write to");
}

}  // namespace attune
