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
from onnx import TensorProto, helper

from onnx_model import Model, Operators, normal


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
    weights = m.node("Softmax", m.node("Atan", scores, name="angle", output="angles"), axis=-1)
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


def add_elementwise(m):
    x, y, i, j = m.x, m.y, m.i, m.j
    one = [("Abs", {}), ("Ceil", {}), ("Celu", {}), ("Celu", {"alpha": 0.5}), ("Cos", {}), ("Cosh", {}), ("Elu", {}), ("Elu", {"alpha": 2.0}), ("Erf", {}), ("Exp", {}), ("Floor", {}),
           ("Gelu", {}), ("Gelu", {"approximate": "tanh"}), ("HardSigmoid", {}), ("HardSigmoid", {"alpha": 0.5, "beta": 0.25}), ("HardSwish", {}),
           ("LeakyRelu", {}), ("LeakyRelu", {"alpha": 0.25}), ("Mish", {}), ("Neg", {}), ("Relu", {}), ("Round", {}), ("Selu", {}), ("Selu", {"alpha": 1.0, "gamma": 2.0}),
           ("Shrink", {}), ("Shrink", {"bias": 0.25, "lambd": 1.0}), ("Sigmoid", {}), ("Sign", {}), ("Sin", {}), ("Softplus", {}), ("Softsign", {}), ("Swish", {}),
           ("Swish", {"alpha": 0.5}), ("Tan", {}), ("Tanh", {}), ("ThresholdedRelu", {}), ("ThresholdedRelu", {"alpha": 0.25}),
           ("LogSoftmax", {}), ("LogSoftmax", {"axis": 0}), ("IsNaN", {})]
    for number, (op, attributes) in enumerate(one):
        m.result(m.node(op, x, **attributes), f"{op}_{number}")
    divided = m.node("Div", x, m.constant("none", np.float32(0)))
    for number, attributes in enumerate([{}, {"detect_negative": 0}, {"detect_positive": 0}]):
        m.result(m.node("IsInf", divided, **attributes), f"IsInf_{number}")
    for op in ("Add", "Div", "Max", "Mean", "Min", "Mul", "PRelu", "Sub", "Sum"):
        m.result(m.node(op, x, y), op)
    m.result(m.node("Mean", x, y, x), "Mean_of_three")
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Mod"):
        m.result(m.node(op, i, j), f"integer_{op}")
    m.result(m.node("Mod", i, j, fmod=1), "fmod")
    m.result(m.node("BitwiseNot", i), "BitwiseNot")
    m.result(m.node("Dropout", x), "Dropout")
    m.result(m.node("Dropout", x, m.constant("ratio", np.float32(0.5)), m.constant("is_training", np.array(False))), "Dropout_of_inference")


def add_reductions(m):
    x, i = m.x, m.i
    axes = {name: m.constant(f"axes_{name}", np.array(numbers, np.int64)) for name, numbers in (("last", [-1]), ("first", [0]), ("both", [0, 1]))}
    positive = m.node("Exp", x)
    for op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare"):
        for name, axis in axes.items():
            m.result(m.node("Sub", x, m.node(op, positive, axis)), f"{op}_{name}")
    m.result(m.node("Sub", x, m.node("ReduceLogSumExp", x, axes["last"])), "ReduceLogSumExp")
    m.result(m.node("Sub", x, m.node("ReduceMax", x, keepdims=0)), "ReduceMax_of_all")
    m.result(m.node("ReduceMean", x, axes["first"], keepdims=0), "ReduceMean_without_axis")
    m.result(m.node("Sub", x, m.node("ReduceSum", x, noop_with_empty_axes=1)), "ReduceSum_of_none")
    m.result(m.node("ReduceSum", i, axes["last"], keepdims=0), "integer_ReduceSum")
    wide = m.node("Expand", m.node("ReduceMin", x, axes["first"]), m.constant("wide", np.array([4, 6], np.int64)))
    m.result(m.node("Sub", x, m.node("ReduceSum", wide, axes["first"])), "ReduceSum_of_expanded")


def add_rows(m):
    """Running sums, and the greatest elements."""
    x, i = m.x, m.i
    for number, attributes in enumerate([{}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}]):
        m.result(m.node("CumSum", x, m.constant(f"along_{number}", np.int64(number % 2)), **attributes), f"CumSum_{number}")
        m.result(m.node("CumSum", i, m.constant(f"along_{number}_too", np.int64(-1)), **attributes), f"integer_CumSum_{number}")
    three = m.constant("three", np.array([3], np.int64))
    for number, attributes in enumerate([{}, {"largest": 0}, {"axis": 0}, {"axis": 0, "largest": 0}]):
        for name, of in (("", x), ("integer_", i)):
            values, positions = f"{name}values_{number}", f"{name}positions_{number}"
            m.nodes.append(helper.make_node("TopK", [of, three], [values, positions], **attributes))
            m.result(values, f"{name}TopK_values_{number}")
            m.result(positions, f"{name}TopK_positions_{number}")


def add_parts(m):
    def parts(outputs, *inputs, **attributes):
        names = [f"part_{len(m.nodes)}_{n}" for n in range(outputs)]
        m.nodes.append(helper.make_node("Split", list(inputs), names, **attributes))
        return names

    x = m.x
    a, b, c = parts(3, x, axis=1, num_outputs=3)
    m.result(m.node("Sub", m.node("Mul", c, b), a), "Split_equal")
    a, b = parts(2, x, m.constant("two_of_four", np.array([2, 2], np.int64)))
    m.result(m.node("Sub", b, a), "Split_first_axis")
    a, b, c = parts(3, x, m.constant("lengths", np.array([1, 2, 3], np.int64)), axis=-1)
    m.result(m.node("Concat", c, a, b, axis=1), "Split_unequal")
    a, b = parts(2, x, axis=1, num_outputs=2)
    m.result(m.node("Sub", b, a), "Split_without_lengths")


def operators(folder, rng):
    """Elementwise operators, reductions, running sums, the greatest elements and parts."""
    m = Operators("operators", rng)
    for add in (add_elementwise, add_reductions, add_rows, add_parts):
        add(m)
    m.write(folder)


def packed(folder, rng):
    """Queries, keys and values as parts of one projection: of one width, of fewer keys' and values' heads, and the same by Slice."""
    for name, heads in (("packed_equal", (3, 3)), ("packed_grouped", (4, 2)), ("packed_sliced", (4, 2))):
        m = Model(name, 18)
        of_q, of_k = heads
        width = (of_q + 2 * of_k) * 4
        x = m.node("MatMul", m.input("x", normal(rng, 2, 5, 7)), m.constant("w", normal(rng, 7, width) / 2), output="projected")
        lengths = m.constant("lengths", np.array([of_q * 4, of_k * 4, of_k * 4], np.int64))
        if name == "packed_sliced":
            ends = [0, of_q * 4, (of_q + of_k) * 4, width]
            for part, start, end in zip("qkv", ends, ends[1:]):
                m.node("Slice", x, *(m.constant(f"{part}_{what}", np.array([n], np.int64)) for what, n in (("start", start), ("end", end), ("axis", 2))), output=part)
        else:
            m.nodes.append(helper.make_node("Split", [x, lengths], ["q", "k", "v"], axis=-1))
        q, k, v = (m.node("Transpose", m.node("Reshape", part, m.constant(f"shape_{part}", np.array([2, 5, n, 4], np.int64))), perm=[0, 2, 1, 3]) for part, n in zip("qkv", (of_q, of_k, of_k)))
        if of_q != of_k:
            repeated = []
            for part, name_of in ((k, "k"), (v, "v")):
                wide = m.node("Expand", m.node("Unsqueeze", part, m.constant(f"at_{name_of}", np.array([2], np.int64))), m.constant(f"wide_{name_of}", np.array([2, of_k, of_q // of_k, 5, 4], np.int64)))
                repeated.append(m.node("Reshape", wide, m.constant(f"flat_{name_of}", np.array([2, of_q, 5, 4], np.int64))))
            k, v = repeated
        scores = m.node("Mul", m.node("MatMul", q, m.node("Transpose", k, perm=[0, 1, 3, 2])), m.constant("scale", np.float32(0.5)))
        m.write(folder, m.node("MatMul", m.node("Softmax", scores, axis=-1), v, output="out", name="out"), {"projected": "projected"}, ["projected"])


def constant_masks(folder, rng):
    """Masks that an exporter has calculated: a window, added; a prefix with causal tokens, chosen; causal chunks, added to each batch and head; and one of no rule, added."""
    i, j = np.arange(11)[:, None], np.arange(11)[None, :]
    for name, seen in (("mask_window", (j <= i) & (j > i - 4)), ("mask_prefix", (j <= i) | (j < 3)), ("mask_chunks", (i // 4 == j // 4) & (j <= i)), ("mask_random", (j == i) | (rng.random((11, 11)) < 0.4))):
        m = Model(name, 18)
        q, k, v = (m.input(n, normal(rng, 2, 3, 11, 4)) for n in "qkv")
        scores = m.node("MatMul", q, m.node("Transpose", k, perm=[0, 1, 3, 2]))
        if name == "mask_prefix":
            scores = m.node("Where", m.constant("seen", seen), scores, m.constant("low", np.float32(-np.inf)))
        else:
            scores = m.node("Add", scores, m.constant("hidden", np.where(seen, 0, -np.inf).astype(np.float32)[None, None]))
        m.write(folder, m.node("MatMul", m.node("Softmax", scores, axis=-1), v, output="out", name="out"))


def cached(folder, rng):
    """Causal attention of queries behind a cache of any length, as exporters write its mask: a part of the triangle of all positions, from a length on that is
    an extent or a difference of two; and one side of a diagonal that a length says. The inputs are of other lengths than tests import the model for."""
    past, queries = 9, 3
    for name in ("past_slice", "past_difference", "past_trilu"):
        m = Model(name, 18)
        q, k, v = (m.input(n, normal(rng, 2, 3, queries, 4), (2, 3, "Q", 4)) for n in "qkv")
        past_k, past_v = (m.input(n, normal(rng, 2, 3, past, 4), (2, 3, "P", 4)) for n in ("past_k", "past_v"))
        keys, values = m.node("Concat", past_k, k, axis=2), m.node("Concat", past_v, v, axis=2)
        scores = m.node("MatMul", q, m.node("Transpose", keys, perm=[0, 1, 3, 2]))
        length, before, own = (m.node("Shape", x, start=2, end=3) for x in (keys, past_k, q))
        start = m.node("Sub", length, own) if name != "past_slice" else before
        if name == "past_trilu":
            ones = m.node("Expand", m.constant("one", np.float32(1)), m.node("Concat", own, length, axis=0))
            seen = m.node("Cast", m.node("Trilu", ones, m.node("Squeeze", start), upper=0), to=TensorProto.BOOL)
        else:
            whole = m.constant("triangle", np.tril(np.ones((32, 32), np.uint8))[None, None])
            first, axes = m.constant("zero", np.array([0], np.int64)), [m.constant(f"axis_{n}", np.array([n], np.int64)) for n in (2, 3)]
            rows = m.node("Slice", whole, start, length, axes[0])
            seen = m.node("Cast", m.node("Slice", rows, first, length, axes[1]), to=TensorProto.BOOL)
        scores = m.node("Where", seen, scores, m.constant("low", np.float32(-np.inf)))
        m.write(folder, m.node("MatMul", m.node("Softmax", scores, axis=-1), values, output="out", name="out"))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for make in (bert, masks, attention, wrong, operators, packed, constant_masks, cached):
        make(folder, np.random.default_rng(1))


main()
