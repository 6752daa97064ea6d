#!/usr/bin/env python3
"""The same kernel file from Python: ctypes calls libattune_rt.so on numpy's memory, and numpy checks the numbers.

  samples/05_from_python/causal.py build/lib/libattune_rt.so build/samples/causal.so [DEVICE]
"""

import ctypes
import sys

import numpy

STORAGES = {"float32": 0, "float64": 3, "int8": 4, "uint8": 5, "int32": 6, "int64": 7, "bool": 8}  # enum attune_storage in abi.h


class Tensor(ctypes.Structure):
    """struct attune_tensor of runtime/attune.h: a view of an array, which must live as long."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("storage", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]

    def __init__(self, name, array):
        numbers = ctypes.c_int64 * array.ndim
        strides = [stride // array.itemsize for stride in array.strides]  # numpy counts bytes
        super().__init__(name.encode(), array.ctypes.data, STORAGES[array.dtype.name], array.ndim, numbers(*array.shape), numbers(*strides))


class Runtime:
    """The functions of runtime/attune.h; what fails raises with the runtime's sentence."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for function in self.c.attune_open, self.c.attune_find_kernel, self.c.attune_find_kernel_on:
            function.restype = ctypes.c_void_p
        self.c.attune_open.argtypes = [ctypes.c_char_p]
        self.c.attune_find_kernel.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self.c.attune_find_kernel_on.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        self.c.attune_call.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tensor), ctypes.c_int32]
        self.c.attune_last_error.restype = ctypes.c_char_p

    def checked(self, result):
        if result is None or result == -1:
            sys.exit(self.c.attune_last_error().decode())
        return result

    def kernel(self, path, name, device=None):
        """kernel(q=array, ..., out=array) of a file that `attune compile --shared` wrote, by its code for a device ("cpu", "opencl", "cuda")."""
        library = self.checked(self.c.attune_open(path.encode()))
        if device is None:  # the CPU's code first
            kernel = self.checked(self.c.attune_find_kernel(library, name.encode()))
        else:
            kernel = self.checked(self.c.attune_find_kernel_on(library, name.encode(), device.encode()))

        def call(**arrays):
            tensors = (Tensor * len(arrays))(*(Tensor(*item) for item in arrays.items()))
            self.checked(self.c.attune_call(kernel, tensors, len(arrays)))

        return call


def expected(q, k, v):
    """The formula in double precision."""
    q, k, v = (x.astype("float64") for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / numpy.sqrt(q.shape[-1])
    scores[..., numpy.triu(numpy.ones(scores.shape[-2:], bool), 1)] = -numpy.inf
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def main(runtime_path, kernel_path, device=None):
    causal = Runtime(runtime_path).kernel(kernel_path, "causal", device)
    random = numpy.random.default_rng(1)
    q, k, v = (random.standard_normal((2, 3, 37, 64), "float32") for _ in range(3))  # [batch, heads, tokens, depth]
    # Any strides will do if the innermost is 1: this v is a view of [batch, tokens, heads, depth].
    v = numpy.ascontiguousarray(v.swapaxes(1, 2)).swapaxes(1, 2)
    out = numpy.empty(q.shape, "float32")
    causal(q=q, k=k, v=v, out=out)
    difference = abs(out - expected(q, k, v)).max()
    allowed = 1e-5 + 4 * 2**-24 * abs(q @ k.swapaxes(-1, -2)).max() / 8 * abs(v).max()  # one rounding of the scores
    print(f"causal {list(out.shape)}: the largest difference from numpy is {difference:.1e}, allowed {allowed:.1e}")
    return 0 if difference <= allowed else 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(f"{sys.argv[0]}: has {len(sys.argv) - 1} arguments; libattune_rt.so, a kernel file, and a device if not the CPU, are right")
    sys.exit(main(*sys.argv[1:]))
