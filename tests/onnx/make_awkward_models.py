#!/usr/bin/env python3
"""Makes models of what exporters write seldom, or for one extent alone, for tests of `attune import`, and what ONNX's reference gives for them.

    pip install onnx==1.23.2
    tests/onnx/make_awkward_models.py tests/onnx/models

Files as make_models.py writes them.
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto

from onnx_model import Model, Operators, normal


def numbers(m, name, *values):
    return m.constant(name, np.array(values, np.int64))


def scores_of(m, q, k):
    return m.node("Mul", m.node("MatMul", q, m.node("Transpose", k, perm=[0, 1, 3, 2])), m.constant("scale", np.float32(0.5)))


def attend(m, folder, scores, v, axis=-1):
    m.write(folder, m.node("MatMul", m.node("Softmax", scores, axis=axis), v, output="out", name="out"))


def inputs(m, rng, queries=5, keys=6):
    return m.input("q", normal(rng, 2, 3, queries, 4)), m.input("k", normal(rng, 2, 3, keys, 4)), m.input("v", normal(rng, 2, 3, keys, 5))


def transposed(folder, rng):
    """A table that is transposed before it is added, one that is added as it is and transposed, too, and keys that are a constant."""
    m = Model("transposed_constants", 18)
    q, _, v = inputs(m, rng)
    k = m.constant("key", normal(rng, 2, 3, 6, 4))
    scores = m.node("Add", scores_of(m, q, k), m.node("Transpose", m.constant("table", normal(rng, 6, 5))))
    both = m.constant("both", normal(rng, 5, 3, 6))
    for perm in ([1, 0, 2], [1, 0, 2]):
        scores = m.node("Sub", scores, m.node("Transpose", both, perm=perm))
    m.inputs = [one for one in m.inputs if one.name != "k"]
    del m.arrays["k"]
    attend(m, folder, scores, v)


def shared(folder, rng):
    """Constants that are used as they are and converted."""
    m = Model("shared_constants", 18)
    q, k, v = inputs(m, rng)
    seen, ids = m.constant("seen", rng.random((5, 6)) < 0.6), m.constant("ids", rng.integers(0, 4, (5, 6)))
    scores = m.node("Add", m.node("Where", seen, scores_of(m, q, k), m.constant("low", np.float32(-2))), m.node("Cast", seen, to=TensorProto.FLOAT))
    table = m.constant("real", normal(rng, 5, 6) * 3)
    scores = m.node("Add", scores, m.node("Cast", m.node("Cast", table, to=TensorProto.INT64), to=TensorProto.FLOAT))
    scores = m.node("Sub", m.node("Sub", scores, table), m.node("Cast", ids, to=TensorProto.FLOAT))
    attend(m, folder, scores, v)


def clipped(folder, rng):
    """Bounds were attributes before opset 11."""
    m = Model("clip_attributes", 10)
    q, k, v = inputs(m, rng)
    attend(m, folder, m.node("Clip", scores_of(m, q, k), min=-0.2, max=0.3), v, axis=3)


def cached(folder, rng):
    """One token with a cache of one."""
    m = Model("cache_of_one", 18)
    q = m.input("q", normal(rng, 1, 3, 1, 4))
    k, v = (m.node("Concat", m.input(f"past_{n}", normal(rng, 1, 3, 1, 4)), m.input(n, normal(rng, 1, 3, 1, 4)), axis=2) for n in "kv")
    attend(m, folder, scores_of(m, q, k), v)


def packed_heads(folder, rng):
    """Queries, keys and values one behind the other in each head, as GPT-NeoX packs them."""
    m = Model("packed_heads", 18)
    packed = m.node("Transpose", m.node("Reshape", m.input("x", normal(rng, 2, 5, 36)), numbers(m, "shape", 2, 5, 3, 12)), perm=[0, 2, 1, 3])
    q, k, v = (m.node("Slice", packed, numbers(m, f"from_{i}", 4 * i), numbers(m, f"to_{i}", 4 * i + 4), numbers(m, f"axis_{i}", 3)) for i in range(3))
    attend(m, folder, scores_of(m, q, k), v)


def sinks(folder, rng):
    """A score for each head behind those of the keys, whose weight is left out, as GPT-OSS has it."""
    m = Model("sinks", 18)
    q, k, v = inputs(m, rng)
    wide = m.node("Expand", m.constant("sink", normal(rng, 1, 3, 1, 1)), numbers(m, "wide", 2, 3, 5, 1))
    weights = m.node("Softmax", m.node("Concat", scores_of(m, q, k), wide, axis=-1), axis=-1)
    seen = m.node("Slice", weights, numbers(m, "from", 0), numbers(m, "to", -1), numbers(m, "axis", 3))
    m.write(folder, m.node("MatMul", seen, v, output="out", name="out"))


def awkward_operators(folder, rng):
    m = Operators("awkward_operators", rng)
    x, y, i, j = m.x, m.y, m.i, m.j
    two = m.constant("two", np.int64(2))
    m.result(m.node("Div", m.node("Pow", i, two), m.node("Abs", j)), "integer_Pow")
    m.result(m.node("Mod", m.node("Pow", m.node("Abs", i), m.node("Mod", m.node("Abs", j), two)), m.constant("five", np.int64(5))), "Pow_of_integers")
    infinite = m.node("Div", x, m.constant("none", np.float32(0)))
    m.result(m.node("Sign", infinite), "Sign_of_infinities")
    m.result(m.node("Cast", m.node("Mul", i, m.constant("fifty", np.int64(50))), to=TensorProto.INT8), "Cast_to_int8")
    bytes_of = [m.node("Cast", m.node("Abs", one), to=TensorProto.UINT8) for one in (i, j)]
    m.result(m.node("Sub", bytes_of[0], bytes_of[1]), "uint8_Sub")
    m.result(m.node("BitwiseNot", bytes_of[0]), "uint8_BitwiseNot")
    m.result(m.node("Add", m.constant("narrow", np.array([100, 50, -100, 1, 2, 3], np.int8)), m.node("Cast", m.node("Mul", i, m.constant("nine", np.int64(9))), to=TensorProto.INT8)), "int8_Add")
    m.result(m.node("Einsum", x, y, equation="ak,bk"), "Einsum_without_result")
    m.result(m.node("Einsum", m.node("Unsqueeze", x, numbers(m, "first", 0)), y, equation="...ak,bk->...ab"), "Einsum_with_dots")
    m.result(m.node("Mul", i, m.node("Size", x)), "Size")
    m.result(m.node("Sub", x, m.node("ReduceLogSumExp", x, numbers(m, "both", 0, 1))), "ReduceLogSumExp_of_both")
    last = m.node("Slice", x, numbers(m, "from", -1), numbers(m, "to", 6), numbers(m, "axis", 1))
    m.result(m.node("Sub", x, last), "Slice_of_one")
    m.result(m.node("Mul", x, m.node("Squeeze", m.node("Slice", y, numbers(m, "start", 2), numbers(m, "end", 3), numbers(m, "along", 0)), numbers(m, "gone", 0))), "Squeeze_of_one")
    m.result(m.node("Add", x, m.node("Transpose", m.constant("turned", normal(rng, 6, 4)))), "Transpose_of_constant")
    m.result(m.node("Concat", x, m.node("ReduceMax", x, numbers(m, "row", 1)), axis=1), "Concat_of_one")
    m.write(folder)


def main():
    folder = pathlib.Path(sys.argv[1])
    for make in (transposed, shared, clipped, cached, packed_heads, sinks, awkward_operators):
        make(folder, np.random.default_rng(2))


main()
