"""Cases of caches and packed tensors."""

import math

import numpy as np

from reference_formulas import attend, B, by_heads, case, changed, D, H, K, normal, products, Q, softmax, V, weighted, where


def grouped(x, k, v, visible):
    """Of q [batch, heads, group, queries, depth] and keys and values that a group shares."""
    batch, heads, group, queries, _ = x["q"].shape
    parts = {"q": x["q"].reshape(batch, heads * group, queries, -1), "k": np.repeat(k, group, axis=1), "v": np.repeat(v, group, axis=1)}
    return attend(parts, where(visible)).reshape(batch, heads, group, queries, -1)


x = {"q": normal(B, 2, H, 3, D), "k": normal(B, 2, 3, D), "v": normal(B, 2, 3, V), "past_k": normal(B, 2, 4, D), "past_v": normal(B, 2, 4, V)}
present = {f"present_{n}": np.concatenate([x[f"past_{n}"], x[n]], axis=2) for n in "kv"}
case("past_present", x, {"out": grouped(x, present["present_k"], present["present_v"], lambda b, h, i, j: j <= i + 4), **present})

# Pages of 4 rows; sequences of 7 and 2 keys, two queries at the end of each. Entries behind the last page are numbers of no page.
table = np.array([[3, 1], [0, 99]], dtype=np.int32)
x = {"q": normal(B, 2, H, 2, D), "k_pages": normal(5, 4, 2, D), "v_pages": normal(5, 4, 2, V), "table": table, "lengths": np.array([7, 2])}
rows = lambda pages: np.stack([np.concatenate([pages[n if n < 5 else 0] for n in slots]) for slots in table]).transpose(0, 2, 1, 3)
seen = lambda b, h, i, j: j <= x["lengths"][b] - 2 + i
case("paged", x, grouped(x, rows(x["k_pages"]), rows(x["v_pages"]), seen), page=4)
y = {**x, "k_pages": x["k_pages"].transpose(0, 2, 1, 3).copy(), "v_pages": x["v_pages"].transpose(0, 2, 1, 3).copy()}
case("paged-hnd", y, grouped(x, rows(x["k_pages"]), rows(x["v_pages"]), seen), page=4, layout="hnd")

# Sequences of 2, 4 and 1 tokens, and of 3, 4 and 2 keys where keys are others.
x = {"q": normal(7, H, D), "k": normal(7, H, D), "v": normal(7, H, V), "offsets": np.array([0, 2, 6, 7])}
sequence = lambda i, offsets: int(np.searchsorted(offsets, i, side="right"))
as_one = lambda x: {n: x[n].transpose(1, 0, 2)[None] for n in "qkv"}
own = lambda b, h, i, j: sequence(i, x["offsets"]) == sequence(j, x["offsets"])
case("ragged", x, attend(as_one(x), where(own))[0].transpose(1, 0, 2))
case("ragged-causal", x, attend(as_one(x), where(lambda b, h, i, j: own(b, h, i, j) and j <= i))[0].transpose(1, 0, 2), causal=True)
x = {"q": normal(7, H, D), "k": normal(9, H, D), "v": normal(9, H, V), "offsets": np.array([0, 2, 6, 7]), "key_offsets": np.array([0, 3, 7, 9])}


def at_end(b, h, i, j):
    n = sequence(i, x["offsets"])
    return n == sequence(j, x["key_offsets"]) and x["key_offsets"][n] - j >= x["offsets"][n] - i


case("ragged-cross", x, attend(as_one(x), where(at_end))[0].transpose(1, 0, 2), causal=True, cross=True)
x = {"qkv": normal(B, Q, 3, H, D)}
parts = {n: x["qkv"][:, :, at].transpose(0, 2, 1, 3) for at, n in enumerate("qkv")}
case("packed_qkv", x, attend(parts).transpose(0, 2, 1, 3))
case("packed_qkv-causal", x, attend(parts, where(lambda b, h, i, j: j <= i)).transpose(0, 2, 1, 3), causal=True)

x = {"q": normal(B, H, Q, D), "q_rope": normal(B, H, Q, 2), "latent": normal(B, K, 6), "k_rope": normal(B, K, 2), "wk": normal(H, D, 6, scale=0.5),
     "wv": normal(H, V, 6, scale=0.5)}
k, v = by_heads(x["latent"], x["wk"]), by_heads(x["latent"], x["wv"])
ropes = np.einsum("bhir,bjr->bhij", x["q_rope"].astype(float), x["k_rope"].astype(float))
scores = changed((products(x["q"], k) + ropes) / math.sqrt(D + 2), where(lambda b, h, i, j: j <= i + K - Q))
case("mla", x, weighted(softmax(scores), v))
case("mla-absorbed", x, weighted(softmax(scores), v), absorbed=True)
