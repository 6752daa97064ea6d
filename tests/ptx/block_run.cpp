#include "tests/ptx/block_run.h"

#include <algorithm>

namespace attune::ptx {
namespace {

std::size_t warps_of(std::size_t threads) { return (threads + warp_size - 1) / warp_size; }

}  // namespace

BlockRun::BlockRun(const Entry& entry, const Launch& launch, const std::array<std::uint32_t, 3>& place, DeviceMemory& memory, Executed& executed,
                   Counts& counts)
    : entry_(entry),
      launch_(launch),
      place_(place),
      memory_(memory),
      executed_(executed),
      counts_(counts),
      threads_(std::size_t{launch.block[0]} * launch.block[1] * launch.block[2]),
      registers_(static_cast<std::size_t>(entry.register_count) * threads_),
      is_set_(registers_.size()),
      next_(threads_, 0),
      state_(threads_, State::runs),
      in_products_(static_cast<std::size_t>(entry.register_count), warps_of(threads_)),
      products_(warps_of(threads_)),
      shared_(entry.shared_bytes + launch.shared_bytes, launch.block),
      local_(entry.local_bytes * threads_),
      is_local_written_(local_.size()) {}

void BlockRun::run() {
  for (;;) {
    for (std::size_t first = 0; first < threads_; first += warp_size) run_warp(first, std::min(first + warp_size, threads_));
    if (run_products()) continue;
    const auto waits = std::ranges::find(state_, State::waits);
    if (waits == state_.end()) return;
    const auto ended = std::ranges::find(state_, State::ended);
    if (ended != state_.end()) {
      const auto thread = static_cast<std::size_t>(waits - state_.begin());
      at_ = next_[thread] - 1;
      throw Fault{"thread " + in_words(thread_place(static_cast<std::size_t>(ended - state_.begin()), launch_.block)) + " ends without this barrier",
                  thread};
    }
    std::ranges::fill(state_, State::runs);
    shared_.pass_barrier();
  }
}

void BlockRun::run_warp(std::size_t first, std::size_t end) {
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
    ++executed_[at_].times;
    execute();
  }
}

void BlockRun::execute() {
  const Instruction& now = instruction();
  switch (now.kind) {
    case Instruction::Kind::compute:
      for (const std::size_t t : lanes_) {
        std::uint64_t values[4] = {};
        for (std::size_t i = 0; i < now.operands.size(); ++i) values[i] = value(now.operands[i], t);
        set(now.results[0], t, now.compute(values));
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
    case Instruction::Kind::trap:
      throw Fault{"is executed", lanes_[0]};
    case Instruction::Kind::load:
    case Instruction::Kind::store:
      return access(now);
    case Instruction::Kind::warp:
      return compute_together(now);
    case Instruction::Kind::copy:
      return copy(now);
    case Instruction::Kind::end_group:
      for (const std::size_t t : lanes_) shared_.end_group(t);
      return;
    case Instruction::Kind::wait:
      for (const std::size_t t : lanes_) shared_.wait(t, value(now.operands[0], t));
      return;
    case Instruction::Kind::load_matrices:
      return load_matrices(now);
    case Instruction::Kind::product:
      check_all_lanes();
      for (const std::size_t t : lanes_) state_[t] = State::gathers;
      return;
    case Instruction::Kind::fence_products:
    case Instruction::Kind::end_products:
    case Instruction::Kind::wait_products:
      return order_products(now);
    case Instruction::Kind::fence_async:
      for (const std::size_t t : lanes_) shared_.fence_async(t);
      return;
  }
}

std::uint32_t BlockRun::lane_bits() const {
  std::uint32_t bits = 0;
  for (const std::size_t t : lanes_) bits |= 1U << t % warp_size;
  return bits;
}

void BlockRun::check_all_lanes() const {
  if (lane_bits() != ~0U) throw Fault{"is executed by some lanes of the warp, and all have to", lanes_[0]};
}

void BlockRun::compute_together(const Instruction& now) {
  if (now.lane_mask < 0) check_all_lanes();
  Lanes operands[10] = {}, results[4] = {};
  for (const std::size_t t : lanes_)
    for (std::size_t i = 0; i < now.operands.size(); ++i) operands[i][t % warp_size] = value(now.operands[i], t);
  for (const std::size_t t : lanes_)
    if (now.lane_mask >= 0 && static_cast<std::uint32_t>(operands[now.lane_mask][t % warp_size]) != lane_bits())
      throw Fault{"is executed by other lanes than its mask says", t};
  now.compute_warp(operands, results);
  for (const std::size_t t : lanes_)
    for (std::size_t i = 0; i < now.results.size(); ++i) set(now.results[i], t, results[i][t % warp_size]);
}

std::uint64_t BlockRun::reg(int number, std::size_t thread) const {
  check_not_in_flight(number, thread);
  return held(number, thread);
}

void BlockRun::set(int number, std::size_t thread, std::uint64_t bits) {
  check_not_in_flight(number, thread);
  in_products_.write(static_cast<std::size_t>(number), thread / warp_size);
  hold(number, thread, bits);
}

void BlockRun::check_not_in_flight(int number, std::size_t thread) const {
  if (in_products_.is_in_flight(static_cast<std::size_t>(number), thread / warp_size))
    throw Fault{"touches a register that a product of matrices has in flight, with no wgmma.wait_group between", thread};
}

std::uint64_t BlockRun::held(int number, std::size_t thread) const {
  if (!is_set_[place_of(number, thread)]) throw Fault{"reads a register that the thread never set", thread};
  return registers_[place_of(number, thread)];
}

void BlockRun::hold(int number, std::size_t thread, std::uint64_t bits) {
  registers_[place_of(number, thread)] = bits;
  is_set_[place_of(number, thread)] = true;
}

std::uint64_t BlockRun::value(const Operand& operand, std::size_t thread) const {
  if (operand.kind == Operand::Kind::number) return operand.value;
  if (operand.kind == Operand::Kind::reg) return reg(static_cast<int>(operand.value), thread);
  const auto special = static_cast<Special>(operand.value);
  if (special == Special::laneid) return thread % warp_size;
  const std::array<std::array<std::uint32_t, 3>, 4> places = {thread_place(thread, launch_.block), launch_.block, place_, launch_.grid};
  return places[operand.value / 3][operand.value % 3];
}

}  // namespace attune::ptx
