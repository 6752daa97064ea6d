"""Formulas of attention in NumPy, in double and in plain loops, that know nothing of Attune; and the cases that are made of them.

One call of `case` is one case: a variant, its parameters, its inputs, its outputs. Inputs are numbers that f32 holds.
"""

import math

import numpy as np

from case_files import Cases

reference = Cases(7)
random, case, normal, integers, booleans = reference.random, reference.case, reference.normal, reference.integers, reference.booleans
B, H, Q, K, D, V = 2, 3, 5, 7, 4, 3  # batch, heads, queries, keys, depth, value_depth


def qkv(queries=Q, keys=K, batch=B, heads=H, **more):
    """q, k and v by heads, and what else a variant takes."""
    return {"q": normal(batch, heads, queries, D), "k": normal(batch, heads, keys, D), "v": normal(batch, heads, keys, V), **more}


def softmax(scores):
    """Over the last dim; a row of minus infinity gives zeros."""
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def products(q, k):
    return np.einsum("bhid,bhjd->bhij", q.astype(float), k.astype(float))


def scaled(x):
    return products(x["q"], x["k"]) / math.sqrt(x["q"].shape[-1])


def weighted(weights, v):
    return np.einsum("bhij,bhjd->bhid", weights, v.astype(float))


def changed(scores, change):
    """change(b, h, i, j, score) of every score."""
    result = np.empty_like(scores)
    for at in np.ndindex(*scores.shape):
        result[at] = change(*at, scores[at])
    return result


def attend(x, change=lambda b, h, i, j, s: s):
    """Scaled scores, changed, then softmax and values."""
    return weighted(softmax(changed(scaled(x), change)), x["v"])


def where(visible):
    """The change that hides the pairs for which visible(b, h, i, j) is false."""
    return lambda b, h, i, j, s: s if visible(b, h, i, j) else -np.inf


def by_heads(x, w, bias=None):
    y = np.einsum("btm,hdm->bhtd", x.astype(float), w.astype(float))
    return y if bias is None else y + bias.astype(float)[None, :, None, :]
