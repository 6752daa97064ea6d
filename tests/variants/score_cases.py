"""Cases of masks from memory, and of how scores are made."""

import math

import numpy as np

from reference_formulas import attend, B, booleans, case, changed, D, H, K, normal, products, Q, qkv, scaled, softmax, V, weighted, where

x = qkv(lengths=np.array([4, 0]))
case("padded", x, attend(x, where(lambda b, h, i, j: j < x["lengths"][b])))
x = qkv(mask=booleans(B, Q, K))
case("masked", x, attend(x, where(lambda b, h, i, j: x["mask"][b, i, j])))
case("masked-hides", x, attend(x, where(lambda b, h, i, j: not x["mask"][b, i, j])), hides=True)
x = qkv(mask=booleans(B, H, Q, K))
case("masked-heads", x, attend(x, where(lambda b, h, i, j: x["mask"][b, h, i, j])), heads=True)
x = qkv(mask=booleans(B, K))
case("masked-padding", x, attend(x, where(lambda b, h, i, j: x["mask"][b, j])), queries=False)

# Scores

x = qkv()
case("scaled_dot_product", x, {"out": attend(x), "weights": softmax(scaled(x)), "lse": np.log(np.exp(scaled(x)).sum(axis=-1))},
     weights=True, lse=True)
case("scaled_dot_product-dot", x, weighted(softmax(products(x["q"], x["k"])), x["v"]), scaled=False)
case("soft_cap", x, attend(x, lambda b, h, i, j, s: 0.5 * math.tanh(s / 0.5)), cap=0.5)
slope = lambda h: 2 ** (-8 * (h + 1) / H)
case("alibi", x, attend(x, lambda b, h, i, j, s: s + (j - i) * slope(h)))
case("alibi-causal", x, attend(x, lambda b, h, i, j, s: s + (j - i) * slope(h) if j <= i else -np.inf), causal=True)
x = qkv(slopes=np.abs(normal(H)))
case("alibi-symmetric", x, attend(x, lambda b, h, i, j, s: s - float(x["slopes"][h]) * abs(i + K - Q - j)),
     slopes=True, symmetric=True, alignment="bottom_right")
for name, shape in {"heads": (1, H, Q, K), "pairs": (1, 1, Q, K), "all": (B, H, Q, K), "keys": (B, 1, 1, K)}.items():
    bias = normal(*shape)
    dims = {d: n > 1 for d, n in zip(("batch", "heads", "queries", "keys"), shape)}
    x = qkv(bias=bias.reshape([n for n in shape if n > 1]))
    case(f"biased-{name}", x, weighted(softmax(scaled(x) + bias), x["v"]), **dims)
    if name == "all":
        x = dict(x)
        x["factors"] = x.pop("bias")
        case("biased-factors", x, weighted(softmax(scaled(x) * bias), x["v"]), multiplies=True, **dims)


def t5_bucket(distance, buckets, last, causal):
    """Of j - i, as variants of T5 define it."""
    first, size = 0, max(-distance, 0)
    if not causal:
        buckets //= 2
        first, size = buckets if distance > 0 else 0, abs(distance)
    exact = buckets // 2
    if size < exact:
        return first + size
    return first + min(buckets - 1, exact + math.floor(math.log(size / exact) / math.log(last / exact) * (buckets - exact)))


x = qkv(25, 25, batch=1, heads=1, bias=normal(8, 1))
biased = changed(products(x["q"], x["k"]), lambda b, h, i, j, s: s + x["bias"][t5_bucket(j - i, 8, 20, False), h])
case("relative_bias-t5", x, weighted(softmax(biased), x["v"]), buckets=8, max_distance=20, scaled=False)
case("relative_bias-t5_causal", x, attend(x, lambda b, h, i, j, s: s + x["bias"][t5_bucket(j - i, 8, 20, True), h] if j <= i else -np.inf),
     buckets=8, max_distance=20, causal=True)
x = qkv(bias=normal(5, H))
case("relative_bias-clipped", x, attend(x, lambda b, h, i, j, s: s + x["bias"][min(max(j - i, -2), 2) + 2, h]), distances="clipped", max_distance=2)

x = {**qkv(), "k": normal(B, H, K, 6), "w": normal(H, D, 6, scale=0.5)}
case("general", x, weighted(softmax(np.einsum("bhid,hde,bhje->bhij", *(x[n].astype(float) for n in "qwk"))), x["v"]))
x = qkv(tau=np.array([1.5, 4, 10], dtype=np.float32))
lengths = np.einsum("bhi,bhj->bhij", *(np.sqrt((x[n].astype(float) ** 2).sum(axis=-1)) for n in "qk"))
case("cosine", x, weighted(softmax(products(x["q"], x["k"]) / lengths * x["tau"].astype(float)[None, :, None, None]), x["v"]))
x = qkv(wq=normal(D), wk=normal(D))
norm = lambda y, w: w.astype(float) * y / np.sqrt((y.astype(float) ** 2).mean(axis=-1, keepdims=True) + 0.01)
case("qk_norm", x, weighted(softmax(products(norm(x["q"], x["wq"]), norm(x["k"], x["wk"])) / math.sqrt(D)), x["v"]), epsilon=0.01)
x = qkv()
squares = ((x["q"].astype(float)[:, :, :, None, :] - x["k"].astype(float)[:, :, None, :, :]) ** 2).sum(axis=-1)
case("l2_distance", x, weighted(softmax(-squares / (2 * 0.75**2)), x["v"]), sigma=0.75)
case("l2_distance-scaled", x, weighted(softmax(-squares / (2 * math.sqrt(D))), x["v"]), scaled=True)

for biases in (False, True):
    x = {"q": normal(B, Q, D), "k": normal(B, K, 6), "v": normal(B, K, V), "wq": normal(8, D), "wk": normal(8, 6), "wa": normal(8)}
    hidden = np.einsum("bid,ud->biu", x["q"].astype(float), x["wq"])[:, :, None] + np.einsum("bjd,ud->bju", x["k"].astype(float), x["wk"])[:, None]
    if biases:
        x |= {"bq": normal(8), "bk": normal(8), "lengths": np.array([5, 2])}
        hidden = hidden + x["bq"] + x["bk"]
    scores = np.tanh(hidden) @ x["wa"].astype(float)
    if biases:
        for b in range(B):
            scores[b, :, x["lengths"][b]:] = -np.inf
    case("additive-biases" if biases else "additive", x, np.einsum("bij,bjd->bid", softmax(scores), x["v"]), biases=biases, lengths=biases)
