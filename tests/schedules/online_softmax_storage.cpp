#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "tests/schedules/attention_case.h"

using namespace attune;
using Halide::JITUserContext;

namespace {

/// Bytes that a kernel holds, now and at most.
struct Storage {
  std::map<void*, std::size_t> blocks;
  std::size_t now = 0, most = 0;
} storage;

void* allocate(JITUserContext*, std::size_t bytes) {
  void* block = std::aligned_alloc(128, (bytes + 255) / 128 * 128);
  storage.blocks[block] = bytes;
  storage.now += bytes;
  storage.most = std::max(storage.most, storage.now);
  return block;
}

void release(JITUserContext*, void* block) {
  const auto found = storage.blocks.find(block);
  storage.now -= found->second;
  storage.blocks.erase(found);
  std::free(block);
}

int run_in_order(JITUserContext* context, int (*task)(JITUserContext*, int, std::uint8_t*), int first, int count, std::uint8_t* closure) {
  for (int i = first; i < first + count; ++i)
    if (const int problem = task(context, i, closure); problem != 0) return problem;
  return 0;
}

/// The most bytes that a call on one thread allocates on the heap.
std::size_t most_bytes(const JitKernel& kernel, const Shape& s) {
  Arguments a(s, 1);
  Halide::Buffer<float> result(s.value_depth, s.queries, s.group, s.heads, s.batch);
  JITUserContext context;
  context.handlers.custom_malloc = allocate;
  context.handlers.custom_free = release;
  context.handlers.custom_do_par_for = run_in_order;
  storage = {};
  REQUIRE(kernel(context, a.q, a.k, a.v, a.bias, a.mask, a.lengths, a.wa, result) == 0);
  CHECK(storage.now == 0);
  return storage.most;
}

/// The machine's default for large calls.
int large_parameter(std::string_view name) {
  return static_cast<int>(value_of(online_softmax_parameters(host_machine(), SizeClass::large), name));
}

/// Of a packed key, and of the whole vectors of its value where values are copied.
std::size_t bytes_of_key(int depth, int value_depth) {
  const int lanes = host_machine().vector_bytes / static_cast<int>(sizeof(float));
  const int copied = large_parameter("copy_values") != 0 ? (value_depth + lanes - 1) / lanes * lanes : 0;
  return static_cast<std::size_t>(depth + copied) * sizeof(float);
}

}  // namespace

TEST_CASE("storage is tiles, and the keys and copied values of one head", "[causal]") {
  const JitKernel& kernel = kernel_of(causal, softmax_templates[0]);
  constexpr int depth = 24, value_depth = 40;
  const std::size_t of_key = bytes_of_key(depth, value_depth);
  // more queries than a block has keys: blocks of every size are visited
  const std::size_t few = most_bytes(kernel, {1, 3, 2, 600, 1024, depth, value_depth});
  CHECK(few > 1024 * of_key);
  CHECK(most_bytes(kernel, {1, 3, 2, 900, 1024, depth, value_depth}) == few);
  CHECK(most_bytes(kernel, {2, 4, 1, 600, 1024, depth, value_depth}) == few);
  CHECK(most_bytes(kernel, {1, 3, 2, 600, 4096, depth, value_depth}) == few + (4096 - 1024) * of_key);
}

TEST_CASE("of large key blocks scores are stored for a tile of queries, weights for a group of its rows", "[causal]") {
  constexpr int depth = 16;
  const int keys = 4 * large_parameter("key_tile");
  const std::size_t tile = sizeof(float) * static_cast<std::size_t>(large_parameter("query_tile") * large_parameter("key_tile"));
  const std::size_t of_keys = static_cast<std::size_t>(keys) * bytes_of_key(depth, depth);
  const JitKernel& kernel = kernel_of(causal, softmax_templates[0]);
  const std::size_t most = most_bytes(kernel, {1, 1, 1, keys, keys, depth, depth});
  CHECK(most > of_keys + tile);
  CHECK(most < of_keys + 2 * tile);
}

TEST_CASE("storage of whole rows is that of a tile of queries", "[causal]") {
  const JitKernel& kernel = kernel_of(causal, softmax_templates[3]);
  const std::size_t few = most_bytes(kernel, {1, 3, 2, 600, 1024, 24, 40});
  CHECK(few > 1024 * sizeof(float));
  CHECK(most_bytes(kernel, {2, 4, 1, 900, 1024, 24, 40}) == few);
  CHECK(most_bytes(kernel, {1, 3, 2, 600, 4096, 24, 40}) < 4 * few);
}
