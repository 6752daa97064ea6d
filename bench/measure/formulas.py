"""What the variants are, in numpy: which pairs are visible, how scores change, what weights they become."""

import numpy


def t5_bucket(distance, buckets=32, last=128):
    """T5's bucket of j - i, both sides."""
    side, exact = buckets // 2, buckets // 4
    size = numpy.abs(distance)
    wide = exact + numpy.log(numpy.maximum(size, 1) / exact) / numpy.log(last / exact) * (side - exact)
    wide = numpy.floor(wide + 1e-9)  # bounds that are integers are meant exactly
    return numpy.where(size < exact, size, numpy.minimum(side - 1, wide)).astype("int64") + numpy.where(distance > 0, side, 0)


def bias_row(row, distance):
    """The row of relative_bias's table for j - i."""
    if row.parameters.get("distances") != "clipped":
        return t5_bucket(distance)
    last = row.parameters["max_distance"]
    return numpy.clip(distance, -last, last) + last


def alibi_slopes(heads):
    return 2.0 ** (-8 * numpy.arange(1, heads + 1) / heads)


def length(x):
    return numpy.sqrt((x * x).sum(-1, keepdims=True))


def rotated(x, positions, base=10000.0):
    """Halves of each row as pairs, turned as Rotary of bench/variants/rotary.h does."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * base ** (-numpy.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return numpy.concatenate([a * numpy.cos(angles) - b * numpy.sin(angles), b * numpy.cos(angles) + a * numpy.sin(angles)], -1)


def rms_normed(x, w):
    return w * x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def scores_of(row, inputs, q, k, i, j):
    """The scores [batch, heads, i, j] that the variant makes of q and k before its mask; i [queries, 1] and j [1, keys] are indices."""
    if row.kernel == "cosine":
        return inputs["tau"][:, None, None] * ((q / length(q)) @ (k / length(k)).swapaxes(-1, -2))
    if row.kernel == "general":
        return (q @ inputs["w"].astype("float64")) @ k.swapaxes(-1, -2)
    if row.kernel == "qk_norm":
        q, k = rms_normed(q, inputs["wq"]), rms_normed(k, inputs["wk"])
    if row.kernel == "Rotary":
        q, k = rotated(q, i[:, 0]), rotated(k, j[0])
    scores = q @ k.swapaxes(-1, -2)
    if row.kernel == "l2_distance":
        return scores - (q * q).sum(-1, keepdims=True) / 2 - (k * k).sum(-1)[..., None, :] / 2
    scores = scores / numpy.sqrt(q.shape[-1])
    if row.kernel == "alibi":
        slopes = inputs["slopes"].astype("float64") if row.parameters.get("slopes") else alibi_slopes(scores.shape[1])
        return scores + slopes[:, None, None] * (-abs(j - i) if row.parameters.get("symmetric") else j - i)
    if row.kernel == "soft_cap":
        return row.parameters["cap"] * numpy.tanh(scores / row.parameters["cap"])
    if row.kernel == "relative_bias":
        return scores + inputs["bias"].astype("float64")[bias_row(row, j - i)].transpose(2, 0, 1)
    if row.kernel == "biased":
        return scores * inputs["factors"][:, i[:, 0]] if row.parameters.get("multiplies") else scores + inputs["bias"][:, i[:, 0]]
    return scores


def near(row, i, j, canvas):
    """Pairs of neighbourhood: rows and columns of a canvas apart, the centre kept from its borders."""
    width, high = row.parameters["width"], canvas // row.parameters["width"]
    reach_x, reach_y = row.parameters["kernel_width"] // 2, row.parameters["kernel_height"] // 2
    centre_x, centre_y = numpy.clip(i % width, reach_x, width - 1 - reach_x), numpy.clip(i // width, reach_y, max(reach_y, high - 1 - reach_y))
    return (abs(j % width - centre_x) <= reach_x) & (abs(j // width - centre_y) <= reach_y)


def noisy_and_clean(row, i, j, length):
    """Pairs of block_diffusion: of 2 * length tokens the first half is noisy."""
    block, half = row.parameters["block"], length // 2
    own, of_key = (numpy.where(x < half, x, x - half) // block for x in (i, j))
    return numpy.where(i < half, numpy.where(j < half, of_key == own, of_key < own), (j >= half) & (of_key <= own))


MASKS = {
    "causal": lambda p, inputs, i, j: j <= i,
    "causal_offset": lambda p, inputs, i, j: j <= i + inputs["k"].shape[-2] - inputs["q"].shape[-2],
    "retention": lambda p, inputs, i, j: j <= i,
    "attention_gradients": lambda p, inputs, i, j: (j <= i) | (not p.get("causal")),
    "sliding_window": lambda p, inputs, i, j: (j <= i) & (i - j < p["window"]),
    "sinks": lambda p, inputs, i, j: (j <= i) & ((j < p["sinks"]) | (i - j < p["window"])),
    "window": lambda p, inputs, i, j: (i - j <= p["left"]) & (j - i <= p["right"]) & ((i - j) % p.get("dilation", 1) == 0),
    "strided": lambda p, inputs, i, j: (j <= i) & ((i - j < p["stride"]) | ((i - j) % p["stride"] == 0)),
    "chunked": lambda p, inputs, i, j: j // p["chunk"] <= i // p["chunk"] if p.get("before") else j // p["chunk"] == i // p["chunk"],
    "prefix_lm": lambda p, inputs, i, j: (j <= i) | (j < inputs["prefix"][0]),
    "document": lambda p, inputs, i, j: inputs["ids"][0][i] == inputs["ids"][0][j],
    "ragged": lambda p, inputs, i, j: numpy.searchsorted(inputs["offsets"], i, "right") == numpy.searchsorted(inputs["offsets"], j, "right"),
    "global_window": lambda p, inputs, i, j: (abs(i - j) <= p["window"]) | inputs["global"][0][i] | inputs["global"][0][j],
    "masked": lambda p, inputs, i, j: inputs["mask"][0][i, j],
    "padded": lambda p, inputs, i, j: (j < inputs["lengths"][0]) & (i >= 0),
    "tree": lambda p, inputs, i, j: tree(inputs["ancestors"][0], inputs["k"].shape[-2], i, j),
    "chosen_blocks": lambda p, inputs, i, j: (inputs["chosen"][0, 0][i // p["query_block"]] == (j // p["key_block"])[..., None]).any(-1),
    "chosen_keys": lambda p, inputs, i, j: (inputs["chosen"][0][i] == j[..., None]).any(-1),
}


def tree(ancestors, keys, i, j):
    guess = j - (keys - ancestors.shape[1])
    return (guess < 0) | ancestors[i, numpy.maximum(guess, 0)]


def visible(row, inputs, i, j):
    """Which of the pairs [i, j] are visible, or None if all are."""
    if row.kernel == "neighbourhood":
        return near(row, i, j, inputs["q"].shape[-2])
    if row.kernel == "block_diffusion":
        return noisy_and_clean(row, i, j, inputs["q"].shape[-2])
    return MASKS[row.kernel](row.parameters, inputs, i, j) if row.kernel in MASKS else None


def softmax(scores):
    high = scores.max(-1, keepdims=True)
    weights = numpy.exp(scores - numpy.where(numpy.isfinite(high), high, 0))
    total = weights.sum(-1, keepdims=True)
    return weights / numpy.where(total > 0, total, 1)


def weights_of(row, inputs, scores, i, j):
    """The weights that the variant makes of the scores, which are -inf where nothing is visible."""
    if row.kernel == "sigmoid_attention":
        return 1 / (1 + numpy.exp(-scores))
    if row.kernel == "relu_attention":
        return numpy.maximum(scores, 0) / scores.shape[-1]
    if row.kernel == "retention":
        decay = numpy.exp(numpy.minimum(inputs["log_gamma"].astype("float64"), 0)[:, None, None] * numpy.maximum(i - j, 0))
        return numpy.where(numpy.isfinite(scores), scores, 0) * decay
    if row.kernel == "sink_logit":
        sink = numpy.broadcast_to(inputs["sink"].astype("float64")[:, None], (*scores.shape[:-1], 1))
        return softmax(numpy.concatenate([scores, sink], -1))[..., :-1]
    return softmax(scores)
