"""Cases of shapes, layers and recurrences."""

import math

import numpy as np

from reference_formulas import attend, B, by_heads, case, D, H, integers, K, normal, Q, random, softmax, V, where

x = {"q": normal(B, 2, H, Q, D), "k": normal(B, 2, K, D), "v": normal(B, 2, K, V)}
merged = {"q": x["q"].reshape(B, 2 * H, Q, D), "k": np.repeat(x["k"], H, axis=1), "v": np.repeat(x["v"], H, axis=1)}
case("grouped_query", x, attend(merged).reshape(B, 2, H, Q, V))

x = {"q": normal(B, 2, H, 2, D), "k": normal(B, 2, 2, D), "v": normal(B, 2, 2, V), "k_cache": normal(B, 2, K, D), "v_cache": normal(B, 2, K, V),
     "position": np.array([0, 4])}
written = {"k_cache": x["k_cache"].copy(), "v_cache": x["v_cache"].copy()}
for b, position in enumerate(x["position"]):
    written["k_cache"][b, :, position:position + 2] = x["k"][b]
    written["v_cache"][b, :, position:position + 2] = x["v"][b]
merged = {"q": x["q"].reshape(B, 2 * H, 2, D), "k": np.repeat(written["k_cache"], H, axis=1), "v": np.repeat(written["v_cache"], H, axis=1)}
for name, window in {"cached": 0, "cached-window": 3}.items():
    out = attend(merged, where(lambda b, h, i, j: j <= x["position"][b] + i and (window == 0 or j > x["position"][b] + i - window)))
    case(name, x, {"out": out.reshape(B, 2, H, 2, V), **written}, window=window)


def layer(x, source, memory, visible=lambda b, h, i, j: True):
    parts = {n: by_heads(m, x["w" + n], x.get("b" + n)) for n, m in (("q", source), ("k", memory), ("v", memory))}
    out = np.einsum("bhtd,mhd->btm", attend(parts, where(visible)), x["wo"].astype(float))
    return out + x["bo"] if "bo" in x else out


weights = {"wq": normal(H, D, 6, scale=0.5), "wk": normal(H, D, 6, scale=0.5), "wv": normal(H, V, 6, scale=0.5), "wo": normal(6, H, V, scale=0.5)}
biases = {"bq": normal(H, D), "bk": normal(H, D), "bv": normal(H, V), "bo": normal(6)}
x = {"x": normal(B, Q, 6), **weights}
case("multi_head", x, layer(x, x["x"], x["x"]))
x = {"x": normal(B, Q, 6), **weights, **biases, "lengths": np.array([4, 2])}
case("multi_head-lengths", x, layer(x, x["x"], x["x"], lambda b, h, i, j: j < x["lengths"][b]), biases=True, lengths=True)
x = {"x": normal(B, Q, 6), "memory": normal(B, K, 6), **weights, **biases}
case("cross", x, layer(x, x["x"], x["memory"]), biases=True)
x = {"x": normal(Q, 6), "wq": normal(D, 6, scale=0.5), "wk": normal(D, 6, scale=0.5), "wv": normal(V, 6, scale=0.5)}
q, k, v = (x["x"].astype(float) @ x[n].T.astype(float) for n in ("wq", "wk", "wv"))
case("single_head", x, softmax(q @ k.T) @ v)
x = {"tokens": integers(0, 9, B, Q), "embedding": normal(9, 6), **weights}
embedded = x["embedding"][x["tokens"]].astype(float)
angles = np.arange(Q)[:, None] * 10000.0 ** (-(np.arange(6) // 2 * 2) / 6)
placed = embedded + np.where(np.arange(6) % 2 == 0, np.sin(angles), np.cos(angles))
case("embedded", x, embedded + layer(x, placed, placed))
x = {"partial": normal(2, B, H, Q, V), "partial_lse": normal(2, B, H, Q)}
shares = np.exp(x["partial_lse"].astype(float))
merged = np.einsum("pbhid,pbhi->bhid", x["partial"].astype(float), shares / shares.sum(axis=0))
case("merge_partials", x, {"out": merged, "lse": np.log(shares.sum(axis=0))})


def recurrent(x, rule):
    """Token by token, by ONNX's LinearAttention; the state is [depth, value_depth]."""
    q, k, v = (x[n].astype(float) for n in "qkv")
    out, state = np.zeros(v.shape), np.zeros((*k.shape[:2], k.shape[-1], v.shape[-1]))
    for t in range(k.shape[2]):
        if rule.startswith("gated"):
            state = state * np.exp(x["log_decay"].astype(float))[:, :, t, None, None]
        written = v[:, :, t]
        if rule.endswith("delta"):
            written = x["beta"].astype(float)[:, :, t, None] * (written - np.einsum("bhdv,bhd->bhv", state, k[:, :, t]))
        state = state + np.einsum("bhd,bhv->bhdv", k[:, :, t], written)
        out[:, :, t] = np.einsum("bhdv,bhd->bhv", state, q[:, :, t]) / math.sqrt(D)
    return out


for rule in ("linear", "gated", "delta", "gated_delta"):
    x = {"q": normal(B, H, 9, D), "k": normal(B, H, 9, D, scale=0.5), "v": normal(B, H, 9, V)}
    if rule.startswith("gated"):
        x["log_decay"] = -np.abs(normal(B, H, 9))
    if rule.endswith("delta"):
        x["beta"] = random.random((B, H, 9)).astype(np.float32)
    case(f"recurrent_attention-{rule}", x, recurrent(x, rule), rule=rule)
