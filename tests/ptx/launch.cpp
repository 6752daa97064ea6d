#include "tests/ptx/launch.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace attune::ptx {
namespace {

constexpr std::size_t warp_size = 32, sector_bytes = 32, bank_bytes = 4, bank_count = 32;

/// A byte of shared memory: who touched it since the last barrier.
struct SharedByte {
  std::byte value{};
  bool is_written = false;
  std::uint32_t write_epoch = 0, read_epoch = 0;  // 0: never
  std::uint32_t writer = 0, reader = 0;
  bool has_several_readers = false;
};

/// What ends a launch.
struct Fault {
  std::string what;
  std::size_t thread = 0;
};

std::string in_words(const std::array<std::uint32_t, 3>& place) {
  return "(" + std::to_string(place[0]) + ", " + std::to_string(place[1]) + ", " + std::to_string(place[2]) + ")";
}

/// The name of an instruction, without its guard and its operands.
std::string_view name_of(const Instruction& instruction) {
  std::string_view text = instruction.text;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find_first_of(" \t") + 1));
  return text.substr(0, text.find_first_of(" \t;"));
}

/// One block of a launch.
class BlockRun {
 public:
  BlockRun(const Entry& entry, const Launch& launch, const std::array<std::uint32_t, 3>& place, DeviceMemory& memory, std::vector<std::uint64_t>& executed, Counts& counts)
      : entry_(entry),
        launch_(launch),
        place_(place),
        memory_(memory),
        executed_(executed),
        counts_(counts),
        threads_(std::size_t{launch.block[0]} * launch.block[1] * launch.block[2]),
        registers_(static_cast<std::size_t>(entry.register_count) * threads_),
        next_(threads_, 0),
        state_(threads_, State::runs),
        shared_(entry.shared_bytes + launch.shared_bytes),
        local_(entry.local_bytes * threads_),
        is_local_written_(local_.size()) {}

  void run() {
    for (;;) {
      for (std::size_t first = 0; first < threads_; first += warp_size) run_warp(first, std::min(first + warp_size, threads_));
      const auto waits = std::ranges::find(state_, State::waits);
      if (waits == state_.end()) return;
      const auto ended = std::ranges::find(state_, State::ended);
      if (ended != state_.end()) {
        const auto thread = static_cast<std::size_t>(waits - state_.begin());
        at_ = next_[thread] - 1;
        throw Fault{"thread " + in_words(thread_place(static_cast<std::size_t>(ended - state_.begin()))) + " ends without this barrier", thread};
      }
      std::ranges::fill(state_, State::runs);
      ++epoch_;
    }
  }

  const Instruction& instruction() const { return entry_.instructions[at_]; }
  std::array<std::uint32_t, 3> thread_place(std::size_t thread) const {
    const auto t = static_cast<std::uint32_t>(thread);
    return {t % launch_.block[0], t / launch_.block[0] % launch_.block[1], t / launch_.block[0] / launch_.block[1]};
  }

 private:
  enum class State : std::uint8_t { runs, waits, ended };

  /// Until all lanes wait or have ended: always the lanes at the earliest instruction, which brings those that went apart together again.
  void run_warp(std::size_t first, std::size_t end) {
    for (;;) {
      at_ = entry_.instructions.size();
      for (std::size_t t = first; t < end; ++t)
        if (state_[t] == State::runs) at_ = std::min(at_, next_[t]);
      bool is_any = false;
      lanes_.clear();
      for (std::size_t t = first; t < end; ++t) {
        if (state_[t] != State::runs || next_[t] != at_) continue;
        is_any = true;
        if (at_ == entry_.instructions.size()) {
          state_[t] = State::ended;  // beyond the last instruction
          continue;
        }
        const Instruction& now = instruction();
        ++next_[t];
        if (now.guard < 0 || (reg(now.guard, t) != 0) == now.guard_value) lanes_.push_back(t);
      }
      if (!is_any) return;
      if (lanes_.empty()) continue;
      ++executed_[at_];
      execute();
    }
  }

  void execute() {
    const Instruction& now = instruction();
    switch (now.kind) {
      case Instruction::Kind::compute:
        for (const std::size_t t : lanes_) {
          std::uint64_t values[4] = {};
          for (std::size_t i = 0; i < now.operands.size(); ++i) values[i] = value(now.operands[i], t);
          reg(now.results[0], t) = now.compute(values);
        }
        return;
      case Instruction::Kind::branch:
        for (const std::size_t t : lanes_) next_[t] = now.target;
        return;
      case Instruction::Kind::barrier:
        for (const std::size_t t : lanes_) state_[t] = State::waits;
        return;
      case Instruction::Kind::end:
        for (const std::size_t t : lanes_) state_[t] = State::ended;
        return;
      case Instruction::Kind::load:
      case Instruction::Kind::store: access(now); return;
    }
  }

  void access(const Instruction& now) {
    const bool is_load = now.kind == Instruction::Kind::load;
    const std::size_t count = is_load ? now.results.size() : now.operands.size(), bytes = static_cast<std::size_t>(now.bytes);
    addresses_.clear();
    for (const std::size_t t : lanes_) {
      const std::uint64_t address = value(now.address, t) + static_cast<std::uint64_t>(now.offset);
      addresses_.push_back(address);
      if (address % (bytes * count) != 0)
        throw Fault{"the address " + std::to_string(address) + " is no multiple of " + std::to_string(bytes * count) + " bytes", t};
      for (std::size_t i = 0; i < count; ++i) {
        if (is_load) {
          std::uint64_t bits = 0;
          move(now.space, address + i * bytes, bytes, t, reinterpret_cast<std::byte*>(&bits), true);
          if (now.is_signed && bytes < 8 && (bits >> (8 * bytes - 1) & 1) != 0) bits |= ~std::uint64_t{0} << 8 * bytes;
          reg(now.results[i], t) = bits;
        } else {
          std::uint64_t bits = value(now.operands[i], t);
          move(now.space, address + i * bytes, bytes, t, reinterpret_cast<std::byte*>(&bits), false);
        }
      }
    }
    if (now.space == Space::global) count_sectors(bytes * count);
    if (now.space == Space::shared) count_conflicts(bytes * count);
  }

  /// Bytes of a thread from or to memory.
  void move(Space space, std::uint64_t address, std::size_t bytes, std::size_t thread, std::byte* data, bool is_load) {
    switch (space) {
      case Space::param:
        if (!is_load || address + bytes > launch_.parameters.size()) throw Fault{"touches no parameter", thread};
        std::memcpy(data, launch_.parameters.data() + address, bytes);
        return;
      case Space::global: {
        std::size_t offset = 0;
        DeviceMemory::Array* array = memory_.find(address, bytes, offset);
        if (array == nullptr) throw Fault{"touches " + std::to_string(bytes) + " bytes of global memory that no array holds", thread};
        for (std::size_t i = 0; i < bytes; ++i) {
          if (is_load && !array->is_written[offset + i]) throw Fault{"reads byte " + std::to_string(offset + i) + " of an array of global memory, which nobody wrote", thread};
          if (!is_load) array->is_written[offset + i] = true;
        }
        auto* const place = reinterpret_cast<std::byte*>(address);
        std::memcpy(is_load ? data : place, is_load ? place : data, bytes);
        return;
      }
      case Space::shared:
        if (address + bytes > shared_.size()) throw Fault{"touches byte " + std::to_string(address) + " of shared memory, of which the block has " + std::to_string(shared_.size()), thread};
        for (std::size_t i = 0; i < bytes; ++i) touch(shared_[address + i], address + i, thread, data[i], is_load);
        return;
      case Space::local: {
        if (address + bytes > entry_.local_bytes) throw Fault{"touches byte " + std::to_string(address) + " of local memory, of which a thread has " + std::to_string(entry_.local_bytes), thread};
        const std::size_t first = thread * entry_.local_bytes + address;
        for (std::size_t i = 0; i < bytes; ++i) {
          if (is_load && !is_local_written_[first + i]) throw Fault{"reads byte " + std::to_string(address + i) + " of local memory, which it did not write", thread};
          if (is_load) data[i] = local_[first + i];
          else local_[first + i] = data[i], is_local_written_[first + i] = true;
        }
        return;
      }
    }
  }

  void touch(SharedByte& byte, std::uint64_t address, std::size_t thread, std::byte& data, bool is_load) {
    const auto self = static_cast<std::uint32_t>(thread);
    const auto race = [&](std::uint32_t other, std::string_view does) {
      throw Fault{"touches byte " + std::to_string(address) + " of shared memory, which thread " + in_words(thread_place(other)) + " " + std::string(does) + ", with no barrier between", thread};
    };
    if (byte.write_epoch == epoch_ && byte.writer != self) race(byte.writer, "writes");
    if (is_load) {
      if (!byte.is_written) throw Fault{"reads byte " + std::to_string(address) + " of shared memory, which nobody wrote", thread};
      byte.has_several_readers = byte.read_epoch == epoch_ && (byte.has_several_readers || byte.reader != self);
      byte.read_epoch = epoch_;
      byte.reader = self;
      data = byte.value;
      return;
    }
    if (byte.read_epoch == epoch_ && (byte.has_several_readers || byte.reader != self)) race(byte.reader, "reads");
    byte.write_epoch = epoch_;
    byte.writer = self;
    byte.is_written = true;
    byte.value = data;
  }

  void count_sectors(std::size_t bytes) {
    sectors_.clear();
    for (const std::uint64_t address : addresses_)
      for (std::uint64_t sector = address / sector_bytes; sector <= (address + bytes - 1) / sector_bytes; ++sector)
        if (sectors_.empty() || sectors_.back() != sector) sectors_.push_back(sector);
    std::ranges::sort(sectors_);
    ++counts_.global_accesses;
    counts_.global_sectors += static_cast<std::uint64_t>(std::ranges::unique(sectors_).begin() - sectors_.begin());
  }

  /// So many lanes as ask for 128 bytes are served at once: a bank gives one word of it, to all that want this word.
  void count_conflicts(std::size_t bytes) {
    const std::size_t at_once = std::max<std::size_t>(1, std::min(warp_size, warp_size * bank_bytes / bytes));
    ++counts_.shared_accesses;
    for (std::size_t first = 0; first < addresses_.size(); first += at_once) {
      std::array<std::set<std::uint64_t>, bank_count> words;
      for (std::size_t n = first; n < std::min(first + at_once, addresses_.size()); ++n)
        for (std::uint64_t word = addresses_[n] / bank_bytes; word <= (addresses_[n] + bytes - 1) / bank_bytes; ++word) words[word % bank_count].insert(word);
      std::size_t most = 1;
      for (const auto& of_bank : words) most = std::max(most, of_bank.size());
      counts_.bank_conflicts += most - 1;
    }
  }

  std::uint64_t& reg(int number, std::size_t thread) { return registers_[static_cast<std::size_t>(number) * threads_ + thread]; }
  std::uint64_t value(const Operand& operand, std::size_t thread) {
    if (operand.kind == Operand::Kind::number) return operand.value;
    if (operand.kind == Operand::Kind::reg) return reg(static_cast<int>(operand.value), thread);
    const auto special = static_cast<Special>(operand.value);
    if (special == Special::laneid) return thread % warp_size;
    const std::array<std::array<std::uint32_t, 3>, 4> places = {thread_place(thread), launch_.block, place_, launch_.grid};
    return places[operand.value / 3][operand.value % 3];
  }

  const Entry& entry_;
  const Launch& launch_;
  const std::array<std::uint32_t, 3> place_;
  DeviceMemory& memory_;
  std::vector<std::uint64_t>& executed_;  // by instruction
  Counts& counts_;
  const std::size_t threads_;
  std::vector<std::uint64_t> registers_;  // by register, then by thread
  std::vector<std::size_t> next_;         // instruction of a thread
  std::vector<State> state_;
  std::vector<SharedByte> shared_;
  std::vector<std::byte> local_;
  std::vector<bool> is_local_written_;
  std::uint32_t epoch_ = 1;  // barriers passed, and one
  std::size_t at_ = 0;
  std::vector<std::size_t> lanes_;        // that execute the instruction
  std::vector<std::uint64_t> addresses_;  // of these lanes
  std::vector<std::uint64_t> sectors_;    // that they touch
};

}  // namespace

std::string run(const Entry& entry, const Launch& launch, DeviceMemory& memory, Counts& counts) {
  std::vector<std::uint64_t> executed(entry.instructions.size());
  counts.shared_bytes = std::max(counts.shared_bytes, entry.shared_bytes + launch.shared_bytes);
  std::string problem;
  std::array<std::uint32_t, 3> place{};
  for (place[2] = 0; place[2] < launch.grid[2] && problem.empty(); ++place[2])
    for (place[1] = 0; place[1] < launch.grid[1] && problem.empty(); ++place[1])
      for (place[0] = 0; place[0] < launch.grid[0] && problem.empty(); ++place[0]) {
        BlockRun block(entry, launch, place, memory, executed, counts);
        try {
          block.run();
        } catch (const Fault& fault) {
          problem = "kernel '" + entry.name + "', block " + in_words(place) + ", thread " + in_words(block.thread_place(fault.thread)) + ", line " +
                    std::to_string(block.instruction().line) + ": '" + block.instruction().text + "' " + fault.what;
        }
      }
  for (std::size_t i = 0; i < executed.size(); ++i)
    if (executed[i] > 0) counts.instructions[std::string(name_of(entry.instructions[i]))] += executed[i];
  return problem;
}

}  // namespace attune::ptx
