/// PTX, the text of CUDA's kernels, as instructions that a test can execute: those that Attune's kernels contain, and no others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/lanes.h"

namespace attune::ptx {

/// What a thread is told of its place, in the order of the names of PTX: %tid.x to %nctaid.z, %laneid.
enum class Special { tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z, laneid };

/// A register, a number, or a place; of registers and numbers the bits, those of narrower types in the low ones.
struct Operand {
  enum class Kind { reg, number, special };
  Kind kind = Kind::number;
  std::uint64_t value = 0;  ///< number of the register, the bits, or a Special
};

/// The result of up to `most_operands`.
inline constexpr std::size_t most_operands = 3;
using Compute = std::uint64_t (*)(const std::uint64_t* operands);
/// The same for the lanes that are named by bits; `result` may be an operand.
using ComputeLanes = void (*)(const Lanes* const* operands, std::uint32_t lanes, Lanes& result);
/// The results of all lanes from up to `most_warp_operands` of all lanes.
inline constexpr std::size_t most_warp_operands = 10;
using ComputeWarp = void (*)(const Lanes* const* operands, Lanes* results);

enum class Space { param, global, shared, local };

/// What wgmma.mma_async computes: sums in f32 of `depth` products of elements of so many bytes.
struct WarpgroupRule {
  std::string_view name;  ///< behind the number of columns
  std::size_t depth, bytes;
  float (*element)(const std::byte* place);
};
/// d = a * b + d, of 64 x depth and depth x columns elements.
struct WarpgroupProduct {
  const WarpgroupRule* rule = nullptr;
  std::size_t columns = 0;
  float sign = 1;  ///< of the products
  bool is_a_in_registers = false, is_a_transposed = false, is_b_transposed = false;
};

struct Instruction {
  enum class Kind {
    compute,
    load,
    store,
    branch,
    barrier,
    end,
    trap,
    warp,
    copy,  ///< of cp.async, as the next two
    end_group,
    wait,
    load_matrices,  ///< ldmatrix
    product,        ///< of wgmma, as the next three
    fence_products,
    end_products,
    wait_products,
    fence_async  ///< between what threads write and what wgmma reads
  };
  Kind kind = Kind::compute;
  std::string text;  ///< as it is written, for sentences
  int line = 0;      ///< of the module, from 1
  int guard = -1;    ///< a predicate's register: lanes where it is as `guard_value` says execute the instruction
  bool guard_value = true;
  ComputeLanes compute = nullptr;
  ComputeWarp compute_warp = nullptr;
  int lane_mask = -1;             ///< the operand of compute_warp that says which lanes take part; -1: all
  /// Of a store what is stored, one for each element of a vector; of a copy, how many bytes are read, if not all; of a product a (one descriptor or
  /// four registers), b, and whether d counts.
  std::vector<Operand> operands;
  std::vector<int> results;       ///< registers; of a load one for each element of a vector
  Space space = Space::global;    ///< of loads and stores
  int bytes = 0;                  ///< of one element; of a copy, how many are written
  bool is_signed = false;         ///< a load extends it by its sign
  bool is_transposed = false;     ///< of load_matrices
  Operand address, source;        ///< the latter of a copy alone
  std::int64_t offset = 0, source_offset = 0;
  WarpgroupProduct product;
  std::size_t target = 0;  ///< of a branch: the number of an instruction

  /// Lanes that execute it may not go on to the next instruction.
  bool ends_run() const {
    return kind == Kind::branch || kind == Kind::barrier || kind == Kind::end || kind == Kind::trap || kind == Kind::product;
  }
};

/// A kernel.
struct Entry {
  struct Parameter {
    std::string name;
    std::size_t offset = 0, bytes = 0;
  };
  std::string name;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  int register_count = 0;
  std::size_t shared_bytes = 0;  ///< beside what a launch adds, which begins there
  std::size_t local_bytes = 0;   ///< of one thread
  std::vector<Instruction> instructions;
  /// Whether there are any of warpgroups.
  bool has_products() const { return std::ranges::any_of(instructions, [](const Instruction& i) { return i.kind == Instruction::Kind::product; }); }
};

/// The kernels of a module by name. std::runtime_error with a line and what stands there: an instruction that is none of those that Attune's kernels
/// contain, or a name that is not declared.
std::map<std::string, Entry, std::less<>> parse(std::string_view text);

/// The instruction's computation by its whole name ("fma.rn.f32") and how many operands it takes; nullptr if it is none of them.
struct Rule {
  std::string_view name;
  int operands;
  Compute compute;
  ComputeLanes compute_lanes;
};
const Rule* find_rule(std::string_view name);

/// The same for what lanes of a warp compute together. Vectors count by their elements; `lane_mask` is the operand that says which lanes take part,
/// -1 if all have to.
struct WarpRule {
  std::string_view name;
  int operands, results, lane_mask;
  ComputeWarp compute;
};
const WarpRule* find_warp_rule(std::string_view name);

/// The instructions that compute nothing, and how many operands they have: numbers or registers.
struct OrderRule {
  std::string_view name;
  int operands;
  Instruction::Kind kind;
};
const OrderRule* find_order_rule(std::string_view name);

/// "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, p, 1, 1, 0, 0;" by its name and the parts between commas. The
/// last two, whether a and b are transposed, stand where elements have 16 bits; not that of a, if its elements are in registers. Gives what is wrong.
std::string read_product(std::string_view name, const std::vector<std::string_view>& parts, WarpgroupProduct& product);

}  // namespace attune::ptx
