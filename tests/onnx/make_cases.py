#!/usr/bin/env python3
"""Makes conformance cases of Attention, LinearAttention, RotaryEmbedding and FlexAttention by ONNX's reference, with random attributes, shapes and numbers.

    pip install onnx==1.23.2
    tests/onnx/make_cases.py FOLDER --count 100 --seed 1

Each case is a folder as docs/onnx.md describes. The reference runs in the type of the inputs, 16-bit ones included. `attune conformance FOLDER` runs them.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

from onnx_case import DTYPES, Case


def some(rng, *choices):
    return choices[rng.integers(len(choices))]


def attention_attributes(rng, opset, dtype):
    attributes = {}
    if rng.random() < 0.5:
        attributes["is_causal"] = 1
    if rng.random() < 0.3:
        attributes["scale"] = float(some(rng, 0.25, 1.0, 0.01))
    if rng.random() < 0.3:
        attributes["softcap"] = float(some(rng, 0.5, 2.0, 30.0))
    if rng.random() < 0.1 and dtype == np.float32:
        attributes["softmax_precision"] = int(some(rng, 1, 11))
    if opset >= 25:
        for side in ("left_window_size", "right_window_size"):
            if rng.random() < 0.6:
                attributes[side] = int(rng.integers(-1, 4))
    return attributes


def attention_mask(rng, scores, is_causal, dtype):
    """Of scores of that shape, of which it may lack dims, keys or all but one of a dim: truth values, or reals, of which some may hide."""
    shape = [n if rng.random() < 0.7 else 1 for n in scores[:3]] + [scores[3]]
    if is_causal:
        shape[2] = scores[2]  # the reference takes the number of queries from the mask
    if rng.random() < 0.3:
        shape[3] = int(rng.integers(1, scores[3] + 1))
    shape = shape[int(rng.integers(0, 3 if is_causal else 4)):]
    kind = some(rng, "bool", "real", "hiding")
    mask = rng.random(shape) < 0.7 if kind == "bool" else rng.standard_normal(shape).astype(dtype)
    if kind == "hiding":
        mask[rng.random(shape) < 0.3] = -np.inf
    return mask


def attention(rng):
    opset = int(some(rng, 23, 24, 25))
    dtype = DTYPES[some(rng, "float32", "float32", "float32", "float16", "bfloat16")]
    batch, kv_heads, group = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(some(rng, 1, 1, 2, 3))
    queries, fresh, depth, value_depth = (int(rng.integers(1, n)) for n in (8, 8, 10, 10))
    heads = kv_heads * group
    attributes = attention_attributes(rng, opset, dtype)

    def normal(*shape):
        return (rng.standard_normal(shape) * some(rng, 1, 1, 3)).astype(dtype)

    q, k, v = normal(batch, heads, queries, depth), normal(batch, kv_heads, fresh, depth), normal(batch, kv_heads, fresh, value_depth)
    if rng.random() < 0.4:
        q, k, v = (np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, x.shape[2], -1) for x in (q, k, v))
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    inputs = {"Q": q, "K": k, "V": v, "attn_mask": None, "past_key": None, "past_value": None}
    keys = fresh
    if rng.random() < 0.4:
        past = int(rng.integers(1, 6))
        inputs["past_key"], inputs["past_value"] = normal(batch, kv_heads, past, depth), normal(batch, kv_heads, past, value_depth)
        keys += past
    elif opset >= 24 and rng.random() < 0.5:
        inputs["nonpad_kv_seqlen"] = rng.integers(0, keys + 1, batch).astype(np.int64)
    if rng.random() < 0.6:
        inputs["attn_mask"] = attention_mask(rng, [batch, heads, queries, keys], "is_causal" in attributes, dtype)
    outputs = ["Y", None, None, None]
    if inputs.get("nonpad_kv_seqlen") is None and inputs["past_key"] is not None:
        outputs[1:3] = ["present_key", "present_value"]
    if rng.random() < 0.5:
        outputs[3] = "qk_matmul_output"
        # the reference gives capped scores for mode 0, where the specification says raw ones
        attributes["qk_matmul_output_mode"] = int(rng.integers(1 if "softcap" in attributes else 0, 4))
    return Case("Attention", opset, attributes, inputs, outputs)


def rotary(rng):
    dtype = DTYPES[some(rng, "float32", "float32", "float16", "bfloat16")]
    batch, heads, tokens, half = (int(rng.integers(1, n)) for n in (4, 4, 7, 7))
    depth, turned = 2 * half, 2 * half
    attributes = {"interleaved": int(rng.integers(0, 2))}
    if rng.random() < 0.4:
        turned = 2 * int(rng.integers(1, half + 1))
        attributes["rotary_embedding_dim"] = turned
    x = rng.standard_normal((batch, heads, tokens, depth)).astype(dtype)
    if rng.random() < 0.4:
        x = np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, tokens, -1)
        attributes["num_heads"] = heads
    has_positions = rng.random() < 0.5
    angles = rng.uniform(0, 6, (20, turned // 2) if has_positions else (batch, tokens, turned // 2))
    inputs = {"X": x, "cos_cache": np.cos(angles).astype(dtype), "sin_cache": np.sin(angles).astype(dtype),
              "position_ids": rng.integers(0, 20, (batch, tokens)).astype(np.int64) if has_positions else None}
    return Case("RotaryEmbedding", 23, attributes, inputs, ["Y"])


def linear(rng):
    dtype = DTYPES[some(rng, "float32", "float32", "float32", "float16", "bfloat16")]
    batch, kv_heads, group = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(some(rng, 1, 1, 2, 3))
    depth, value_depth = int(rng.integers(1, 10)), int(rng.integers(1, 10))
    tokens = int(some(rng, 1, rng.integers(1, 8), rng.integers(1, 70)))
    rule = some(rng, "linear", "gated", "delta", "gated_delta")
    attributes = {"q_num_heads": kv_heads * group, "kv_num_heads": kv_heads}
    if rule != "gated_delta" or rng.random() < 0.5:
        attributes["update_rule"] = rule
    if rng.random() < 0.4:
        attributes["scale"] = float(some(rng, 0.0, 1.0, 0.125, -0.5))
    if rng.random() < 0.3:
        attributes["chunk_size"] = int(some(rng, 1, 16, 64))

    def normal(*shape):
        return (rng.standard_normal(shape) * some(rng, 1, 1, 2)).astype(dtype)

    keys = rng.standard_normal((batch, tokens, kv_heads, depth))
    if "delta" in rule:
        keys /= np.maximum(np.linalg.norm(keys, axis=-1, keepdims=True), 1e-6)
    inputs = {"query": normal(batch, tokens, kv_heads * group * depth), "key": keys.reshape(batch, tokens, -1).astype(dtype),
              "value": normal(batch, tokens, kv_heads * value_depth), "past_state": None, "decay": None, "beta": None}
    if rng.random() < 0.5:
        kind = some(rng, dtype, np.float32)
        inputs["past_state"] = rng.standard_normal((batch, kv_heads, depth, value_depth)).astype(kind)
    if "gated" in rule:
        inputs["decay"] = (-np.abs(rng.standard_normal((batch, tokens, some(rng, kv_heads, kv_heads * depth)))) * some(rng, 0.1, 1)).astype(dtype)
    if "delta" in rule:
        inputs["beta"] = rng.random((batch, tokens, some(rng, kv_heads, 1))).astype(dtype)
    return Case("LinearAttention", 27, attributes, inputs, some(rng, ["output", "present_state"], ["output", "present_state"], ["output", None]))


class Body:
    """A subgraph of one input `x`, grown node by node."""

    def __init__(self, dtype):
        self.dtype, self.nodes, self.constants = dtype, [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def __call__(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def several(self, op, count, *inputs, **attributes):
        names = [f"t{len(self.nodes)}_{n}" for n in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names

    def graph(self, output):
        shape = ["B", "H", "L", "S"]
        self.nodes[-1].output[0] = output
        return helper.make_graph(self.nodes, "body", [helper.make_tensor_value_info("x", self.dtype, shape)],
                                 [helper.make_tensor_value_info(output, self.dtype, shape)], self.constants)


def positions(body):
    shape = body("Shape", "x")
    zero, one = body.constant(np.int64(0)), body.constant(np.int64(1))
    found = []
    for axis, column in ((2, [1, 1, -1, 1]), (3, [1, 1, 1, -1])):
        extent = body("Gather", shape, body.constant(np.int64(axis)), axis=0)
        found.append(body("Reshape", body("Range", zero, extent, one), body.constant(np.array(column, np.int64))))
    return found


def score_mod(rng, real, dtype, shape):
    body = Body(dtype)
    value, hides = "x", False
    for kind in rng.permutation(["cap", "bias", "alibi", "causal", "window", "table", "function", "rows"])[:int(rng.integers(1, 4))]:
        if kind == "cap":
            cap = body.constant(real(2.0))
            value = body("Mul", body("Tanh", body("Div", value, cap)), cap)
        if kind == "bias":
            value = body("Add", value, body.constant(real(rng.standard_normal())))
        if kind == "function" and not hides:  # some of them are NaN at minus infinity
            op = some(rng, "Celu", "Elu", "Erf", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Selu", "Softplus", "Softsign", "ThresholdedRelu")
            value = body(op, value, **({"alpha": 0.25} if op in ("Elu", "LeakyRelu") else {}))
        if kind == "rows":
            # the sum of sizes is infinite where a score is hidden, and a row of minus infinities is NaN in the reference, zeros here
            op = some(rng, "ReduceMean", "ReduceMax", "ReduceMin", *([] if hides else ["ReduceL1"]))
            reduced = body(op, value, body.constant(np.array([int(some(rng, -1, -2))], np.int64)))
            value = body("Sub", value, reduced)
        if kind == "table":
            value = body("Add", body.constant(rng.standard_normal(shape[int(rng.integers(0, 4)):]).astype(real)), value)
        if kind in ("alibi", "causal", "window"):
            i, j = positions(body)
        if kind == "alibi":
            slopes = body.constant(rng.random((shape[1], 1, 1)).astype(real))
            value = body("Sub", value, body("Mul", slopes, body("Abs", body("Cast", body("Sub", i, j), to=dtype))))
        if kind == "causal":
            hides = True
            value = body("Where", body("GreaterOrEqual", i, j), value, body.constant(real(-np.inf)))
        if kind == "window":
            near = body("Less", body("Abs", body("Sub", i, j)), body.constant(np.int64(3)))
            value = body("Where", body("Or", near, body("Equal", j, body.constant(np.int64(0)))), value, body.constant(real(-1e4)))
    return body.graph("scores_out")


def prob_mod(rng, real, dtype, shape):
    body = Body(dtype)
    kind = some(rng, "factor", "mask", "sum", "running")
    if kind == "factor":
        body("Mul", "x", body.constant(real(rng.random())))
    elif kind == "sum":
        body("Div", "x", body("Add", body("ReduceSum", "x", body.constant(np.array([-2], np.int64))), body.constant(real(0.5))))
    elif kind == "running":
        body("CumSum", "x", body.constant(np.int64(3)), reverse=int(rng.integers(0, 2)), exclusive=int(rng.integers(0, 2)))
    else:
        body("Where", body.constant(rng.random((shape[2], shape[3])) < 0.8), "x", body.constant(real(0)))
    return body.graph("probs_out")


def flex(rng):
    name = some(rng, "float32", "float32", "float16", "bfloat16")
    dtype = DTYPES[name]
    batch, kv_heads, group = int(rng.integers(1, 3)), int(rng.integers(1, 4)), int(some(rng, 1, 2, 3))
    queries, keys, depth, value_depth = (int(rng.integers(1, n)) for n in (8, 8, 9, 9))
    keys = max(keys, queries)
    attributes = {"scale": float(some(rng, 0.25, 1.0))} if rng.random() < 0.4 else {}
    shape = (batch, kv_heads * group, queries, keys)
    if rng.random() < 0.8:
        attributes["score_mod"] = score_mod(rng, np.float32, TensorProto.FLOAT, shape)
    if rng.random() < 0.5:
        attributes["prob_mod"] = prob_mod(rng, np.float32, TensorProto.FLOAT, shape)
    inputs = {n: rng.standard_normal(s).astype(dtype) for n, s in (("Q", (*shape[:3], depth)), ("K", (batch, kv_heads, keys, depth)), ("V", (batch, kv_heads, keys, value_depth)))}
    return Case("FlexAttention", 1, attributes, inputs, ["Y"], "ai.onnx.preview")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["attention", "linear", "rotary", "flex"])
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    makers = {"attention": attention, "linear": linear, "rotary": rotary, "flex": flex}
    for i in range(options.count):
        which = options.only or some(rng, "attention", "attention", "linear", "rotary", "flex")
        makers[which](rng).write(options.folder / f"{which}_{i:03}")


if __name__ == "__main__":
    main()
