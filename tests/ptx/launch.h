/// Executes a kernel's grid as a GPU would say it does: blocks of warps of 32 lanes, in lockstep where lanes are at the same instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/ptx/device_memory.h"
#include "tests/ptx/module.h"

namespace attune::ptx {

struct Launch {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::size_t shared_bytes = 0;  ///< beside what the kernel declares
  std::vector<std::byte> parameters;  ///< as the entry's offsets say
};

/// What a launch did, summed over its warps.
struct Counts {
  std::map<std::string, std::uint64_t, std::less<>> instructions;  ///< by whole name; of a warp's instruction one, however many lanes it has
  std::uint64_t global_accesses = 0;  ///< of warps
  std::uint64_t global_sectors = 0;   ///< of 32 bytes, that these touch
  std::uint64_t shared_accesses = 0;  ///< of warps
  std::uint64_t bank_conflicts = 0;   ///< times that one of these takes a bank of 4 bytes beyond the first
  std::map<std::string, std::uint64_t, std::less<>> conflicts_of;  ///< the same by the whole name of the instruction
  std::size_t shared_bytes = 0;       ///< of a block, the most of any launch
};

/// What a program has done with the interpreter so far.
struct DriverLog {
  Counts counts;                    ///< of all launches since somebody last emptied them
  std::vector<std::string> modules;  ///< the PTX of those that were loaded since somebody last emptied this
  int machine_codes = 0;             ///< images of machine code in the module that was loaded last
  unsigned registers_at_most = 0;   ///< of a thread, as the last module was loaded; 0: as many as there are
};

/// Empty, or what is wrong, with the kernel, the block, the thread and the instruction: an access outside of arrays or of what nobody wrote, or that
/// is not aligned; two threads of a block that touch a byte of shared memory between barriers, one of them writing; a byte that is still being copied
/// to; a barrier that some threads end without; an instruction of a whole warp that some lanes do not execute; a register that the thread never set.
std::string run(const Entry& entry, const Launch& launch, DeviceMemory& memory, Counts& counts);

}  // namespace attune::ptx
