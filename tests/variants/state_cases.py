"""Cases of states whose rules are no one's delta rule, by the formulas of their papers."""

import numpy as np

from reference_formulas import B, case, D, H, normal, random, V

T, C, N = 9, 5, 4  # tokens, channels, states


def rwkv7(x):
    """S_t = S_(t-1) (diag(w_t) - kappa_t^T (a_t * kappa_t)) + v_t^T k_t and y_t = S_t r_t^T of row vectors: the state is [value_depth, depth]."""
    x = {name: value.astype(float) for name, value in x.items()}
    out = np.zeros((B, H, T, V))
    last = np.zeros((B, H, D, V))
    for b, h in np.ndindex(B, H):
        state = x["past_state"][b, h].T if "past_state" in x else np.zeros((V, D))
        for t in range(T):
            kappa, rate = x["removal"][b, h, t], x["rate"][b, h, t]
            state = state @ (np.diag(np.exp(x["log_decay"][b, h, t])) - np.outer(kappa, rate * kappa)) + np.outer(x["v"][b, h, t], x["k"][b, h, t])
            out[b, h, t] = state @ x["q"][b, h, t]
        last[b, h] = state.T
    return {"out": out, "present_state": last} if "past_state" in x else out


def mamba(x):
    """h[c, n] = exp(delta[c] A[c, n]) h[c, n] + delta[c] B[n] x[c] and y[c] = sum of C[n] h[c, n] + D[c] x[c], gated by z / (1 + e^-z)."""
    x = {name: value.astype(float) for name, value in x.items()}
    delta, a = np.log1p(np.exp(x["step"])), x["a"].T
    out, last = np.zeros((B, T, C)), np.zeros((B, N, C))
    for b in range(B):
        h = x["past_state"][b].T if "past_state" in x else np.zeros((C, N))
        for t in range(T):
            h = np.exp(delta[b, t][:, None] * a) * h + delta[b, t][:, None] * x["b"][b, t][None] * x["x"][b, t][:, None]
            out[b, t] = h @ x["c"][b, t] + x["skip"] * x["x"][b, t]
        last[b] = h.T
    if "z" in x:
        out *= x["z"] / (1 + np.exp(-x["z"]))
    return {"out": out, "present_state": last} if "past_state" in x else out


for name, state in {"generalized_delta": False, "generalized_delta-state": True}.items():
    x = {"q": normal(B, H, T, D), "k": normal(B, H, T, D, scale=0.5), "v": normal(B, H, T, V), "log_decay": -0.6 * random.random((B, H, T, D)).astype(np.float32)}
    removal = normal(B, H, T, D)
    x["removal"] = removal / np.linalg.norm(removal, axis=-1, keepdims=True)
    x["rate"] = random.random((B, H, T, D)).astype(np.float32)
    if state:
        x["past_state"] = normal(B, H, D, V)
    case(name, x, rwkv7(x), **({"state": True} if state else {}))
for name, more in {"selective_scan": {}, "selective_scan-gate": {"gate": True, "state": True}}.items():
    x = {"x": normal(B, T, C), "step": normal(B, T, C), "a": -np.exp(normal(N, C)), "b": normal(B, T, N), "c": normal(B, T, N), "skip": normal(C)}
    if more:
        x |= {"z": normal(B, T, C), "past_state": normal(B, N, C)}
    case(name, x, mamba(x), **more)
