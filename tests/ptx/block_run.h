/// The blocks of a launch as they run, one after the other: warps of 32 lanes, in lockstep where lanes are at the same instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tests/ptx/fault.h"
#include "tests/ptx/groups.h"
#include "tests/ptx/lanes.h"
#include "tests/ptx/launch.h"
#include "tests/ptx/registers.h"
#include "tests/ptx/shared_memory.h"
#include "tests/ptx/written_bytes.h"

namespace attune::ptx {

/// What an instruction of a kernel did.
struct InstructionCounts {
  std::uint64_t times = 0, bank_conflicts = 0;
};
using Executed = std::vector<InstructionCounts>;  // by instruction

class BlockRun {
 public:
  BlockRun(const Entry& entry, const Launch& launch, DeviceMemory& memory, Executed& executed, Counts& counts);

  /// The block at the place of the grid, until all its threads have ended. Throws Fault, and instruction() is then the one at fault.
  void run(const std::array<std::uint32_t, 3>& place);
  const Instruction& instruction() const { return entry_.instructions[at_]; }

 private:
  /// It gathers with its warpgroup at a product, and waits at a barrier.
  enum class State : std::uint8_t { runs, gathers, waits, ended };
  static constexpr std::size_t product_rows = 64;
  /// A product of a warpgroup that runs, as each of its warps knows it; of `chunks` of shared memory it has its factors.
  struct Product {
    const Instruction* instruction;
    std::shared_ptr<const std::vector<std::uint64_t>> chunks;
  };

  /// Forgets the block before: nobody has set a register, or written to shared or local memory.
  void begin(const std::array<std::uint32_t, 3>& place);
  /// Until all lanes wait or have ended: always the lanes at the earliest instruction, which brings those that went apart together again.
  void run_warp(std::size_t first, std::size_t end);
  /// Gathers the lanes at the earliest instruction; gives the instruction at which others join them, or nothing if no lane runs.
  std::optional<std::size_t> gather_lanes(std::size_t first, std::size_t end);
  /// Of the lanes that are together those whose guard holds.
  void choose_lanes();
  void execute();
  void compute(const Instruction& now);
  void compute_together(const Instruction& now);

  void check_all_lanes() const;

  /// The products at which warpgroups gathered; whether there were any. A warp that gathers alone is a fault.
  bool run_products();
  /// The product of the warpgroup whose first thread it is. With t = 32 w + 4 g + c a thread of it, register i of its sums is
  /// d[16 w + g + 8 (i / 2 % 2)][8 (i / 4) + 2 c + i % 2], and element h of n in register r of a is a[16 w + g + 8 (r % 2)][n (c + 4 (r / 2)) + h].
  void multiply(std::size_t first);
  /// The value of an operand that all threads of the warpgroup have to share.
  std::uint64_t shared_value(const Operand& operand, std::size_t first) const;
  /// Factors of a product by rows (of b by columns), of `depth` elements each.
  std::vector<float> factor_in_memory(const WarpgroupRule& rule, std::uint64_t descriptor, std::size_t extent, bool is_transposed, std::size_t thread,
                                      std::vector<std::uint64_t>& chunks);
  std::vector<float> factor_in_registers(const Instruction& now, std::size_t first) const;
  /// Nobody touches the registers of the product until somebody waits for it.
  void begin_product(const Instruction& now, std::size_t first);
  static std::vector<int> factors_of(const Instruction& now);
  void wait_for_products(std::size_t pending);
  void order_products(const Instruction& now);

  void access(const Instruction& now);
  /// Of each lane that executes the instruction, into `addresses_`.
  void find_addresses(const Operand& operand, std::int64_t offset, std::size_t bytes);
  void load(const Instruction& now);
  void store(const Instruction& now);
  /// Bytes beyond those that are read are zeros.
  void copy(const Instruction& now);
  /// Lane 8 n + r names row r of matrix n, of 8 x 8 elements of 2 bytes. Lane l gets of each matrix the elements 2 (l % 4) and the next of row l / 4,
  /// or transposed, of column l / 4. It is the one that reads them: what another lane wrote is there behind a barrier.
  void load_matrices(const Instruction& now);
  /// Bytes of a thread from or to memory.
  void move(Space space, std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load);
  void move_global(std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load);
  void move_local(std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load);
  void count_sectors(std::size_t bytes);
  void count_conflicts(std::size_t bytes);

  std::uint64_t held(int number, std::size_t thread) const {
    return registers_.held(number, thread / warp_size, 1U << thread % warp_size)[thread % warp_size];
  }
  std::uint64_t& hold(int number, std::size_t thread) {
    return registers_.hold(number, thread / warp_size, 1U << thread % warp_size)[thread % warp_size];
  }
  std::uint64_t value(const Operand& operand, std::size_t thread) const;
  std::uint64_t special(Special of, std::size_t thread) const;
  /// The operand's values of the lanes that execute the instruction, in `made` if they stand in no register.
  const Lanes& values(const Operand& operand, Lanes& made) const;

  const Entry& entry_;
  const Launch& launch_;
  std::array<std::uint32_t, 3> place_{};
  DeviceMemory& memory_;
  Executed& executed_;
  Counts& counts_;
  const std::size_t threads_;
  ThreadRegisters registers_;
  std::vector<std::uint32_t> next_;  // instruction of a thread
  std::vector<State> state_;
  std::vector<Groups<Product>> products_;  // by warp
  SharedMemory shared_;
  std::vector<std::byte> local_;
  WrittenBytes is_local_written_;
  std::size_t at_ = 0;
  std::size_t warp_ = 0;                  // that runs
  LaneSet together_;                      // its lanes at the instruction
  LaneSet lanes_;                         // of these, that execute it
  std::vector<std::uint64_t> addresses_;  // of these lanes
  std::vector<std::uint64_t> sources_;    // of their copies
  std::vector<std::uint64_t> sectors_;    // that they touch
};

}  // namespace attune::ptx
