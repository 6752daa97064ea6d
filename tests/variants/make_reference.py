"""Writes data/: what variants give, computed in double by formulas that know nothing of Attune (plain loops over NumPy arrays).

One call of `case` is one case: a variant, its parameters, its inputs, its outputs. Inputs are numbers that f32 holds.
A new case at the end leaves the numbers of the others as they are. Run it to make data/ anew:
    /usr/bin/python3 -B tests/variants/make_reference.py tests/variants/data
"""

import math
import pathlib
import sys

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


# Masks

for queries, keys in ((5, 7), (7, 5)):
    x = qkv(queries, keys)
    case(f"causal-{queries}x{keys}", x, attend(x, where(lambda b, h, i, j: i >= j)))
    case(f"causal_offset-{queries}x{keys}", x, attend(x, where(lambda b, h, i, j: j <= i + keys - queries)))
    for left, right in ((2, 0), (-1, 1), (1, -1), (0, 3)):
        case(f"window-{queries}x{keys}_{left}_{right}".replace("-1", "all"), x,
             attend(x, where(lambda b, h, i, j: (left < 0 or i - left <= j) and (right < 0 or j <= i + right))), left=left, right=right)
    case(f"window-{queries}x{keys}_bottom_right", x,
         attend(x, where(lambda b, h, i, j: i + keys - queries - 2 <= j <= i + keys - queries + 1)), left=2, right=1, alignment="bottom_right")

x = qkv(11, 11)
case("sliding_window", x, attend(x, where(lambda b, h, i, j: j <= i and i - j < 3)), window=3)
case("window-dilated", x, attend(x, where(lambda b, h, i, j: abs(i - j) <= 6 and abs(i - j) % 3 == 0)), left=6, right=6, dilation=3)
case("sinks", x, attend(x, where(lambda b, h, i, j: (j < 2 or i - j < 3) and j <= i)), sinks=2, window=3)
case("strided", x, attend(x, where(lambda b, h, i, j: j <= i and (i - j < 4 or (i - j) % 4 == 0))), stride=4)
case("chunked", x, attend(x, where(lambda b, h, i, j: i // 4 == j // 4)), chunk=4)
case("chunked-causal", x, attend(x, where(lambda b, h, i, j: i // 4 == j // 4 and j <= i)), chunk=4, causal=True)
case("chunked-block_causal", x, attend(x, where(lambda b, h, i, j: i // 4 >= j // 4)), chunk=4, before=True)

x = qkv(12, 12)
block_of = lambda i: i % 6 // 2
case("block_diffusion", x, attend(x, where(lambda b, h, i, j: (block_of(i) == block_of(j) and (i < 6) == (j < 6)) or
                                          (block_of(i) > block_of(j) and i < 6 and j >= 6) or
                                          (block_of(i) >= block_of(j) and i >= 6 and j >= 6))), block=2)

x = qkv(prefix=np.array([3, 0]))
case("prefix_lm", x, attend(x, where(lambda b, h, i, j: j < x["prefix"][b] or i >= j)))
x = qkv(9, 9, **{"global": booleans(B, 9, share=0.25)})
seen = lambda b, i, j: abs(i - j) <= 1 or x["global"][b, i] or x["global"][b, j]
case("global_window", x, attend(x, where(lambda b, h, i, j: seen(b, i, j))), window=1)
case("global_window-causal", x, attend(x, where(lambda b, h, i, j: seen(b, i, j) and j <= i)), window=1, causal=True)

# A canvas of 5 x 4 (width 5), a neighbourhood of 3 x 3: the centre is clamped one row and one column from the border.
x = qkv(20, 20, batch=1, heads=1)
clamp = lambda c, reach, size: min(max(c, reach), size - 1 - reach)
case("neighbourhood", x, attend(x, where(lambda b, h, i, j: abs(clamp(i % 5, 1, 5) - j % 5) <= 1 and abs(clamp(i // 5, 1, 4) - j // 5) <= 1)),
     width=5, kernel_width=3, kernel_height=3)

x = qkv(9, 9, ids=np.array([[0, 0, 1, 1, 1, 2, 2, 2, 2], [4, 4, 4, 4, 0, 0, 3, 4, 0]]))
case("document", x, attend(x, where(lambda b, h, i, j: x["ids"][b, i] == x["ids"][b, j])))
case("document-causal", x, attend(x, where(lambda b, h, i, j: x["ids"][b, i] == x["ids"][b, j] and j <= i)), causal=True)
x = qkv(9, 9, ids=np.array([[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 2, 2, 2, 3, 3]]),
        prefixes=np.array([[0, 0, 0, 0, 0, 0, 0, 0, 0], [-1, -1, -1, -1, 0, 0, 0, 2, 2]]))
case("document-shared_prefix", x, attend(x, where(lambda b, h, i, j: (x["ids"][b, i] == x["ids"][b, j] and j <= i) or
                                                  (x["ids"][b, i] != x["prefixes"][b, i] == x["ids"][b, j]))), causal=True, prefixes=True)
x = qkv(9, 9, offsets=np.array([0, 2, 6, 9]))
start = lambda i: max(o for o in x["offsets"] if o <= i)
case("document-packed", x, attend(x, where(lambda b, h, i, j: start(i) <= j <= i)), causal=True, offsets=True)

# A tree of 4 guesses behind 3 keys: 0 is the root of 1 and 2, 3 is below 1.
parents = [-1, 0, 0, 1]
ancestors = np.zeros((B, 4, 4), dtype=bool)
for guess in range(4):
    at = guess
    while at >= 0:
        ancestors[:, guess, at] = True
        at = parents[at]
x = qkv(4, 7, ancestors=ancestors)
case("tree", x, attend(x, where(lambda b, h, i, j: j < 3 or x["ancestors"][b, i, j - 3])))

x = qkv(7, 9, chosen=np.array([[[[0, 2], [1, 1], [2, -1]]] * H, [[[2, 1], [-1, -1], [0, 1]]] * H]))
case("chosen_blocks", x, attend(x, where(lambda b, h, i, j: j // 4 in x["chosen"][b, h, i // 3])), query_block=3, key_block=4)
case("chosen_blocks-causal", x, attend(x, where(lambda b, h, i, j: j // 4 in x["chosen"][b, h, i // 3] and j <= i)),
     query_block=3, key_block=4, causal=True)
x = qkv(7, 9, chosen=booleans(B, H, 3, 3))
case("chosen_blocks-mask", x, attend(x, where(lambda b, h, i, j: x["chosen"][b, h, i // 3, j // 4])), query_block=3, key_block=4, is_mask=True)
x = {"q": normal(B, 2, H, Q, D), "k": normal(B, 2, K, D), "v": normal(B, 2, K, V),
     "chosen": np.array([[[0, 3, 5], [6, -1, -1], [2, 1, 0], [-1, -1, -1], [4, 6, 2]], [[1, 2, 9], [0, 1, 2], [3, 4, 5], [6, 5, 4], [-1, 0, 6]]])}
merged = {"q": x["q"].reshape(B, 2 * H, Q, D), "k": np.repeat(x["k"], H, axis=1), "v": np.repeat(x["v"], H, axis=1)}
case("chosen_keys", x, attend(merged, where(lambda b, h, i, j: j in x["chosen"][b, i])).reshape(B, 2, H, Q, V))

# What is chosen by scores. These numbers are drawn apart, so that those of the other cases stay as they are.

others, reference.random = reference.random, np.random.default_rng(26)


def greatest(scores, count):
    """Whether a score is one of the greatest of its row, of equals the first."""
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :count]
    chosen = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(chosen, order, True, axis=-1)
    return chosen


def top_keys(x, count, causal):
    scores = changed(scaled(x), where(lambda b, h, i, j: not causal or j <= i))
    return weighted(softmax(np.where(greatest(scores, count), scores, -np.inf)), x["v"])


def top_blocks(x, count, key_block, query_block, causal):
    queries, keys = x["q"].shape[2], x["k"].shape[2]
    seen = np.zeros((B, H, queries, keys), dtype=bool)
    for b, h, first in np.ndindex(B, H, -(-queries // query_block)):
        rows = range(first * query_block, min((first + 1) * query_block, queries))
        query = x["q"][b, h, list(rows)].astype(float).mean(axis=0)
        scores = []
        for block in range(-(-keys // key_block)):
            score = query @ x["k"][b, h, block * key_block:(block + 1) * key_block].astype(float).mean(axis=0)
            if causal and block * key_block > rows[-1]:
                score = -np.inf
            elif causal and (block + 1) * key_block > rows[0]:
                score = np.inf
            scores.append(score)
        for block in np.flatnonzero(greatest(np.array(scores), count)):
            seen[b, h, rows[0]:rows[-1] + 1, block * key_block:(block + 1) * key_block] = True
    return attend(x, where(lambda b, h, i, j: seen[b, h, i, j] and (not causal or j <= i)))


x = qkv(6, 11)
case("top_keys", x, top_keys(x, 3, False), count=3)
case("top_keys-causal", x, top_keys(x, 2, True), count=2, causal=True)
x = qkv(13, 14)
case("top_blocks", x, top_blocks(x, 2, 4, 1, True), count=2, key_block=4)
case("top_blocks-queries", x, top_blocks(x, 3, 3, 5, True), count=3, key_block=3, query_block=5)
case("top_blocks-all_keys", x, top_blocks(x, 2, 4, 3, False), count=2, key_block=4, query_block=3, causal=False)

x = {"q": normal(B, 2, H, Q, D), "k": normal(B, 2, K, D), "v": normal(B, 2, K, V),
     "index_q": normal(B, Q, 2, 3), "index_k": normal(B, K, 3), "index_weights": normal(B, Q, 2)}
merged = {"q": x["q"].reshape(B, 2 * H, Q, D), "k": np.repeat(x["k"], H, axis=1), "v": np.repeat(x["v"], H, axis=1)}
indexed = np.einsum("bin,binj->bij", x["index_weights"].astype(float),
                    np.maximum(np.einsum("bind,bjd->binj", x["index_q"].astype(float), x["index_k"].astype(float)), 0))
visible = np.arange(K)[None, :] <= np.arange(Q)[:, None]
for suffix, rule in (("", visible | True), ("_causal", visible)):
    seen = greatest(np.where(rule, indexed, -np.inf), 3) & rule
    case("chosen_keys-indexed" + suffix, x, attend(merged, where(lambda b, h, i, j: seen[b, i, j])).reshape(B, 2, H, Q, V),
         count=3, **({"causal": True} if suffix else {}))

# Scores beside the result, as qk_matmul_output_mode numbers them.
x = qkv()
capped = 0.5 * np.tanh(scaled(x) / 0.5)
hidden = changed(capped, where(lambda b, h, i, j: i >= j))
for name, scores in (("scaled", scaled(x)), ("capped", capped), ("masked", hidden), ("weights", softmax(hidden))):
    case("soft_cap-" + name, x, {"out": weighted(softmax(hidden), x["v"]), "scores": scores}, cap=0.5, causal=True, scores=name)
x = qkv(mask=booleans(B, Q, K))
hidden = changed(scaled(x), where(lambda b, h, i, j: x["mask"][b, i, j]))
case("masked-scores", x, {"out": weighted(softmax(hidden), x["v"]), "scores": hidden}, scores="masked")

reference.random = others

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

# Weights that no softmax makes, or that are changed behind it

sees = np.tril(np.ones((Q, K)))
sigmoid = lambda s: 1 / (1 + np.exp(-s))
x = qkv()
case("sigmoid_attention", x, weighted(sigmoid(scaled(x)), x["v"]))
case("sigmoid_attention-causal", x, weighted(sigmoid(scaled(x) + 0.5 - math.log(K)) * sees, x["v"]), bias=0.5, key_bias=True, causal=True)
case("relu_attention", x, weighted(np.maximum(scaled(x), 0) / K, x["v"]))
case("relu_attention-squared", x, weighted(np.maximum(scaled(x), 0) ** 2 / K * sees, x["v"]), squared=True, causal=True)
x = qkv(log_gamma=-np.abs(normal(H)))
decay = np.exp(x["log_gamma"].astype(float)[:, None, None] * (np.arange(Q)[:, None] - np.arange(K)[None])) * sees
case("retention", x, weighted(scaled(x) * decay, x["v"]))
total = np.maximum(np.abs((scaled(x) * decay).sum(axis=-1, keepdims=True)), 1)
case("retention-normalised", x, weighted(scaled(x) * decay / total, x["v"]), normalised=True)
x = qkv()
case("linear_attention", x, weighted(products(x["q"], x["k"]), x["v"]))
elu = lambda y: np.where(y > 0, y.astype(float) + 1, np.exp(np.minimum(y.astype(float), 0)))
linear = products(elu(x["q"]), elu(x["k"])) * sees
linear = linear / linear.sum(axis=-1, keepdims=True)
case("linear_attention-causal", x, weighted(linear, x["v"]), feature_map="elu_plus_1", normalised=True, causal=True)
x = qkv(sink=normal(H, 1))
exps = np.exp(scaled(x))
case("sink_logit", x, weighted(exps / (exps.sum(axis=-1, keepdims=True) + np.exp(x["sink"].astype(float))[None, :, :, None]), x["v"]))
x = qkv()
exps = np.exp(scaled(x)) * sees
case("sink_logit-off_by_one", x, weighted(exps / (exps.sum(axis=-1, keepdims=True) + 1), x["v"]), learned=False, causal=True)
x = qkv(other_q=normal(B, H, Q, D), other_k=normal(B, H, K, D), **{"lambda": normal(H)})
other = softmax(products(x["other_q"], x["other_k"]) / math.sqrt(D)) * x["lambda"].astype(float)[None, :, None, None]
case("differential", x, weighted(softmax(scaled(x)) - other, x["v"]))
x = qkv(prob_weights=normal(B, H, Q, K))
case("prob_weights", x, weighted(softmax(scaled(x)) * x["prob_weights"], x["v"]))

# Shapes and layers

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


# Caches and packed tensors


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


if __name__ == "__main__":
    reference.write(pathlib.Path(sys.argv[1]))
    print(reference.summary())
