#include "tests/ptx/launch.h"

#include <algorithm>

#include "tests/ptx/block_run.h"

namespace attune::ptx {
namespace {

/// The name of an instruction, without its guard and its operands.
std::string_view name_of(const Instruction& instruction) {
  std::string_view text = instruction.text;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find_first_of(" \t") + 1));
  return text.substr(0, text.find_first_of(" \t;"));
}

}  // namespace

std::string run(const Entry& entry, const Launch& launch, DeviceMemory& memory, Counts& counts) {
  Executed executed(entry.instructions.size());
  counts.shared_bytes = std::max(counts.shared_bytes, entry.shared_bytes + launch.shared_bytes);
  std::string problem;
  BlockRun block(entry, launch, memory, executed, counts);
  std::array<std::uint32_t, 3> place{};
  for (place[2] = 0; place[2] < launch.grid[2] && problem.empty(); ++place[2])
    for (place[1] = 0; place[1] < launch.grid[1] && problem.empty(); ++place[1])
      for (place[0] = 0; place[0] < launch.grid[0] && problem.empty(); ++place[0]) {
        try {
          block.run(place);
        } catch (const Fault& fault) {
          problem = "kernel '" + entry.name + "', block " + in_words(place) + ", thread " + in_words(thread_place(fault.thread, launch.block)) + ", line " +
                    std::to_string(block.instruction().line) + ": '" + block.instruction().text + "' " + fault.what;
        }
      }
  for (std::size_t i = 0; i < executed.size(); ++i) {
    if (executed[i].times == 0) continue;
    const std::string name(name_of(entry.instructions[i]));
    counts.instructions[name] += executed[i].times;
    counts.bank_conflicts += executed[i].bank_conflicts;
    if (executed[i].bank_conflicts > 0) counts.conflicts_of[name] += executed[i].bank_conflicts;
  }
  return problem;
}

}  // namespace attune::ptx
