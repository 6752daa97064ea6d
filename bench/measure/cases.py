"""What a row computes, in numpy: its inputs, the pairs that are visible, the work, and the result in double precision."""

import numpy

from formulas import alibi_slopes, scores_of, softmax, visible, weights_of
from own import from_bf16, to_bf16
from problem import Problem

LINEAR_STRUCTS = ("Linear", "LinearPanels")  # the structs of bench/variants/linear.h
SAMPLED_QUERIES = 16  # the reference is computed for so many queries of each head, spread over all


def visible_of_all(row, inputs):
    """Which of all pairs of a call's queries and keys are visible, or None if all are."""
    queries, keys = inputs["q"].shape[-2], inputs["k"].shape[-2]
    return visible(row, inputs, numpy.arange(queries)[:, None], numpy.arange(keys)[None, :])


def lengths_of(count, tokens):
    """So many lengths that are not the same, of `tokens` together."""
    bounds = numpy.round(numpy.linspace(0, 1, count + 1) ** 1.3 * tokens).astype("int64")
    return numpy.diff(bounds)


def given(row, name, extents, shape, random):
    """Integers and booleans of an input, by its name; None if none are known."""
    queries, keys = shape.get("queries", 1), shape.get("keys", 1)
    documents = max(1, min(12, queries))
    values = {
        "ids": lambda: numpy.arange(extents[-1]) * documents // max(1, extents[-1]),
        "prefix": lambda: min(1024, keys),
        "lengths": lambda: keys * 3 // 4 if row.kernel == "padded" else keys,
        "offsets": lambda: numpy.cumsum([0, *lengths_of(extents[0] - 1, queries)]),
        "position": lambda: keys - queries,
        "table": lambda: random.permutation(extents[-1]),
        "global": lambda: numpy.arange(extents[-1]) % 512 == 0,
        "mask": lambda: random.random(extents) < 0.7,
        # every guess has its parent among the two before it
        "ancestors": lambda: ancestors_of(extents[-2], extents[-1], random),
        "chosen": lambda: chosen_of(row, extents, shape, random),
    }
    return values[name]() if name in values else None


def ancestors_of(queries, guesses, random):
    seen = numpy.zeros((guesses, guesses), bool)
    for guess in range(guesses):
        if guess > 0:
            seen[guess] = seen[random.integers(max(0, guess - 2), guess)]
        seen[guess, guess] = True
    return seen[guesses - queries:]


def chosen_of(row, extents, shape, random):
    """Lists of keys, or of blocks of keys, each once."""
    count = shape["keys"] if row.kernel == "chosen_keys" else -(-shape["keys"] // row.parameters["key_block"])
    lists = numpy.stack([random.permutation(count)[:extents[-1]] for _ in range(extents[-2])])
    return numpy.sort(lists, -1)


def make_inputs(row, shape, manifest):
    """Random arrays for the tensors of the manifest, as the storage rounds them; weights so that sums stay about 1."""
    random = numpy.random.default_rng(1)
    inputs = {}
    for tensor in manifest["inputs"]:
        name, extents = tensor["name"], [shape[dim] for dim in tensor["dims"]]
        if tensor["type"] in ("f32", "bf16"):
            fan_in = {"w": "key_depth" if row.kernel == "general" else "model", "wq": "model", "wk": "model", "wv": "model", "wa": "hidden"}.get(name)
            fan_in = "key_depth" if name == "wk" and "key_depth" in shape else "depth" if name in ("wq", "wk") and "model" not in shape else fan_in
            size = shape["heads"] * shape["value_depth"] if name == "wo" else shape[fan_in] if fan_in else 1
            x = (random.standard_normal(extents) / numpy.sqrt(size)).astype("float32")
            if row.kernel == "recurrent_attention":
                x = of_state(name, x)
            if name == "slopes":
                x = alibi_slopes(extents[0]).astype("float32")
            inputs[name] = from_bf16(to_bf16(x)) if tensor["type"] == "bf16" else x
            continue
        values = given(row, name, extents, shape, random)
        if values is None:
            raise Problem(f"row '{row.name}': no inputs are known for '{name}', a {tensor['type']}")
        inputs[name] = numpy.broadcast_to(values, extents).astype({"i32": "int32", "i64": "int64", "boolean": "bool"}[tensor["type"]])
    return inputs


def of_state(name, x):
    """Standard normal numbers as a recurrence may have them: keys of length 1, decays around 0.93, beta between 0 and 1."""
    if name == "k":
        return x / numpy.linalg.norm(x, axis=-1, keepdims=True)
    return numpy.float32(-0.1) * abs(x) if name == "log_decay" else numpy.float32(1) / (1 + numpy.exp(-x)) if name == "beta" else x


def has_delta(row):
    return row.parameters.get("rule", "gated_delta") in ("delta", "gated_delta")


def recurrence(row, inputs, at):
    """The result of recurrent_attention for the tokens `at`, in double."""
    q, k, v = (inputs[n].astype("float64") for n in "qkv")
    state, wanted = numpy.zeros((*k.shape[:2], k.shape[3], v.shape[3])), []
    for t in range(k.shape[2]):
        if "log_decay" in inputs:
            decay = numpy.exp(inputs["log_decay"][:, :, t].astype("float64"))
            state = state * (decay[..., None] if row.parameters.get("channel_decay") else decay[..., None, None])
        written = v[:, :, t]
        if has_delta(row):
            written = inputs["beta"][:, :, t, None].astype("float64") * (written - numpy.einsum("bhdc,bhd->bhc", state, k[:, :, t]))
        state = state + k[:, :, t, :, None] * written[:, :, None]
        if t in at:
            wanted.append(numpy.einsum("bhdc,bhd->bhc", state, q[:, :, t]) / numpy.sqrt(q.shape[-1]))
    return numpy.stack(wanted, 2)


def sampled(queries):
    return numpy.unique(numpy.linspace(0, queries - 1, SAMPLED_QUERIES).astype("int64"))


def by_head(row, inputs):
    """q, k and v as [batch, heads, queries or keys, ..], whatever the variant takes."""
    if row.kernel == "ragged":
        return [inputs[n].swapaxes(0, 1)[None] for n in "qkv"]
    if row.kernel == "paged":
        pages = [inputs[f"{n}_pages"][inputs["table"]] for n in "kv"]  # [batch, slots, page, heads, ..]
        if row.parameters.get("layout") == "hnd":
            pages = [x.swapaxes(2, 3) for x in pages]
        k, v = (numpy.moveaxis(x.reshape(x.shape[0], -1, *x.shape[3:]), 1, 2) for x in pages)
    elif row.kernel == "cached":
        k, v = (inputs[f"{n}_cache"].copy() for n in "kv")
        for n, cache in (("k", k), ("v", v)):
            cache[:, :, inputs["position"][0]:][:, :, :inputs[n].shape[2]] = inputs[n]
    else:
        k, v = inputs["k"], inputs["v"]
    q = inputs["q"]
    if q.ndim == 5:  # its query heads one behind the other
        q = q.reshape(q.shape[0], -1, *q.shape[3:])
        k, v = (x.repeat(q.shape[1] // x.shape[1], 1) for x in (k, v))
    return q, k, v


def attention(row, inputs, q, k, v, at):
    """The result for the queries `at` of q [batch, heads, queries, depth], in double; and what a rounding of scores may cost."""
    q, k, v = q[:, :, at].astype("float64"), k.astype("float64"), v.astype("float64")
    i, j = at[:, None], numpy.arange(k.shape[2])[None, :]
    scores = scores_of(row, inputs, q, k, i, j)
    largest = abs(scores).max()
    seen = visible(row, inputs, i, j)
    if seen is not None:
        scores = numpy.where(seen, scores, -numpy.inf)
    weights = weights_of(row, inputs, scores, i, j)
    if row.kernel == "differential":
        other_q, other_k = inputs["other_q"][:, :, at].astype("float64"), inputs["other_k"].astype("float64")
        weights = weights - inputs["lambda"][:, None, None] * softmax(other_q @ other_k.swapaxes(-1, -2) / numpy.sqrt(q.shape[-1]))
    # a rounding of a score costs a weight's share of the row's sum, which softmax makes 1
    total = max(1, abs(weights).sum(-1).max())
    return weights @ v, largest * abs(v).max() * total, abs(v).max() * total


def gradient(row, inputs, at):
    """d_q of the queries `at`, in double; and what a rounding of scores may cost."""
    q, k, v, d_out = (inputs[n].astype("float64") for n in ("q", "k", "v", "d_out"))
    scores = q[:, :, at] @ k.swapaxes(-1, -2) / numpy.sqrt(q.shape[-1])
    weights = softmax(numpy.where(visible(row, inputs, at[:, None], numpy.arange(k.shape[2])[None, :]), scores, -numpy.inf))
    d_weights = d_out[:, :, at] @ v.swapaxes(-1, -2)
    d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdims=True))
    return d_scores @ k / numpy.sqrt(q.shape[-1]), abs(scores).max() * abs(d_weights).max() * abs(k).max()


def layer_weights(row, inputs):
    """wq, wk, wv [heads, depth, model], wo [model, heads, depth] and bo [model] of a layer, also where its kernel takes them in panels."""
    weights = {name: inputs[name] for name in ("wq", "wk", "wv", "wo", "bo")}
    if not row.parameters.get("panels"):
        return weights
    panels, heads, depth, column = weights["wo"].shape
    turned = {name: numpy.ascontiguousarray(weights[name].swapaxes(1, 2)) for name in ("wq", "wk", "wv")}
    return turned | {"wo": weights["wo"].transpose(0, 3, 1, 2).reshape(panels * column, heads, depth), "bo": weights["bo"].reshape(-1)}


def linear_weights(row, inputs):
    """w [hidden, model], also where the kernel takes it in panels."""
    w = inputs["w"]
    return numpy.ascontiguousarray(w.swapaxes(1, 2)).reshape(-1, w.shape[1]) if row.kernel == "LinearPanels" else w


def multi_head(row, inputs, at):
    x, w = inputs["x"].astype("float64"), layer_weights(row, inputs)
    q, k, v = (numpy.einsum("btm,hdm->bhtd", x, w[f"w{n}"]) + inputs[f"b{n}"][None, :, None] for n in "qkv")
    q = q[:, :, at]
    weights = softmax(q @ k.swapaxes(-1, -2) / numpy.sqrt(q.shape[-1]))
    return numpy.einsum("bhtd,mhd->btm", weights @ v, w["wo"]) + w["bo"]


def additive(inputs, at):
    q, k, v, wq, wk, wa = (inputs[n].astype("float64") for n in ("q", "k", "v", "wq", "wk", "wa"))
    hidden = numpy.tanh((q[:, at] @ wq.T)[:, :, None] + (k @ wk.T)[:, None])
    return softmax(hidden @ wa) @ v


def difference(row, inputs, result):
    """The largest difference of a result from the reference on the sampled queries, and what is allowed. The result has the shape of
    the kernel's output."""
    eps = 2.0**-8 if row.is_bf16 else 2.0**-24
    if row.kernel in LINEAR_STRUCTS:
        at = sampled(inputs["x"].shape[0])
        wanted, got = inputs["x"][at].astype("float64") @ linear_weights(row, inputs).T.astype("float64"), result[at]
        return abs(got.reshape(wanted.shape) - wanted).max(), 1e-5 + 4 * inputs["x"].shape[1] ** 0.5 * eps * abs(wanted).max()
    if row.kernel in ("multi_head", "additive"):
        at = sampled(result.shape[1])
        wanted = multi_head(row, inputs, at) if row.kernel == "multi_head" else additive(inputs, at)
        return abs(result[:, at].reshape(wanted.shape) - wanted).max(), 1e-5 + 64 * eps * max(1, abs(wanted).max())
    if row.kernel == "recurrent_attention":
        at = sampled(inputs["q"].shape[2])
        wanted = recurrence(row, inputs, at)
        return abs(result[:, :, at] - wanted).max(), 1e-5 + 4 * inputs["k"].shape[2] ** 0.5 * eps * max(1, abs(wanted).max())
    if row.kernel == "attention_gradients":
        at = sampled(inputs["q"].shape[2])
        wanted, rounding = gradient(row, inputs, at)
        return abs(result[:, :, at] - wanted).max(), 1e-5 + 8 * 2.0**-24 * rounding
    q, k, v = by_head(row, inputs)
    result = result.swapaxes(0, 1)[None] if row.kernel == "ragged" else result.reshape(q.shape[:-1] + v.shape[-1:])
    at = sampled(q.shape[2])
    wanted, score_rounding, largest_value = attention(row, inputs, q, k, v, at)
    allowed = 1e-5 + 4 * 2.0**-24 * score_rounding + (4 * eps * largest_value if row.is_bf16 else 0)
    return abs(result[:, :, at] - wanted).max(), allowed


def check(row, inputs, who, result):
    """A result that is wrong ends the program."""
    apart, allowed = difference(row, inputs, result)
    if not apart <= allowed:  # NaN too
        raise Problem(f"row '{row.name}': the result of {who} differs from the reference by {apart:.2e}; {allowed:.2e} is allowed")


def queries_and_keys(shape):
    """Self-attention has no dim of keys."""
    return shape["queries"], shape.get("keys", shape["queries"])


def pairs(row, inputs, shape):
    """The visible pairs of one head; of a recurrence its tokens."""
    if row.kernel == "recurrent_attention":
        return shape["tokens"]
    queries, keys = queries_and_keys(shape)
    if row.kernel == "chosen_keys":
        return queries * shape["choices"]
    j, count = numpy.arange(keys)[None, :], 0
    if visible(row, inputs, numpy.arange(1)[:, None], j) is None:
        return queries * keys
    for first in range(0, queries, 512):
        count += int(visible(row, inputs, numpy.arange(first, min(first + 512, queries))[:, None], j).sum())
    return count


def visited_pairs(row, inputs, shape, group, edge):
    """The pairs of one head that a kernel computes: all of a block of `group` queries and `edge` keys in which one is visible."""
    queries, keys = queries_and_keys(shape)
    j, count, at_once = numpy.arange(keys)[None, :], 0, 64 * group
    for first in range(0, queries, at_once):
        seen = visible(row, inputs, numpy.arange(first, min(first + at_once, queries))[:, None], j)
        padded = numpy.pad(seen, [(0, -len(seen) % group), (0, -keys % edge)])
        count += int(padded.reshape(-1, group, padded.shape[1] // edge, edge).any((1, 3)).sum())
    return count * group * edge


def work(row, inputs, shape):
    """What one call counts: floating-point operations of visible pairs, bytes of keys and values, or 0 if only time counts."""
    if row.counts == "time":
        return 0
    if row.counts == "bytes":
        suffix = {"paged": "_pages", "cached": "_cache"}.get(row.kernel, "")
        return sum(inputs[n + suffix].size * (2 if row.type != "f32" else 4) for n in "kv")
    if row.kernel in LINEAR_STRUCTS:
        hidden = shape["hidden"] if row.kernel == "Linear" else shape["panels"] * shape["column"]
        return 2 * shape["rows"] * hidden * shape["model"]
    if row.kernel == "recurrent_attention":  # what going token by token takes
        return 2 * (3 if has_delta(row) else 2) * shape["batch"] * shape["heads"] * shape["tokens"] * shape["depth"] * shape["value_depth"]
    both = 2 * (shape["depth"] + shape["value_depth"]) * shape.get("batch", 1) * shape["heads"]
    if row.kernel == "multi_head":
        tokens = shape["tokens"]
        return both * tokens * tokens + 2 * both * tokens * shape["model"]
    if row.kernel == "attention_gradients":  # weights and their gradients again, and three products with these
        both = 2 * both + 2 * shape["depth"] * shape["batch"] * shape["heads"]
    softmaxes = 2 if row.kernel == "differential" else 1
    return both * softmaxes * shape.get("group", 1) * pairs(row, inputs, shape)
