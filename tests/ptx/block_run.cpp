#include "tests/ptx/block_run.h"

#include <algorithm>

namespace attune::ptx {
namespace {

std::size_t warps_of(std::size_t threads) { return (threads + warp_size - 1) / warp_size; }

}  // namespace

BlockRun::BlockRun(const Entry& entry, const Launch& launch, const std::array<std::uint32_t, 3>& place, DeviceMemory& memory,
                   Executed& executed, Counts& counts)
    : entry_(entry),
      launch_(launch),
      place_(place),
      memory_(memory),
      executed_(executed),
      counts_(counts),
      threads_(std::size_t{launch.block[0]} * launch.block[1] * launch.block[2]),
      registers_(entry.register_count, warps_of(threads_)),
      next_(threads_, 0),
      state_(threads_, State::runs),
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
      throw Fault{"thread " + in_words(thread_place(static_cast<std::size_t>(ended - state_.begin()), launch_.block)) +
                      " ends without this barrier",
                  thread};
    }
    std::ranges::fill(state_, State::runs);
    shared_.pass_barrier();
  }
}

void BlockRun::run_warp(std::size_t first, std::size_t end) {
  warp_ = first / warp_size;
  while (const std::optional<std::size_t> others = gather_lanes(first, end)) {
    if (at_ == entry_.instructions.size()) {
      for (const std::size_t t : together_) state_[t] = State::ended;  // beyond the last instruction
      continue;
    }
    bool stay = true;
    do {
      const Instruction& now = instruction();
      stay = !now.ends_run();
      if (!stay)
        for (const std::size_t t : together_) next_[t] = at_ + 1;
      choose_lanes();
      if (!lanes_.empty()) {
        ++executed_[at_].times;
        execute();
      }
      if (stay) ++at_;
    } while (stay && at_ < *others);
    if (stay)
      for (const std::size_t t : together_) next_[t] = at_;
  }
}

std::optional<std::size_t> BlockRun::gather_lanes(std::size_t first, std::size_t end) {
  std::size_t others = entry_.instructions.size();
  at_ = others;
  together_.clear();
  for (std::size_t t = first; t < end; ++t) {
    if (state_[t] != State::runs) continue;
    if (next_[t] < at_) {
      if (!together_.empty()) others = at_;
      at_ = next_[t];
      together_.clear();
    }
    if (next_[t] == at_)
      together_.push_back(t);
    else
      others = std::min(others, next_[t]);
  }
  return together_.empty() ? std::nullopt : std::optional(others);
}

void BlockRun::choose_lanes() {
  lanes_ = together_;
  lane_bits_ = 0;
  for (const std::size_t t : lanes_) lane_bits_ |= 1U << t % warp_size;
  const Instruction& now = instruction();
  if (now.guard < 0) return;
  const Lanes& guard = registers_.read(now.guard, warp_, lane_bits_);
  std::erase_if(lanes_, [&](std::size_t t) { return (guard[t % warp_size] != 0) != now.guard_value; });
  lane_bits_ = 0;
  for (const std::size_t t : lanes_) lane_bits_ |= 1U << t % warp_size;
}

void BlockRun::execute() {
  const Instruction& now = instruction();
  switch (now.kind) {
    case Instruction::Kind::compute:
      return compute(now);
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

void BlockRun::compute(const Instruction& now) {
  Lanes made[4];
  const Lanes* operands[4] = {};
  const std::size_t count = now.operands.size();
  for (std::size_t i = 0; i < count; ++i) operands[i] = &values(now.operands[i], made[i]);
  Lanes& result = registers_.write(now.results[0], warp_, lane_bits_);
  for (const std::size_t t : lanes_) {
    std::uint64_t of_lane[4] = {};
    for (std::size_t i = 0; i < count; ++i) of_lane[i] = (*operands[i])[t % warp_size];
    result[t % warp_size] = now.compute(of_lane);
  }
}

void BlockRun::check_all_lanes() const {
  if (lane_bits_ != ~0U) throw Fault{"is executed by some lanes of the warp, and all have to", lanes_[0]};
}

void BlockRun::compute_together(const Instruction& now) {
  if (now.lane_mask < 0) check_all_lanes();
  Lanes operands[10] = {}, results[4] = {};
  for (std::size_t i = 0; i < now.operands.size(); ++i) {
    Lanes made;
    const Lanes& of_all = values(now.operands[i], made);
    for (const std::size_t t : lanes_) operands[i][t % warp_size] = of_all[t % warp_size];
  }
  for (const std::size_t t : lanes_)
    if (now.lane_mask >= 0 && static_cast<std::uint32_t>(operands[now.lane_mask][t % warp_size]) != lane_bits_)
      throw Fault{"is executed by other lanes than its mask says", t};
  now.compute_warp(operands, results);
  const bool is_barrier = now.results.empty();
  if (is_barrier && lane_bits_ == ~0U) shared_.pass_warp_barrier(warp_);
  for (std::size_t i = 0; i < now.results.size(); ++i) {
    Lanes& result = registers_.write(now.results[i], warp_, lane_bits_);
    for (const std::size_t t : lanes_) result[t % warp_size] = results[i][t % warp_size];
  }
}

std::uint64_t BlockRun::value(const Operand& operand, std::size_t thread) const {
  if (operand.kind == Operand::Kind::number) return operand.value;
  const std::size_t lane = thread % warp_size;
  if (operand.kind == Operand::Kind::reg) return registers_.read(static_cast<int>(operand.value), thread / warp_size, 1U << lane)[lane];
  return special(static_cast<Special>(operand.value), thread);
}

std::uint64_t BlockRun::special(Special of, std::size_t thread) const {
  if (of == Special::laneid) return thread % warp_size;
  const std::array<std::array<std::uint32_t, 3>, 4> places = {thread_place(thread, launch_.block), launch_.block, place_, launch_.grid};
  const auto number = static_cast<std::size_t>(of);
  return places[number / 3][number % 3];
}

const Lanes& BlockRun::values(const Operand& operand, Lanes& made) const {
  if (operand.kind == Operand::Kind::reg) return registers_.read(static_cast<int>(operand.value), warp_, lane_bits_);
  if (operand.kind == Operand::Kind::number)
    made.fill(operand.value);
  else
    for (const std::size_t t : lanes_) made[t % warp_size] = special(static_cast<Special>(operand.value), t);
  return made;
}

}  // namespace attune::ptx
