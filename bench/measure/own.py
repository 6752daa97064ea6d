"""Attune's kernels in this process: compiled by `attune compile`, opened by libattune_rt.so, called on numpy's memory."""

import ctypes
import json
import pathlib
import subprocess
import time

import numpy

from problem import Problem
from timing import STRETCH_S

STORAGES = {"f32": 0, "bf16": 1, "i32": 6, "i64": 7, "boolean": 8}  # enum attune_storage of runtime/abi.h
STRUCTS = {"Linear": "linear.h", "LinearPanels": "linear.h", "Rotary": "rotary.h"}  # kernels of bench/variants


class Tensor(ctypes.Structure):
    """struct attune_tensor of runtime/attune.h, contiguous: a view of an array, which must live as long."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("storage", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]

    def __init__(self, name, array, storage):
        super().__init__(name.encode(), array.ctypes.data, STORAGES[storage], array.ndim, (ctypes.c_int64 * array.ndim)(*array.shape), None)


def to_bf16(x):
    """The bits of the nearest bf16, to even."""
    bits = numpy.ascontiguousarray(x, "float32").view("uint32")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("uint16")


def from_bf16(bits):
    return (bits.astype("uint32") << 16).view("float32")


def placed(x, offset):
    """A copy that begins `offset` bytes beyond a line of 64: 0 as frameworks allocate memory, 16 as malloc and numpy do."""
    memory = numpy.empty(x.nbytes + 128, "uint8")
    start = -memory.ctypes.data % 64 + offset
    copy = memory[start:start + x.nbytes].view(x.dtype).reshape(x.shape)
    copy[...] = x
    return copy


class Attune:
    """The build at a folder: its compiler, its runtime and its measurements. Kernels are compiled by the records and defaults of the
    files `tuned`, into the build's `folder`."""

    def __init__(self, source, build, tuned=(), folder="bench"):
        self.source, self.program, self.tuned = source, build / "bin/attune", [pathlib.Path(path).resolve() for path in tuned]
        libraries = [build / "lib/libattune_rt.so", build / "lib/libattune_bench.so"]
        for path in (self.program, *libraries):
            if not path.exists():
                raise Problem(f"{path}: does not exist; scripts/build makes it, --build names another build folder")
        self.runtime, self.bench = (ctypes.CDLL(str(path)) for path in libraries)
        self.folder = build / folder
        self.runtime.attune_open.restype = self.runtime.attune_find_kernel.restype = ctypes.c_void_p
        self.runtime.attune_open.argtypes = [ctypes.c_char_p]
        self.runtime.attune_find_kernel.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self.runtime.attune_last_error.restype = ctypes.c_char_p
        self.runtime.attune_call_with_workspace.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tensor), ctypes.c_int32, ctypes.c_void_p,
                                                            ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
        self.bench.attune_bench_call_seconds.restype = ctypes.c_double
        self.bench.attune_bench_call_seconds.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tensor), ctypes.c_int32, ctypes.c_int64]
        self.bench.attune_bench_hand_seconds.restype = ctypes.c_double
        self.bench.attune_bench_hand_seconds.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int32] * 2 + [ctypes.c_int64]
        for peak in "fma_gflops", "bf16_gflops":
            getattr(self.bench, f"attune_bench_{peak}").argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_double]
        for peak in "fma_gflops", "bf16_gflops", "read_gbytes":
            getattr(self.bench, f"attune_bench_{peak}").restype = ctypes.c_double

    def peak(self, kind, target, threads, seconds=STRETCH_S):
        """In units of 1e9 a second, over one stretch (`read`: the best of passes); 0 where the CPU has no such instructions."""
        if kind == "read":
            return self.bench.attune_bench_read_gbytes(threads)
        return getattr(self.bench, f"attune_bench_{kind}_gflops")(target.encode(), threads, seconds)

    def run(self, *arguments):
        """What `attune` prints."""
        result = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, cwd=self.source)
        if result.returncode != 0:
            raise Problem(f"attune {' '.join(map(str, arguments))}: {result.stderr.strip()}")
        return result.stdout

    def graph_options(self, row):
        graph = [f"bench/variants/{STRUCTS[row.kernel]}", "--struct", row.kernel] if row.kernel in STRUCTS else [row.kernel]
        parameters = [f"--param={name}={str(value).lower()}" for name, value in row.parameters.items()]
        return (graph + parameters + [f"--set={known}" for known in row.set] + [f"--type={row.type}", f"--target={row.target}"]
                + [f"--tuned={path}" for path in self.tuned])

    def compile(self, row):
        """The paths of the shared object and the manifest, and the seconds it took."""
        started = time.perf_counter()
        self.run("compile", *self.graph_options(row), "--name", row.name, "--shared", "--jobs", 1, "-o", self.folder)
        return self.folder / f"{row.name}.so", self.folder / f"{row.name}.json", time.perf_counter() - started

    def set_threads(self, count):
        self.checked(self.runtime.attune_set_num_threads(count))

    def checked(self, result):
        if result is None or result == -1:
            raise Problem(self.runtime.attune_last_error().decode())
        return result


class Kernel:
    """A row's kernel, compiled and opened."""

    def __init__(self, attune, row):
        self.attune, self.row = attune, row
        path, manifest, self.compile_seconds = attune.compile(row)
        self.manifest = json.loads(manifest.read_text())
        self.target = self.codes[0]["target"]
        library = attune.checked(attune.runtime.attune_open(str(path).encode()))
        self.kernel = attune.checked(attune.runtime.attune_find_kernel(library, row.name.encode()))

    @property
    def codes(self):
        """Those of all its steps."""
        return [code for step in self.manifest["steps"] for code in step["codes"]]

    def tiles(self, size, schedule):
        """The parameters of a schedule for calls of a size, of its first stage."""
        for code in self.codes:
            words = code["schedule"].split()
            for word in words[1:] if words[0] == f"{size}:" else []:
                name, *values = word.split(",")
                if name == schedule:
                    return {key: int(value) for key, value in (v.split("=") for v in values)}
        raise Problem(f"row '{self.row.name}': its kernel has no schedule '{schedule}' for {size} calls")

    def bind(self, inputs, shape, offset=0):
        """A Call on the inputs, which are rounded to the kernel's storage; all tensors lie so many bytes beyond a line."""
        return Call(self, inputs, shape, offset)


class Call:
    """A kernel with its arguments: seconds(repeats) times calls, result() is its first output as f32."""

    def __init__(self, kernel, inputs, shape, offset):
        self.kernel, self.arrays = kernel, []
        for tensor in kernel.manifest["inputs"]:
            x = inputs[tensor["name"]]
            self.arrays.append(placed(to_bf16(x) if tensor["type"] == "bf16" else x, offset))
        described = kernel.manifest["outputs"]
        for out in described:
            self.arrays.append(placed(numpy.zeros([shape[dim] for dim in out["dims"]], "uint16" if out["type"] == "bf16" else "float32"), offset))
        self.storage, self.out = described[0]["type"], self.arrays[len(kernel.manifest["inputs"])]
        tensors = [Tensor(t["name"], a, t["type"]) for t, a in zip(kernel.manifest["inputs"] + described, self.arrays)]
        self.tensors = (Tensor * len(tensors))(*tensors)

    def seconds(self, repeats):
        return self.kernel.attune.checked(
            self.kernel.attune.bench.attune_bench_call_seconds(self.kernel.kernel, self.tensors, len(self.tensors), repeats))

    def workspace_bytes(self):
        """What a call takes beside its arguments."""
        taken, kernel = ctypes.c_size_t(), self.kernel
        kernel.attune.checked(
            kernel.attune.runtime.attune_call_with_workspace(kernel.kernel, self.tensors, len(self.tensors), None, 0, ctypes.byref(taken)))
        return taken.value

    def result(self):
        self.seconds(1)
        return from_bf16(self.out) if self.storage == "bf16" else self.out.copy()
