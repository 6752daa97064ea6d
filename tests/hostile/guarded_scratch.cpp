#include "tests/hostile/guarded_scratch.h"

#include <HalideRuntime.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "runtime/threads.h"
#include "runtime/words.h"

namespace attune {
namespace {

constexpr std::size_t alignment = 128, slack = 8;  // halide_malloc's

struct Block {
  GuardedMemory memory;
  std::byte fill;
};

struct Scratch {
  std::mutex mutex;
  ScratchPlan plan;
  std::map<void*, Block> blocks;
  std::int64_t taken = 0;
  std::string problem;
};

Scratch& scratch() {
  static auto* one = new Scratch;  // never destroyed: Halide's pool may still run
  return *one;
}

void* take(void*, std::size_t bytes) {
  Scratch& s = scratch();
  const std::scoped_lock lock(s.mutex);
  GuardedMemory memory(words("scratch block ", s.taken, " of ", bytes, " bytes"), bytes, s.plan.flush, alignment, slack);
  std::ranges::fill(memory.room(), s.plan.fill);
  ++s.taken;
  void* data = memory.data();
  s.blocks.emplace(data, Block{std::move(memory), s.plan.fill});
  return data;
}

/// How many bytes off the block the first changed canary lies, in words; empty if none is changed.
std::string canary_problem(const Block& block) {
  const std::byte *data = block.memory.data(), *end = data + block.memory.bytes();
  for (const std::byte& byte : block.memory.room()) {
    if (byte == block.fill || (&byte >= data && &byte < end)) continue;
    const std::ptrdiff_t away = &byte < data ? data - &byte : &byte - end;
    return words("writes ", away, &byte < data ? " bytes before the first byte" : " bytes beyond the end", " of a scratch block of ",
                 block.memory.bytes(), " bytes");
  }
  return {};
}

void give_back(void*, void* data) {
  if (data == nullptr) return;
  Scratch& s = scratch();
  const std::scoped_lock lock(s.mutex);
  const auto block = s.blocks.find(data);
  if (block == s.blocks.end()) {
    if (s.problem.empty()) s.problem = "gives back a scratch block that it did not take";
    return;
  }
  if (s.problem.empty()) s.problem = canary_problem(block->second);
  s.blocks.erase(block);
}

}  // namespace

void guard_scratch(const attune_hooks_v2& hooks) {
  hooks.set_malloc(reinterpret_cast<void*>(take));
  hooks.set_free(reinterpret_cast<void*>(give_back));
}

void guard_own_scratch() {
  num_threads();  // the runtime has set its own allocator then
  halide_set_custom_malloc(take);
  halide_set_custom_free(give_back);
}

void plan_scratch(const ScratchPlan& plan) {
  const std::scoped_lock lock(scratch().mutex);
  scratch().plan = plan;
}

std::int64_t scratch_blocks() {
  const std::scoped_lock lock(scratch().mutex);
  return scratch().taken;
}

std::string scratch_problem() {
  Scratch& s = scratch();
  const std::scoped_lock lock(s.mutex);
  if (s.problem.empty() && !s.blocks.empty()) return words("keeps ", s.blocks.size(), " scratch blocks after the call");
  return s.problem;
}

}  // namespace attune
