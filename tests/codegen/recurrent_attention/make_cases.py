#!/usr/bin/env python3
"""Writes what the reference implementation of ONNX's LinearAttention (opset 27) gives in double precision, as arrays of the variant
recurrent_attention, by its names and in its layouts:

    pip install onnx==1.23.2
    tests/codegen/recurrent_attention/make_cases.py tests/codegen/recurrent_attention

Each case is a folder of f32 .npy files. They reach beyond ONNX's own node tests: more tokens than a chunk has, other widths of values than of
keys, decays by head and by channel, and decays of 0.
"""
import pathlib
import sys

import numpy as np
from onnx.reference.ops import op_linear_attention


class InDouble:
    """numpy, whose float32 is float64."""
    float32 = np.float64

    def __getattr__(self, name):
        return getattr(np, name)


op_linear_attention.np = InDouble()

# name: rule, batch, tokens, heads, group, width of keys, width of values, decay, has a past state
CASES = {
    "linear": ("linear", 2, 5, 2, 1, 8, 3, None, False),
    "gated": ("gated", 1, 70, 2, 1, 5, 16, "head", True),
    "gated_by_channel": ("gated", 1, 37, 2, 1, 8, 8, "channel", False),
    "delta": ("delta", 1, 37, 2, 2, 8, 5, None, True),
    "gated_delta": ("gated_delta", 1, 70, 2, 2, 16, 8, "head", True),
    "gated_delta_by_channel": ("gated_delta", 2, 9, 2, 1, 8, 8, "channel", True),
    "gated_delta_with_resets": ("gated_delta", 1, 70, 1, 2, 8, 8, "resets", False),
    "gated_delta_step": ("gated_delta", 2, 1, 2, 2, 8, 16, "head", True),
}


def tokens_outside(x):
    """[batch, heads.., tokens, width] as ONNX's [batch, tokens, heads * width], or [batch, heads, tokens] as [batch, tokens, heads]."""
    tokens = x.shape[2] if x.ndim == 3 else x.shape[-2]
    axis = 2 if x.ndim == 3 else x.ndim - 2
    return np.moveaxis(x, axis, 1).reshape(x.shape[0], tokens, -1)


def case(random, rule, batch, tokens, heads, group, width, value_width, decay, has_past):
    draw = lambda *shape: random.standard_normal(shape).astype(np.float32)
    arrays = {"q": draw(batch, heads, group, tokens, width), "k": draw(batch, heads, tokens, width), "v": draw(batch, heads, tokens, value_width)}
    if "delta" in rule:
        arrays["k"] /= np.linalg.norm(arrays["k"], axis=-1, keepdims=True)
        arrays["beta"] = random.uniform(size=(batch, heads, tokens)).astype(np.float32)
    if decay:
        arrays["log_decay"] = -0.2 * abs(draw(batch, heads, tokens, *([width] if decay == "channel" else [])))
        if decay == "resets":
            arrays["log_decay"][:, :, ::7] = -np.inf
    if has_past:
        arrays["past_state"] = draw(batch, heads, width, value_width)
    given = {name: tokens_outside(x.astype(np.float64)) for name, x in arrays.items() if name != "past_state"}
    operator = op_linear_attention.LinearAttention.__new__(op_linear_attention.LinearAttention)
    past = arrays["past_state"].astype(np.float64) if has_past else None
    out, state = operator._run(given["q"], given["k"], given["v"], past, given.get("log_decay"), given.get("beta"), kv_num_heads=heads,
                               q_num_heads=heads * group, update_rule=rule)
    arrays["out"] = np.moveaxis(out.reshape(batch, tokens, heads, group, value_width), 1, 3)
    if has_past:
        arrays["present_state"] = state
    return arrays


def main(folder):
    for seed, (name, arguments) in enumerate(CASES.items()):
        (pathlib.Path(folder) / name).mkdir(exist_ok=True)
        for array, x in case(np.random.default_rng(seed), *arguments).items():
            np.save(pathlib.Path(folder) / name / f"{array}.npy", np.ascontiguousarray(x, dtype=np.float32))


if __name__ == "__main__":
    main(*sys.argv[1:])
