/// Tensors from and to DLPack, without a copy: numpy, PyTorch, JAX and others speak it.
#pragma once

#include "runtime/dlpack.h"
#include "runtime/result.h"
#include "runtime/tensor.h"

namespace attune {

/// A view of the same memory, on the CPU, on CUDA (device_id is the number that the driver gives the device, as in "cuda:1") or on OpenCL (data is a
/// cl_mem, device_id the runtime's number of the device: "opencl:1"); its owner must outlive the view. Refuses element types that kernels do not
/// store, other devices, and more than max_rank dims. Whether the memory is ready is the caller's: what else writes to it is in the stream of the
/// call, or done.
Result<Tensor> from_dlpack(const DLTensor& tensor);

/// The same; refuses a major version other than 1, and keeps the read-only flag.
Result<Tensor> from_dlpack(const DLManagedTensorVersioned& managed);

/// A managed tensor over the same memory, which must outlive it; its deleter frees only the description.
/// Refuses a malformed tensor. Whoever gets the pointer calls its deleter once.
Result<DLManagedTensorVersioned*> to_dlpack(const Tensor& tensor);

/// The same as DLPack had it before 1.0. It cannot say read-only: such a tensor is refused.
Result<DLManagedTensor*> to_unversioned_dlpack(const Tensor& tensor);

}  // namespace attune
