#include "tests/ptx/block_run.h"

#include <algorithm>

namespace attune::ptx {
namespace {

std::size_t warps_of(std::size_t threads) { return (threads + warp_size - 1) / warp_size; }

}  // namespace

BlockRun::BlockRun(const Entry& entry, const Launch& launch, DeviceMemory& memory, Executed& executed, Counts& counts)
    : entry_(entry),
      launch_(launch),
      memory_(memory),
      executed_(executed),
      counts_(counts),
      threads_(std::size_t{launch.block[0]} * launch.block[1] * launch.block[2]),
      registers_(entry.register_count, warps_of(threads_), entry.has_products()),
      next_(threads_, 0),
      state_(threads_, State::runs),
      products_(warps_of(threads_)),
      shared_(entry.shared_bytes + launch.shared_bytes, launch.block, entry.has_products()),
      local_(entry.local_bytes * threads_),
      is_local_written_(local_.size()) {}

void BlockRun::begin(const std::array<std::uint32_t, 3>& place) {
  place_ = place;
  registers_.forget();
  shared_.forget();
  is_local_written_.forget();
  std::ranges::fill(next_, 0);
  std::ranges::fill(state_, State::runs);
  std::ranges::fill(products_, Groups<Product>());
}

void BlockRun::run(const std::array<std::uint32_t, 3>& place) {
  begin(place);
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
        for (const std::size_t t : together_) next_[t] = static_cast<std::uint32_t>(at_ + 1);
      choose_lanes();
      if (!lanes_.empty()) {
        ++executed_[at_].times;
        execute();
      }
      if (stay) ++at_;
    } while (stay && at_ < *others);
    if (stay)
      for (const std::size_t t : together_) next_[t] = static_cast<std::uint32_t>(at_);
  }
}

std::optional<std::size_t> BlockRun::gather_lanes(std::size_t first, std::size_t end) {
  constexpr std::uint32_t nowhere = ~0U;
  std::array<std::uint32_t, warp_size> places;
  places.fill(nowhere);
  for (std::size_t t = first; t < end; ++t)
    if (state_[t] == State::runs) places[t - first] = next_[t];
  const std::uint32_t earliest = *std::ranges::min_element(places);
  if (earliest == nowhere) return std::nullopt;
  std::uint32_t bits = 0;
  std::size_t others = entry_.instructions.size();
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    if (places[lane] == earliest) bits |= 1U << lane;
    else others = std::min<std::size_t>(others, places[lane]);
  at_ = earliest;
  together_ = {first, bits};
  return others;
}

void BlockRun::choose_lanes() {
  lanes_ = together_;
  const Instruction& now = instruction();
  if (now.guard < 0) return;
  const Lanes& guard = registers_.read(now.guard, warp_, together_.bits());
  std::uint32_t holds = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane) holds |= std::uint32_t{guard[lane] != 0} << lane;
  lanes_ = {together_.first_of_warp(), together_.bits() & (now.guard_value ? holds : ~holds)};
}

void BlockRun::execute() {
  const Instruction& now = instruction();
  switch (now.kind) {
    case Instruction::Kind::compute:
      return compute(now);
    case Instruction::Kind::branch:
      for (const std::size_t t : lanes_) next_[t] = static_cast<std::uint32_t>(now.target);
      return;
    case Instruction::Kind::barrier:
      for (const std::size_t t : lanes_) state_[t] = State::waits;
      return;
    case Instruction::Kind::end:
      for (const std::size_t t : lanes_) state_[t] = State::ended;
      return;
    case Instruction::Kind::trap:
      throw Fault{"is executed", lanes_.front()};
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
  Lanes made[most_operands];
  const Lanes* operands[most_operands];
  for (std::size_t i = 0; i < now.operands.size(); ++i) operands[i] = &values(now.operands[i], made[i]);
  now.compute(operands, lanes_.bits(), registers_.write(now.results[0], warp_, lanes_.bits()));
}

void BlockRun::check_all_lanes() const {
  if (!lanes_.is_whole_warp()) throw Fault{"is executed by some lanes of the warp, and all have to", lanes_.front()};
}

void BlockRun::compute_together(const Instruction& now) {
  if (now.lane_mask < 0) check_all_lanes();
  Lanes made[most_warp_operands], results[4];
  const Lanes* operands[most_warp_operands];
  for (std::size_t i = 0; i < now.operands.size(); ++i) {
    operands[i] = &values(now.operands[i], made[i]);
    if (lanes_.is_whole_warp()) continue;
    Lanes of_lanes{};
    for (const std::size_t t : lanes_) of_lanes[t % warp_size] = (*operands[i])[t % warp_size];
    made[i] = of_lanes;
    operands[i] = &made[i];
  }
  for (const std::size_t t : lanes_)
    if (now.lane_mask >= 0 && static_cast<std::uint32_t>((*operands[now.lane_mask])[t % warp_size]) != lanes_.bits())
      throw Fault{"is executed by other lanes than its mask says", t};
  now.compute_warp(operands, results);
  const bool is_barrier = now.results.empty();
  if (is_barrier && lanes_.is_whole_warp()) shared_.pass_warp_barrier(warp_);
  for (std::size_t i = 0; i < now.results.size(); ++i)
    put(results[i], lanes_.bits(), registers_.write(now.results[i], warp_, lanes_.bits()));
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
  if (operand.kind == Operand::Kind::reg) return registers_.read(static_cast<int>(operand.value), warp_, lanes_.bits());
  if (operand.kind == Operand::Kind::number)
    made.fill(operand.value);
  else
    for (const std::size_t t : lanes_) made[t % warp_size] = special(static_cast<Special>(operand.value), t);
  return made;
}

}  // namespace attune::ptx
