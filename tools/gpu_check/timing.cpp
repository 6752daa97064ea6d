#include "tools/gpu_check/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "tools/measure/placed_call.h"

namespace attune {
namespace {

constexpr double row_seconds = 8, batch_seconds = 0.1;
constexpr int most_batches = 7, most_calls = 200;

/// Random numbers, repeated: a prime of them, so that no two rows of a tensor are the same.
std::vector<double> some_numbers() {
  constexpr std::size_t count = 65521;
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> between(-1, 1);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = between(generator);
  return numbers;
}

StoredArray filled(const PackedTensor& tensor) {
  static const std::vector<double> numbers = some_numbers();
  const StoredArray pattern = stored(numbers, {static_cast<std::int64_t>(numbers.size())}, tensor.storage);
  StoredArray array(tensor.storage, tensor.extents);
  for (std::size_t at = 0; at < array.bytes.size(); at += pattern.bytes.size())
    std::memcpy(array.bytes.data() + at, pattern.bytes.data(), std::min(pattern.bytes.size(), array.bytes.size() - at));
  return array;
}

/// So many calls behind one another, and one wait.
Result<double> seconds_of(int calls, const PlacedCall& placed, const Kernel& kernel, void* stream) {
  const Result<DeviceQueue> queue = kernel.device()->queue_of(stream);
  if (!queue) return queue.error();
  const auto start = std::chrono::steady_clock::now();
  for (int n = 0; n < calls; ++n)
    if (const Result<void> called = placed(kernel, {.stream = stream}); !called) return called.error();
  if (const Result<void> waited = kernel.device()->wait(*queue); !waited) return waited.error();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Result<double> seconds_of_call(const Kernel& kernel, const PackedCall& call, void* stream) {
  std::vector<StoredArray> arrays;
  for (const PackedTensor& tensor : call.tensors) {
    if (!is_real(tensor.storage))
      return Error{fmt::format("tensor '{}': is {}; rows that are timed have reals", tensor.name, name_of(tensor.storage))};
    arrays.push_back(filled(tensor));
  }
  const Result<PlacedCall> placed = PlacedCall::on(*kernel.device(), arrays);
  if (!placed) return placed.error();
  arrays.clear();
  const Result<double> first = seconds_of(1, *placed, kernel, stream);
  if (!first) return first;
  if (*first > row_seconds) return first;
  const Result<double> second = seconds_of(1, *placed, kernel, stream);
  if (!second) return second;
  const int calls = std::clamp(static_cast<int>(batch_seconds / *second), 1, most_calls);
  double best = *second, total = *first + *second;
  for (int batch = 0; batch < most_batches && total < row_seconds; ++batch) {
    const Result<double> seconds = seconds_of(calls, *placed, kernel, stream);
    if (!seconds) return seconds;
    total += *seconds;
    best = std::min(best, *seconds / calls);
  }
  return best;
}

}  // namespace attune
