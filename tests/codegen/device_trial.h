/// The arrays of a trial on the device of its kernel.
#pragma once

#include <vector>

#include "runtime/device_tensor.h"
#include "tools/attune/trial.h"

namespace attune {

class DeviceTrial {
 public:
  /// Copies of all arrays; the outputs' too, so that what is not written is seen.
  DeviceTrial(const Kernel& kernel, Trial& trial, void* stream = nullptr) {
    for (StoredArray& array : trial.arrays) {
      tensors_.push_back(allocate_on(*kernel.device(), array.storage, array.extents).value());
      tensors_.back().copy_from(array.tensor(), stream).value();
    }
  }

  std::vector<Tensor> tensors() const { return {tensors_.begin(), tensors_.end()}; }

  /// What the call wrote, into the trial's arrays.
  void fetch(Trial& trial, void* stream = nullptr) const {
    for (const std::size_t i : trial.results) tensors_[i].copy_to(trial.arrays[i].tensor(), stream).value();
  }

 private:
  std::vector<DeviceTensor> tensors_;
};

/// Empty, or how a call on tensors that are on the kernel's device differs from the interpreter.
inline std::string difference_on_device(const Graph& graph, const Kernel& kernel, const std::string& shape, void* stream = nullptr) {
  const Shape extents = fill_shape(graph, parse_shape(shape, "shape").extents).extents;
  Trial trial = trial_of(kernel, extents, random_inputs(graph, extents, 1));
  const DeviceTrial there(kernel, trial, stream);
  const std::vector<Tensor> tensors = there.tensors();
  if (const Result<void> called = kernel.call(tensors, {.stream = stream}); !called) return called.error().message;
  there.fetch(trial, stream);
  const TrialVerdict verdict = trial.compare_with_interpreter(graph);
  return verdict.agrees ? verdict.problem : verdict.text;
}

}  // namespace attune
