"""Cases of what is chosen by scores, and of scores beside the result. Their numbers are drawn apart from those of the other cases."""

import numpy as np

from reference_formulas import attend, B, booleans, case, changed, D, H, K, normal, Q, qkv, reference, scaled, softmax, V, weighted, where

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
