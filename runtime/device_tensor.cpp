#include "runtime/device_tensor.h"

#include <utility>

#include "runtime/reach.h"
#include "runtime/words.h"

namespace attune {
namespace {

/// What is wrong with the host's side of a copy; empty if nothing.
std::string copy_problem(const Tensor& host, const Tensor& there, bool is_written) {
  const std::string who = words("copy between ", text_of(there), " on ", place_of(there), " and ", text_of(host), ": ");
  if (host.device != attune_cpu) return words(who, "the other tensor is on ", place_of(host), "; expected memory of the cpu");
  bool fits = host.storage == there.storage && host.rank == there.rank && host.stride_count == host.rank;
  for (std::size_t axis = 0; fits && axis < static_cast<std::size_t>(there.rank); ++axis) fits = host.extents[axis] == there.extents[axis];
  if (!fits) return words(who, "they differ; expected the same storage and extents");
  if (is_written && host.is_read_only) return words(who, "the memory of the cpu is read-only; expected memory to write to");
  if (there.is_empty()) return {};
  if (host.data == nullptr) return words(who, "the memory of the cpu is null");
  const std::int64_t count = dense_count(host);
  if (count == 0) return words(who, "the elements on the cpu do not lie one behind the other; contiguous() makes such a copy");
  if (host.known_elements >= 0 && host.known_elements < count) return words(who, "the memory of the cpu has ", host.known_elements, " elements");
  return {};
}

}  // namespace

DeviceTensor::DeviceTensor(DeviceTensor&& other) noexcept : device_(other.device_), view_(other.view_) { other.view_.data = nullptr; }

DeviceTensor& DeviceTensor::operator=(DeviceTensor&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(view_, other.view_);
  return *this;
}

DeviceTensor::~DeviceTensor() {
  if (view_.data != nullptr) device_->release(view_.data);
}

Result<void> DeviceTensor::copy_from(const Tensor& host, void* stream) {
  if (std::string problem = copy_problem(host, view_, false); !problem.empty()) return Error{std::move(problem)};
  if (view_.is_empty()) return {};
  const Result<DeviceQueue> queue = device_->queue_of(stream);
  if (!queue) return queue.error();
  return device_->write(view_.data, host.data, static_cast<std::size_t>(bytes()), *queue);
}

Result<void> DeviceTensor::copy_to(const Tensor& host, void* stream) const {
  if (std::string problem = copy_problem(host, view_, true); !problem.empty()) return Error{std::move(problem)};
  if (view_.is_empty()) return {};
  const Result<DeviceQueue> queue = device_->queue_of(stream);
  if (!queue) return queue.error();
  return device_->read(view_.data, host.data, static_cast<std::size_t>(bytes()), *queue);
}

Result<DeviceTensor> allocate_on(DriverDevice& device, attune_storage storage, Sizes extents) {
  const Tensor view = Tensor(static_cast<void*>(nullptr), storage, extents).on_device(device.kind(), device.number());
  const Result<std::int64_t> bytes = bytes_to_allocate(view);
  if (!bytes) return bytes.error();
  DeviceTensor made(device, view);
  if (*bytes == 0) return made;
  const Result<void*> memory = device.allocate(static_cast<std::size_t>(*bytes));
  if (!memory) return Error{words("tensor ", text_of(view), ": there is no memory for its ", *bytes, " bytes: ", memory.error().message)};
  made.view_.data = *memory;
  return made;
}

}  // namespace attune
