"""Attention that Halide's own autoschedulers schedule, unfused, compiled ahead of time for a row's extents by attune-bench-autoscheduled."""

import ctypes
import subprocess

import numpy

from problem import Problem, Skipped
from timing import seconds_of

SCHEDULERS = ("adams2019", "mullapudi2016")
VARIANTS = ("scaled_dot_product", "causal")
DIMS = ("batch", "heads", "queries", "keys", "depth", "value_depth")
LIMIT_S = 300  # of a scheduler and the compiler; they take seconds
SLOW_S = 2  # a kernel whose call takes longer is not called again


class Dimension(ctypes.Structure):
    """halide_dimension_t"""

    _fields_ = [("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class Buffer(ctypes.Structure):
    """halide_buffer_t of f32 in this machine's memory: a view of an array, which must live as long. Halide's dims are innermost first."""

    _fields_ = [
        ("device", ctypes.c_uint64),
        ("device_interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(Dimension)),
        ("padding", ctypes.c_void_p),
    ]

    def __init__(self, array):
        real = 2  # halide_type_float
        dims = [Dimension(0, extent, stride // array.itemsize, 0) for extent, stride in zip(array.shape, array.strides)]
        super().__init__(0, None, array.ctypes.data, 0, real, 32, 1, array.ndim, (Dimension * array.ndim)(*reversed(dims)), None)


class Autoscheduled:
    """A row's attention by a scheduler: result() is its output, seconds(repeats) the time of a call."""

    def __init__(self, attune, scheduler, row, inputs):
        if row.kernel not in VARIANTS or row.type != "f32":
            raise Skipped(f"is written for {' and '.join(VARIANTS)} in f32")
        program = attune.program.with_name("attune-bench-autoscheduled")
        name = f"{row.name}_{scheduler}"
        attune.folder.mkdir(parents=True, exist_ok=True)
        built, library = attune.folder / f"{name}.o", attune.folder / f"{name}.so"
        self.run(program, scheduler, row.kernel, *(row.shape[dim] for dim in DIMS), row.threads, "attention", built)
        self.run("cc", "-shared", "-o", library, built, "-ldl", "-lpthread")
        loaded = ctypes.CDLL(str(library))  # with a runtime of its own
        loaded.halide_set_num_threads(row.threads)
        self.attention = loaded.attention
        self.inputs = [numpy.ascontiguousarray(inputs[n]) for n in "qkv"]
        self.out = numpy.zeros([row.shape[dim] for dim in ("batch", "heads", "queries", "value_depth")], "float32")
        self.slow_s = None
        self.buffers = [Buffer(array) for array in (*self.inputs, self.out)]

    @staticmethod
    def run(*command):
        try:
            result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S)
        except FileNotFoundError as missing:
            raise Problem(f"{missing.filename}: does not exist; scripts/build makes attune-bench-autoscheduled, Debian's gcc has cc") from missing
        except subprocess.TimeoutExpired as late:
            raise Skipped(f"took more than {LIMIT_S} s to schedule and compile") from late
        if result.returncode != 0:
            raise Skipped(result.stderr.strip().splitlines()[-1][:160] if result.stderr.strip() else f"ended with status {result.returncode}")

    def call(self):
        status = self.attention(*(ctypes.byref(buffer) for buffer in self.buffers))
        if status != 0:
            raise Problem(f"an autoscheduled kernel ended with Halide's error {status}")

    def result(self):
        self.call()
        return self.out

    def seconds(self, repeats):
        if self.slow_s is None:
            taken_s = seconds_of(self.call)(repeats)
            if taken_s < SLOW_S:
                return taken_s
            self.slow_s = taken_s
        return self.slow_s
