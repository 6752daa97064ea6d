#!/usr/bin/env python3
"""Makes the models that tests of `attune import` read, and what ONNX's reference gives for them.

    pip install onnx==1.23.2
    tests/onnx/make_models.py tests/onnx/models

NAME.onnx, NAME.IN.npy for each input, by the name that it has in the graph, and NAME.out.npy.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


class Model:
    def __init__(self, name, opset=23):
        self.name, self.opset, self.nodes, self.constants, self.inputs, self.arrays = name, opset, [], [], [], {}

    def input(self, name, array, shape=None):
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape or array.shape))
        self.arrays[name] = array
        return name

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, *inputs, output=None, name="", domain="", **attributes):
        output = output or f"/t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=name, domain=domain, **attributes))
        return output

    def model(self, output):
        made = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, self.name, self.inputs, [made], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("ai.onnx.preview", 1)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)

    def write(self, folder, output, names=None, taken=()):
        """`taken`: tensors inside the model that are inputs of the part; `names`: what the part calls its inputs."""
        model = self.model(output)
        onnx.save(model, folder / f"{self.name}.onnx")
        seen = helper.make_model(model.graph, opset_imports=model.opset_import, ir_version=10)
        for tensor in taken:
            seen.graph.output.append(helper.make_tensor_value_info(tensor, TensorProto.FLOAT, None))
        results = ReferenceEvaluator(seen).run(None, self.arrays)
        arrays = self.arrays | dict(zip(taken, results[1:]))
        for tensor, name in (names or {n: n for n in self.arrays}).items():
            np.save(folder / f"{self.name}.{name}.npy", arrays[tensor])
        np.save(folder / f"{self.name}.out.npy", results[0])


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def bert(folder, rng):
    """A layer as exporters of BERT write it: projections with biases, [batch, tokens, heads * depth] taken apart, an additive mask of padding."""
    m = Model("bert", 14)
    x = m.input("x", normal(rng, 2, 5, 24))
    mask = m.input("attention_mask", np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int64))
    shape = m.constant("shape", np.array([2, 5, 3, 8], np.int64))
    heads = {}
    for which in "qkv":
        product = m.node("MatMul", x, m.constant(f"w{which}", normal(rng, 24, 24) / 5), output=f"/{which}/MatMul_output_0")
        biased = m.node("Add", m.constant(f"b{which}", normal(rng, 24)), product)
        heads[which] = m.node("Transpose", m.node("Reshape", biased, shape), perm=[0, 2, 3, 1] if which == "k" else [0, 2, 1, 3])
    wide = m.node("Unsqueeze", mask, m.constant("axes", np.array([1, 2], np.int64)))
    hidden = m.node("Mul", m.node("Sub", m.constant("one", np.float32(1)), m.node("Cast", wide, to=TensorProto.FLOAT)), m.constant("low", np.float32(-1e4)))
    scores = m.node("Div", m.node("MatMul", heads["q"], heads["k"]), m.constant("root", np.float32(np.sqrt(8))))
    weights = m.node("Softmax", m.node("Add", scores, hidden), axis=-1)
    context = m.node("MatMul", weights, heads["v"], output="context", name="/attention/MatMul_1")
    joined = m.node("Reshape", m.node("Transpose", context, perm=[0, 2, 1, 3]), m.constant("flat", np.array([2, 5, 24], np.int64)), output="joined", name="/attention/Reshape_3")
    m.write(folder, joined, {f"/{w}/MatMul_output_0": f"{w}_MatMul_output_0" for w in "qkv"} | {"attention_mask": "attention_mask"}, [f"/{w}/MatMul_output_0" for w in "qkv"])


def masks(folder, rng):
    """The numbers that exporters hide scores by, times 1 - mask, or minus infinity by a Where."""
    arrays = {n: normal(rng, 2, 3, 5, 4) for n in "qkv"} | {"mask": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int64)}
    for name, low in (("mask_1e4", np.float32(-1e4)), ("mask_1e9", np.float32(-1e9)), ("mask_lowest", np.finfo(np.float32).min), ("mask_infinite", np.float32(-np.inf))):
        m = Model(name, 14)
        q, k, v, mask = (m.input(n, array) for n, array in arrays.items())
        seen = m.node("Cast", m.node("Unsqueeze", mask, m.constant("axes", np.array([1, 2], np.int64))), to=TensorProto.FLOAT)
        hidden = m.node("Sub", m.constant("one", np.float32(1)), seen)
        if np.isinf(low):
            hidden = m.node("Where", m.node("Cast", hidden, to=TensorProto.BOOL), m.constant("low", low), m.constant("zero", np.float32(0)))
        else:
            hidden = m.node("Mul", hidden, m.constant("low", low))
        scores = m.node("Mul", m.node("MatMul", q, m.node("Transpose", k, perm=[0, 1, 3, 2])), m.constant("scale", np.float32(0.5)))
        m.write(folder, m.node("MatMul", m.node("Softmax", m.node("Add", scores, hidden), axis=-1), v, output="out"))


def attention(folder, rng):
    """A node of the operator, with a boolean mask that is a constant of the model, behind a product."""
    m = Model("attention", 23)
    q, k, v = m.input("q", normal(rng, 2, 5, 12)), m.input("k", normal(rng, 2, 7, 12)), m.input("v", normal(rng, 2, 7, 9))
    mask = m.constant("mask", rng.random((5, 7)) < 0.8)
    y = m.node("Attention", q, k, v, mask, output="y", name="attention", q_num_heads=3, kv_num_heads=3)
    m.write(folder, y, {"q": "Q", "k": "K", "v": "V"})


def wrong(folder, rng):
    """What is refused: symbolic extents, an operator that is not known, numbers in another file."""
    m = Model("symbolic", 23)
    q, k, v = (m.input(n, normal(rng, 2, 3, 5, 4), ["batch", 3, "tokens", 4]) for n in "qkv")
    model = m.model(m.node("Attention", q, k, v, output="y", name="attention"))
    onnx.save(model, folder / "symbolic.onnx")

    m = Model("unsupported", 18)
    q, k = m.input("q", normal(rng, 2, 5, 4)), m.input("k", normal(rng, 2, 4, 5))
    scores = m.node("MatMul", q, k)
    weights = m.node("Softmax", m.node("CumSum", scores, m.constant("axis", np.int64(2)), name="summed", output="sums"), axis=-1)
    m.node("MatMul", weights, m.input("v", normal(rng, 2, 5, 3)), output="out", name="product")
    onnx.save(m.model("out"), folder / "unsupported.onnx")

    m = Model("external", 18)
    weights = m.node("Softmax", m.node("Add", m.node("MatMul", m.input("q", normal(rng, 2, 5, 4)), m.input("k", normal(rng, 2, 4, 5))), m.constant("bias", normal(rng, 5, 5))), axis=-1)
    m.node("MatMul", weights, m.input("v", normal(rng, 2, 5, 3)), output="out", name="product")
    model = m.model("out")
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "external.bin"
    onnx.save(model, folder / "external.onnx")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for make in (bert, masks, attention, wrong):
        make(folder, np.random.default_rng(1))


main()
