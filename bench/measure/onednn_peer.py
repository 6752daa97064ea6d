"""oneDNN's graph of attention on the CPU, by its C interface: the wheel has the library alone. It is built for SYCL, whose device for CPUs comes in the
wheel of Intel's OpenCL."""

import ctypes
import os
import pathlib
import sys

import numpy

from cases import visible_of_all
from problem import Skipped

# Of oneapi/dnnl/dnnl_common_types.h and dnnl_graph_types.h, oneDNN 3.13.
CPU, IN_ORDER, F32, FUSION = 1, 1, 3, 1
ADD, MATMUL, MULTIPLY, SOFTMAX = 2, 39, 46, 64
AXIS, TRANSPOSE_B, MODE = 0x30, 0x66, 0x84
MOST_DIMS = 12
# What libdnnl.so needs, each after what it needs itself.
LIBRARIES = ("libintlc.so.5", "libimf.so", "libsvml.so", "libirng.so", "libOpenCL.so.1", "libtbb.so.12", "libintelocl.so", "libsycl.so.9", "libdnnl.so.3")


class LogicalTensor(ctypes.Structure):
    """dnnl_graph_logical_tensor_t: a tensor of a graph, with strides."""

    _fields_ = [
        ("id", ctypes.c_size_t),
        ("rank", ctypes.c_int),
        ("dims", ctypes.c_int64 * MOST_DIMS),
        ("type", ctypes.c_int),
        ("property", ctypes.c_int),
        ("layout", ctypes.c_int),
        ("strides", ctypes.c_int64 * MOST_DIMS),
    ]


class OneDnn:
    """Loads the library; what is missing is said by the first call."""

    def __init__(self):
        folder = pathlib.Path(sys.prefix) / "lib"
        os.environ["OCL_ICD_FILENAMES"] = str(folder / "libintelocl.so")
        os.environ["DPCPP_CPU_NUM_CUS"] = "1"  # threads, for the whole process
        self.engine = self.stream = None
        self.ids, self.problem = 0, ""
        try:
            for name in LIBRARIES:
                self.library = ctypes.CDLL(str(folder / name))
        except OSError as error:
            self.problem = f"oneDNN: {error}"

    def start(self):
        if self.problem:
            raise Skipped(self.problem)
        if self.stream is None:
            self.engine = self.made("engine_create", CPU, ctypes.c_size_t(0))
            self.stream = self.made("stream_create", self.engine, IN_ORDER)

    def check(self, function, *arguments):
        status = getattr(self.library, "dnnl_" + function)(*arguments)
        if status != 0:
            raise Skipped(f"oneDNN: dnnl_{function} gives status {status}")

    def made(self, function, *arguments):
        handle = ctypes.c_void_p()
        self.check(function, ctypes.byref(handle), *arguments)
        return handle

    def next_id(self):
        self.ids += 1
        return ctypes.c_size_t(self.ids)

    def tensor(self, shape):
        strides = [int(numpy.prod(shape[i + 1:])) for i in range(len(shape))]
        tensor, dims = LogicalTensor(), ctypes.c_int64 * MOST_DIMS
        self.check("graph_logical_tensor_init_with_strides", ctypes.byref(tensor), self.next_id(), F32, len(shape), dims(*shape), dims(*strides), 0)
        return tensor

    def operation(self, graph, kind, inputs, shape, flags=(), axis=None):
        """Adds it, and gives its result."""
        result, number = self.tensor(shape), self.next_id()
        operation = self.made("graph_op_create", number, kind, f"operation {number.value}".encode())
        for tensor in inputs:
            self.check("graph_op_add_input", operation, ctypes.byref(tensor))
        self.check("graph_op_add_output", operation, ctypes.byref(result))
        for flag in flags:
            self.check("graph_op_set_attr_bool", operation, flag, ctypes.byref(ctypes.c_uint8(1)), ctypes.c_size_t(1))
        if axis is not None:
            self.check("graph_op_set_attr_s64", operation, AXIS, ctypes.byref(ctypes.c_int64(axis)), ctypes.c_size_t(1))
            mode = b"inf_as_zero"
            self.check("graph_op_set_attr_str", operation, MODE, mode, ctypes.c_size_t(len(mode)))
        self.check("graph_add_op", graph, operation)
        return result

    def call(self, row, inputs):
        if row.type != "f32" or row.threads != 1 or inputs["q"].ndim != 4:
            raise Skipped("oneDNN is measured in f32, on one thread, without groups of heads")
        self.start()
        q, k, v = (numpy.ascontiguousarray(inputs[name]) for name in "qkv")
        batch, heads, queries, depth = q.shape
        pairs = (batch, heads, queries, k.shape[2])
        graph = self.made("graph_graph_create", CPU)
        given = [q, k, numpy.full(1, depth ** -0.5, "float32"), v]
        tensors = [self.tensor(x.shape) for x in given]
        scores = self.operation(graph, MATMUL, tensors[:2], pairs, flags=[TRANSPOSE_B])
        scores = self.operation(graph, MULTIPLY, [scores, tensors[2]], pairs)
        seen = visible_of_all(row, inputs)
        if seen is not None:
            given.append(numpy.where(seen, 0, -numpy.inf).astype("float32")[None, None])
            tensors.append(self.tensor(given[-1].shape))
            scores = self.operation(graph, ADD, [scores, tensors[-1]], pairs)
        weights = self.operation(graph, SOFTMAX, [scores], pairs, axis=-1)
        result = self.operation(graph, MATMUL, [weights, tensors[3]], (batch, heads, queries, v.shape[3]))
        return self.compiled(graph, {t.id: (t, x) for t, x in zip(tensors, given)}, result)

    def compiled(self, graph, given, result):
        """Of a graph that oneDNN takes as one partition."""
        self.check("graph_graph_finalize", graph)
        self.check("graph_graph_filter", graph, FUSION)
        count = ctypes.c_size_t()
        self.check("graph_graph_get_partition_num", graph, ctypes.byref(count))
        if count.value != 1:
            raise Skipped(f"oneDNN divides the graph into {count.value} partitions")
        partition = ctypes.c_void_p()
        self.check("graph_graph_get_partitions", graph, count, ctypes.byref(partition))
        ports = ctypes.c_size_t()
        self.check("graph_partition_get_input_ports_num", partition, ctypes.byref(ports))
        order = (LogicalTensor * ports.value)()
        self.check("graph_partition_get_input_ports", partition, ports, order)
        inputs = [given[port.id] for port in order]
        pointers = (ctypes.POINTER(LogicalTensor) * len(inputs))(*(ctypes.pointer(tensor) for tensor, _ in inputs))
        compiled = self.made("graph_compiled_partition_create", partition)
        self.check("graph_partition_compile", partition, compiled, ports, pointers, ctypes.c_size_t(1), (ctypes.POINTER(LogicalTensor) * 1)(ctypes.pointer(result)), self.engine)
        out = numpy.zeros(result.dims[:result.rank], "float32")
        bound = [self.made("graph_tensor_create", ctypes.byref(tensor), self.engine, ctypes.c_void_p(x.ctypes.data)) for tensor, x in [*inputs, (result, out)]]
        read, written = (ctypes.c_void_p * len(inputs))(*bound[:-1]), (ctypes.c_void_p * 1)(bound[-1])

        def call():
            self.check("graph_compiled_partition_execute", compiled, self.stream, ports, read, ctypes.c_size_t(1), written)
            self.check("stream_wait", self.stream)
            return out if inputs else None  # holds the arrays

        return call
