#!/usr/bin/env python3
"""Makes conformance cases of FlexAttention, one for each of the things below that its subgraphs may do, by ONNX's reference.

    pip install onnx==1.23.2
    tests/onnx/make_flex_cases.py FOLDER
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto

from make_cases import Body, positions
from onnx_case import Case

REAL = TensorProto.FLOAT


def mixed_heads(body, rng):
    """Scores of each head are sums of those of all (talking heads)."""
    turned = body("Transpose", "x", perm=[0, 2, 3, 1])
    body("Transpose", body("MatMul", turned, body.constant(rng.standard_normal((4, 4)).astype(np.float32))), perm=[0, 3, 1, 2])


def other_order(body, rng):
    body("Gather", "x", body.constant(np.array([2, 0, 3, 1])), axis=1)


def last_key(body, rng):
    last = body("Slice", "x", *(body.constant(np.array([n])) for n in (-1, 9, 3)))
    body("Sub", "x", last)


def split_heads(body, rng):
    parts = body.several("Split", 2, "x", axis=3, num_outputs=2)
    body("Concat", parts[1], parts[0], axis=3)


def hidden_twice(body, rng):
    """What is hidden is compared, and hidden once more."""
    i, j = positions(body)
    low = body.constant(np.float32(-np.inf))
    seen = body("Where", body("Less", i, j), low, "x")
    is_low = body("And", body("Less", seen, body.constant(np.float32(-0.5))), body("Less", body.constant(np.int64(0)), j))
    body("Where", is_low, low, seen)


def turned_table(body, rng):
    body("Add", "x", body("Transpose", body.constant(rng.standard_normal((6, 5)).astype(np.float32))))


def narrow(body, rng):
    _, j = positions(body)
    wrapped = body("Cast", body("Mul", j, body.constant(np.int64(50))), to=TensorProto.INT8)
    body("Add", "x", body("Mul", body("Cast", wrapped, to=REAL), body.constant(np.float32(0.01))))


def constant_scores(body, rng):
    body("Expand", body.constant(rng.standard_normal((1, 1, 1, 6)).astype(np.float32)), body("Shape", "x"))


def main():
    folder = pathlib.Path(sys.argv[1])
    for number, write in enumerate((mixed_heads, other_order, last_key, split_heads, hidden_twice, turned_table, narrow, constant_scores)):
        rng = np.random.default_rng(number)
        body = Body(REAL)
        write(body, rng)
        kv_heads = 2 if number % 2 else 4
        inputs = {n: rng.standard_normal(s).astype(np.float32) for n, s in (("Q", (2, 4, 5, 7)), ("K", (2, kv_heads, 6, 7)), ("V", (2, kv_heads, 6, 3)))}
        Case("FlexAttention", 1, {"score_mod": body.graph("scores_out")}, inputs, ["Y"], "ai.onnx.preview").write(folder / f"flex_{write.__name__}")


main()
