/// Memory that kernels take for what they store between their stages, with each block between pages that nobody may touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/abi.h"
#include "tests/hostile/guarded_memory.h"

namespace attune {

/// Where blocks lie and what they hold at first; canaries before and behind them hold the same.
struct ScratchPlan {
  Flush flush = Flush::last;
  std::byte fill{0xff};  ///< a NaN in f32 and bf16
};

/// From now on kernels of the file with these hooks take their memory here. A block is aligned to 128 bytes and has 8 readable bytes on
/// both sides, as Halide's own allocator promises; what lies farther away and in no canary is a fault. A block that was given back is a
/// fault too.
void guard_scratch(const attune_hooks_v2& hooks);
/// The same for kernels that are linked into the program.
void guard_own_scratch();

/// For the calls that follow.
void plan_scratch(const ScratchPlan& plan);

/// Of all calls so far: how many blocks were taken, and the first thing that was wrong: a canary that was changed, or a block that was not
/// given back.
std::int64_t scratch_blocks();
std::string scratch_problem();

}  // namespace attune
