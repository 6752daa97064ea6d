/// The products of matrices of warpgroups, four warps together, whose factors stand in shared memory.
#include <algorithm>
#include <bit>

#include "tests/ptx/block_run.h"
#include "tests/ptx/matrix_descriptor.h"

namespace attune::ptx {
namespace {

constexpr std::size_t warpgroup_size = 4 * warp_size, chunk_bytes = 16;

}  // namespace

bool BlockRun::run_products() {
  bool is_any = false;
  for (std::size_t first = 0; first < threads_; first += warpgroup_size) {
    const std::size_t end = first + warpgroup_size;
    const auto gathering = std::find(state_.begin() + static_cast<std::ptrdiff_t>(first),
                                     state_.begin() + static_cast<std::ptrdiff_t>(std::min(end, threads_)), State::gathers);
    const auto thread = static_cast<std::size_t>(gathering - state_.begin());
    if (thread == std::min(end, threads_)) continue;
    at_ = next_[thread] - 1;
    for (std::size_t t = first; t < end; ++t) {
      if (t >= threads_)
        throw Fault{"is executed by a warpgroup of four warps, of which the block has " + std::to_string((threads_ - first) / warp_size),
                    thread};
      if (state_[t] != State::gathers || next_[t] != at_ + 1)
        throw Fault{"is executed by four warps together, and thread " + in_words(thread_place(t, launch_.block)) + " does not come to it",
                    thread};
    }
    multiply(first);
    std::fill_n(gathering, warpgroup_size, State::runs);
    is_any = true;
  }
  return is_any;
}

std::uint64_t BlockRun::shared_value(const Operand& operand, std::size_t first) const {
  const std::uint64_t of_first = value(operand, first);
  for (std::size_t t = first; t < first + warpgroup_size; ++t)
    if (value(operand, t) != of_first)
      throw Fault{"has a descriptor or a predicate that is another one in another thread of the warpgroup", t};
  return of_first;
}

std::vector<float> BlockRun::factor_in_memory(const WarpgroupRule& rule, std::uint64_t descriptor, std::size_t extent, bool is_transposed,
                                              std::size_t thread, std::vector<std::uint64_t>& chunks) {
  const MatrixDescriptor matrix(descriptor);
  if (const char* const problem = matrix.problem(); problem != nullptr) throw Fault{problem, thread};
  const std::size_t of_chunk = chunk_bytes / rule.bytes, along = is_transposed ? extent : rule.depth,
                    across = is_transposed ? rule.depth : extent;
  std::vector<float> elements(extent * rule.depth);
  for (std::size_t i = 0; i < across; ++i)
    for (std::size_t chunk = 0; chunk < along / of_chunk; ++chunk) {
      std::array<std::byte, chunk_bytes> bytes{};
      chunks.push_back(is_transposed ? matrix.along_rows(chunk, i) : matrix.along_k(i, chunk));
      shared_.read_async(chunks.back(), bytes, thread);
      for (std::size_t j = 0; j < of_chunk; ++j) {
        const std::size_t place = chunk * of_chunk + j, row = is_transposed ? place : i, k = is_transposed ? i : place;
        elements[row * rule.depth + k] = rule.element(bytes.data() + j * rule.bytes);
      }
    }
  return elements;
}

std::vector<float> BlockRun::factor_in_registers(const Instruction& now, std::size_t first) const {
  const WarpgroupRule& rule = *now.product.rule;
  const std::size_t of_register = 4 / rule.bytes;
  std::vector<float> elements(product_rows * rule.depth);
  for (std::size_t t = 0; t < warpgroup_size; ++t)
    for (std::size_t r = 0; r < 4; ++r) {
      const auto bytes = std::bit_cast<std::array<std::byte, 8>>(held(static_cast<int>(now.operands[r].value), first + t));
      const std::size_t row = t / warp_size * 16 + t % warp_size / 4 + r % 2 * 8, k = of_register * (t % 4 + r / 2 * 4);
      for (std::size_t j = 0; j < of_register; ++j) elements[row * rule.depth + k + j] = rule.element(bytes.data() + j * rule.bytes);
    }
  return elements;
}

void BlockRun::begin_product(const Instruction& now, std::size_t first) {
  const auto begin = [&](int number, std::size_t columns) {
    for (std::size_t t = first; t < first + warpgroup_size; t += warp_size) {
      const auto place = static_cast<std::size_t>(number);
      if (const char* const problem = registers_.in_products().problem(place, t / warp_size, columns); problem != nullptr)
        throw Fault{problem, t};
      registers_.in_products().begin(place, t / warp_size, columns);
    }
  };
  for (const int sum : now.results) begin(sum, now.product.columns);
  for (const int factor : factors_of(now)) begin(factor, 0);
}

std::vector<int> BlockRun::factors_of(const Instruction& now) {
  std::vector<int> registers;
  for (std::size_t i = 0; now.product.is_a_in_registers && i < 4; ++i) registers.push_back(static_cast<int>(now.operands[i].value));
  return registers;
}

void BlockRun::multiply(std::size_t first) {
  const Instruction& now = instruction();
  const WarpgroupProduct& product = now.product;
  const std::size_t depth = product.rule->depth, count = now.operands.size();
  const bool is_added = shared_value(now.operands[count - 1], first) != 0;
  const std::uint64_t b_place = shared_value(now.operands[count - 2], first);
  begin_product(now, first);
  std::vector<std::uint64_t> chunks;
  const std::vector<float> a = product.is_a_in_registers ? factor_in_registers(now, first)
                                                         : factor_in_memory(*product.rule, shared_value(now.operands[0], first),
                                                                            product_rows, product.is_a_transposed, first, chunks);
  const std::vector<float> b = factor_in_memory(*product.rule, b_place, product.columns, product.is_b_transposed, first, chunks);
  std::vector<float> sums(product_rows * product.columns), b_by_k(depth * product.columns);
  const auto sum_of = [&](std::size_t t, std::size_t i) -> float& {
    const std::size_t row = t / warp_size * 16 + t % warp_size / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
    return sums[row * product.columns + column];
  };
  for (std::size_t i = 0; i < now.results.size() && is_added; ++i)
    for (std::size_t t = 0; t < warpgroup_size; ++t) sum_of(t, i) = std::bit_cast<float>(static_cast<std::uint32_t>(held(now.results[i], first + t)));
  for (std::size_t column = 0; column < product.columns; ++column)
    for (std::size_t k = 0; k < depth; ++k) b_by_k[k * product.columns + column] = b[column * depth + k];
  for (std::size_t row = 0; row < product_rows; ++row)
    for (std::size_t k = 0; k < depth; ++k)
      for (std::size_t column = 0; column < product.columns; ++column)
        sums[row * product.columns + column] += product.sign * a[row * depth + k] * b_by_k[k * product.columns + column];
  for (std::size_t i = 0; i < now.results.size(); ++i)
    for (std::size_t t = 0; t < warpgroup_size; ++t) hold(now.results[i], first + t) = std::bit_cast<std::uint32_t>(sum_of(t, i));
  const auto read = std::make_shared<const std::vector<std::uint64_t>>(std::move(chunks));
  for (std::size_t t = first; t < first + warpgroup_size; t += warp_size) {
    for (const std::uint64_t chunk : *read) shared_.begin_async_read(chunk, chunk_bytes);
    products_[t / warp_size].begin({&now, read});
  }
}

void BlockRun::wait_for_products(std::size_t pending) {
  const std::size_t warp = lanes_.front() / warp_size;
  products_[warp].wait(pending, [&](const Product& done) {
    for (const int sum : done.instruction->results)
      registers_.in_products().end(static_cast<std::size_t>(sum), warp, done.instruction->product.columns);
    for (const int factor : factors_of(*done.instruction)) registers_.in_products().end(static_cast<std::size_t>(factor), warp, 0);
    for (const std::uint64_t chunk : *done.chunks) shared_.end_async_read(chunk, chunk_bytes, lanes_.front());
  });
}

void BlockRun::order_products(const Instruction& now) {
  check_all_lanes();
  const std::size_t warp = lanes_.front() / warp_size;
  if (now.kind == Instruction::Kind::fence_products) registers_.in_products().fence(warp);
  if (now.kind == Instruction::Kind::end_products) products_[warp].end();
  if (now.kind == Instruction::Kind::wait_products) wait_for_products(value(now.operands[0], lanes_.front()));
}

}  // namespace attune::ptx
