"""Writes torch/: what PyTorch computes in double, on the CPU, of what it has itself: attention, masks and scores of FlexAttention, layers.

Cases as make_reference.py has them. Tests do not need PyTorch; this was run with 2.15:
    python -B tests/variants/make_torch_reference.py tests/variants/torch
"""

import math
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from case_files import Cases

warnings.filterwarnings("ignore")  # FlexAttention not compiled, which is what is wanted here
torch.manual_seed(0)
reference = Cases(11)
case, normal, integers, booleans = reference.case, reference.normal, reference.integers, reference.booleans
B, H, Q, K, D, V = 2, 2, 5, 7, 4, 3  # batch, heads, queries, keys, depth, value_depth
MODEL, HIDDEN = H * D, 12


def tensor(x):
    """In double; integers and truth values as they are."""
    return torch.from_numpy(x).double() if x.dtype == np.float32 else torch.from_numpy(x)


def array(x):
    return x.detach().numpy()


def qkv(queries=Q, keys=K, **more):
    return {"q": normal(B, H, queries, D), "k": normal(B, H, keys, D), "v": normal(B, H, keys, V), **more}


def of(x, names="qkv"):
    return [tensor(x[n]) for n in names]


# scaled_dot_product_attention

attention = functional.scaled_dot_product_attention
x = qkv()
case("scaled_dot_product", x, array(attention(*of(x))))
case("scaled_dot_product-unscaled", x, array(attention(*of(x), scale=1.0)), scaled=False)
for queries, keys in ((5, 7), (7, 5)):
    x = qkv(queries, keys)
    case(f"causal-{queries}x{keys}", x, array(attention(*of(x), is_causal=True)))
mask = booleans(B, Q, K)
mask[1, 2] = False  # a query that sees nothing
x = qkv(mask=mask)
case("masked", x, array(attention(*of(x), attn_mask=tensor(mask)[:, None])))
case("scaled_dot_product-mask", x, array(attention(*of(x), attn_mask=tensor(mask)[:, None])), mask=True)
x = qkv(mask=booleans(B, H, Q, K))
case("masked-heads", x, array(attention(*of(x), attn_mask=tensor(x["mask"]))), heads=True)
x = qkv(mask=booleans(B, K))
case("masked-padding", x, array(attention(*of(x), attn_mask=tensor(x["mask"])[:, None, None])), queries=False)
x = qkv(bias=normal(H, Q, K))
case("biased", x, array(attention(*of(x), attn_mask=tensor(x["bias"])[None])))
x = qkv(lengths=np.array([4, 0]))
case("padded", x, array(attention(*of(x), attn_mask=(torch.arange(K) < tensor(x["lengths"])[:, None])[:, None, None])))
x = {"q": normal(B, H, 3, Q, D), "k": normal(B, H, K, D), "v": normal(B, H, K, V)}
grouped = attention(tensor(x["q"]).reshape(B, 3 * H, Q, D), *of(x, "kv"), enable_gqa=True)
case("grouped_query", x, array(grouped.reshape(B, H, 3, Q, V)))
x = {"qkv": normal(B, Q, 3, H, D)}
case("packed_qkv", x, array(attention(*tensor(x["qkv"]).permute(2, 0, 3, 1, 4), is_causal=True).transpose(1, 2)), causal=True)
x = qkv(wq=normal(D), wk=normal(D))
normed = lambda name: functional.rms_norm(tensor(x[name]), (D,), tensor(x["w" + name]), 0.01)
case("qk_norm", x, array(attention(normed("q"), normed("k"), tensor(x["v"]))), epsilon=0.01)
x = qkv(tau=np.array([1.5, 4], dtype=np.float32))
direction = lambda name: functional.normalize(tensor(x[name]), dim=-1)
case("cosine", x, array(attention(direction("q") * tensor(x["tau"])[:, None, None], direction("k"), tensor(x["v"]), scale=1.0)))

# FlexAttention, not compiled: score_mod changes scores, mask_mod says what is visible, as its documentation and attention-gym write them


def flex(x, visible=None, score=None, lse=False):
    queries, keys = x["q"].shape[2], x["k"].shape[2]
    blocks = None if visible is None else create_block_mask(visible, B, H, queries, keys, device="cpu")
    result = flex_attention(*of(x), score_mod=score, block_mask=blocks, return_lse=lse)
    return {"out": array(result[0]), "lse": array(result[1])} if lse else array(result)


def causal(b, h, i, j):
    return i >= j


x = qkv()
case("scaled_dot_product-lse", x, flex(x, lse=True), lse=True)
case("soft_cap", x, flex(x, score=lambda s, b, h, i, j: 0.5 * torch.tanh(s / 0.5)), cap=0.5)
slope = lambda h: torch.exp2(-((h + 1) * 8.0 / H))
case("alibi", x, flex(x, score=lambda s, b, h, i, j: s + (j - i) * slope(h)))
case("alibi-causal", x, flex(x, causal, lambda s, b, h, i, j: s + (j - i) * slope(h)), causal=True)
x = qkv(bias=normal(7, H))
table = tensor(x["bias"])
case("relative_bias", x, flex(x, score=lambda s, b, h, i, j: s + table[(j - i).clamp(-3, 3) + 3, h]), distances="clipped", max_distance=3)
x = qkv(11, 11)
case("sliding_window", x, flex(x, lambda b, h, i, j: (i >= j) & (i - j <= 2)), window=3)
case("window", x, flex(x, lambda b, h, i, j: (i - j <= 2) & (j - i <= 1)), left=2, right=1)
case("window-dilated", x, flex(x, lambda b, h, i, j: ((i - j).abs() <= 6) & ((i - j).abs() % 3 == 0)), left=6, right=6, dilation=3)
case("sinks", x, flex(x, lambda b, h, i, j: ((j < 2) | (i - j < 3)) & (i >= j)), sinks=2, window=3)
case("strided", x, flex(x, lambda b, h, i, j: (i >= j) & ((i - j < 4) | ((i - j) % 4 == 0))), stride=4)
case("chunked", x, flex(x, lambda b, h, i, j: (i // 4 == j // 4) & (i >= j)), chunk=4, causal=True)
x = qkv()
case("causal_offset", x, flex(x, lambda b, h, i, j: j <= i + (K - Q)))
x = qkv(prefix=np.array([3, 0]))
prefix = tensor(x["prefix"])
case("prefix_lm", x, flex(x, lambda b, h, i, j: (j < prefix[b]) | (i >= j)))
x = qkv(9, 9, ids=np.array([[0, 0, 1, 1, 1, 2, 2, 2, 2], [0, 0, 0, 0, 1, 1, 2, 3, 3]]))
ids = tensor(x["ids"])
case("document", x, flex(x, lambda b, h, i, j: (ids[b, i] == ids[b, j]) & (i >= j)), causal=True)
x = qkv(9, 9, **{"global": booleans(B, 9, share=0.25)})
chosen = tensor(x["global"])
case("global_window", x, flex(x, lambda b, h, i, j: ((i - j).abs() <= 1) | chosen[b, i] | chosen[b, j]), window=1)
x = qkv(20, 20)  # a canvas of 5 x 4


def neighbourhood(b, h, i, j):
    centre_x, centre_y = (i % 5).clamp(1, 3), (i // 5).clamp(1, 2)
    return ((centre_x - j % 5).abs() <= 1) & ((centre_y - j // 5).abs() <= 1)


case("neighbourhood", x, flex(x, neighbourhood), width=5, kernel_width=3, kernel_height=3)
x = qkv(4, 7, ancestors=np.repeat(np.array([[[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]], dtype=bool), B, axis=0))
tree = tensor(x["ancestors"])
case("tree", x, flex(x, lambda b, h, i, j: (j < 3) | tree[b, i, (j - 3).clamp(0)]))

# nn.MultiheadAttention: the weights one by one, as multi_head and cross take them, and packed, as they lie in PyTorch


def weights_of(module):
    """A module's weights: what f32 holds, small and different; then, by the names of its state_dict, with an underscore for each dot."""
    named = {}
    for name, parameter in module.named_parameters():
        near = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        named[name.replace(".", "_")] = (near + normal(*parameter.shape, scale=0.4)).astype(np.float32)
        parameter.data = tensor(named[name.replace(".", "_")])
    return named


def packed(weights, prefix=""):
    """The same memory with the dims of Attune."""
    shapes = {"in_proj_weight": (3, H, D, MODEL), "in_proj_bias": (3, H, D), "out_proj_weight": (MODEL, H, D), "q_proj_weight": (H, D, -1),
              "k_proj_weight": (H, D, -1), "v_proj_weight": (H, D, -1)}
    shapes = {prefix + name: shape for name, shape in shapes.items()}
    return {name: x.reshape(shapes.get(name, x.shape)) for name, x in weights.items()}


def one_by_one(weights, in_out=False):
    """wq, wk, wv, wo and their biases: (out x in), or (in x out)."""
    parts = {"w" + n: w.reshape(H, D, MODEL) for n, w in zip("qkv", np.split(weights["in_proj_weight"], 3))}
    parts |= {"b" + n: b.reshape(H, D) for n, b in zip("qkv", np.split(weights["in_proj_bias"], 3))}
    parts |= {"wo": weights["out_proj_weight"].reshape(MODEL, H, D), "bo": weights["out_proj_bias"]}
    if in_out:
        for name in ("wq", "wk", "wv"):
            parts[name] = np.ascontiguousarray(parts[name].transpose(2, 0, 1))
        parts["wo"] = np.ascontiguousarray(parts["wo"].transpose(1, 2, 0))
    return parts


def heads(**options):
    return nn.MultiheadAttention(MODEL, H, batch_first=options.pop("batch_first", True), **options).double().eval()


m = heads()
w = weights_of(m)
tokens, memory, values = normal(B, Q, MODEL), normal(B, K, MODEL), normal(B, K, MODEL)
t, s, u = tensor(tokens), tensor(memory), tensor(values)
out, p = m(t, t, t, average_attn_weights=False)
case("multi_head", {"x": tokens, **one_by_one(w)}, {"out": array(out), "weights": array(p)}, biases=True, weights=True)
case("multi_head-in_out", {"x": tokens, **one_by_one(w, in_out=True)}, array(t + out), biases=True, in_out=True, residual=True)
by_head = booleans(B, H, Q, Q)
by_head[..., 0] = True
out, _ = m(t, t, t, attn_mask=~tensor(by_head).reshape(B * H, Q, Q))
case("multi_head-head_mask", {"x": tokens, "head_mask": by_head, **one_by_one(w)}, array(out), biases=True, head_mask=True)
case("cross-values", {"x": tokens, "memory": memory, "values": values, **one_by_one(w)}, array(m(t, s, u)[0]), biases=True, values=True)
case("cross-in_out", {"x": tokens, "memory": memory, **one_by_one(w, in_out=True)}, array(m(t, s, s)[0]), biases=True, in_out=True)
heads_only = attention(*(functional.linear(y, *map(tensor, (weight, bias))).reshape(B, -1, H, D).transpose(1, 2) for y, weight, bias in
                         zip((t, t, t), np.split(w["in_proj_weight"], 3), np.split(w["in_proj_bias"], 3))))
bare = {name: x for name, x in one_by_one(w).items() if name not in ("wo", "bo")}
case("multi_head-unprojected", {"x": tokens, **bare}, array(heads_only.transpose(1, 2)), biases=True, projected=False)

out, p = m(t, t, t)
case("torch_multi_head", {"query": tokens, **packed(w)}, {"out": array(out), "weights": array(p)}, need_weights="averaged")
hides = ~booleans(Q, Q)
hides[:, 0] = False
padding = np.zeros((B, Q), dtype=bool)
padding[1, 3:] = True
out, p = m(t, t, t, attn_mask=tensor(hides), key_padding_mask=tensor(padding), average_attn_weights=False)
case("torch_multi_head-masks", {"query": tokens, "attn_mask": hides, "key_padding_mask": padding, **packed(w)},
     {"out": array(out), "weights": array(p)}, attn_mask="hides", key_padding_mask="hides", need_weights="by_head")
subsequent = nn.Transformer.generate_square_subsequent_mask(Q, dtype=torch.float64)
out, _ = m(t, t, t, attn_mask=subsequent, is_causal=True, need_weights=False)
case("torch_multi_head-causal", {"query": tokens, **packed(w)}, array(out), is_causal=True)
m = heads(bias=False, batch_first=False)
w = weights_of(m)
added, ignored = normal(B, H, Q, K), normal(B, K)
out, p = m(t.transpose(0, 1), s.transpose(0, 1), s.transpose(0, 1), attn_mask=tensor(added).reshape(B * H, Q, K), key_padding_mask=tensor(ignored))
x = {"query": tokens.transpose(1, 0, 2).copy(), "key": memory.transpose(1, 0, 2).copy(), "attn_mask": added, "key_padding_mask": ignored, **packed(w)}
case("torch_multi_head-two", x, {"out": array(out), "weights": array(p)}, sources="two", batch_first=False, bias=False, attn_mask="added",
     mask_by_head=True, key_padding_mask="added", need_weights="averaged")
m = heads(kdim=6, vdim=5)
w = weights_of(m)
key, value = normal(B, K, 6), normal(B, K, 5)
out, _ = m(t, tensor(key), tensor(value))
case("torch_multi_head-widths", {"query": tokens, "key": key, "value": value, **packed(w)}, array(out), sources="three", widths=True)
more = {"bias_kv": {"add_bias_kv": True}, "zero": {"add_zero_attn": True}, "both": {"add_bias_kv": True, "add_zero_attn": True}}
for name, options in more.items():
    m = heads(**options)
    w = {n: x.reshape(1, H, D) if n.startswith("bias_") else x for n, x in packed(weights_of(m)).items()}
    out, p = m(t, t, t, attn_mask=tensor(hides), average_attn_weights=False)
    case(f"torch_multi_head-{name}", {"query": tokens, "attn_mask": hides, **w}, {"out": array(out), "weights": array(p)},
         attn_mask="hides", need_weights="by_head", **options)

# Embeddings, their positions and a layer of attention, as Vaswani et al. have them

m = heads()
w = one_by_one(weights_of(m))
numbers = integers(0, 9, B, Q)
embedding, positions = nn.Embedding(9, MODEL).double(), normal(Q, MODEL)
x = {"tokens": numbers, "embedding": weights_of(embedding)["weight"], "positions": positions, **w}
placed = embedding(tensor(numbers)) * math.sqrt(MODEL) + tensor(positions)
case("embedded", x, array(placed + m(placed, placed, placed)[0]), positions="learned", biases=True, scaled=True, residual="placed")

# Layers of nn.Transformer, and the same with RMS norms and SwiGLU

for name, options, masks, said in (
        ("encoder_layer", {}, {}, {}),
        ("encoder_layer-pre", {"activation": "gelu", "norm_first": True, "layer_norm_eps": 0.01},
         {"src_mask": hides, "src_key_padding_mask": padding},
         {"activation": "gelu", "norm_first": True, "epsilon": 0.01, "src_mask": "hides", "key_padding_mask": "hides"}),
        ("encoder_layer-no_bias", {"bias": False}, {"src_mask": subsequent}, {"biases": False, "causal": True})):
    m = nn.TransformerEncoderLayer(MODEL, H, HIDDEN, dropout=0, batch_first=True, **options).double().eval()
    w = packed(weights_of(m), "self_attn_")
    masks = {n: x if isinstance(x, torch.Tensor) else tensor(x) for n, x in masks.items()}
    inputs = {{"src_key_padding_mask": "key_padding_mask"}.get(n, n): array(x) for n, x in masks.items() if x is not subsequent}
    case(name, {"x": tokens, **inputs, **w}, array(m(t, **masks)), **said)

memory_padding = np.zeros((B, K), dtype=bool)
memory_padding[0, 4:] = True
for name, options, masks, said in (
        ("decoder_layer", {}, {}, {}),
        ("decoder_layer-pre", {"activation": "gelu", "norm_first": True, "layer_norm_eps": 0.01},
         {"memory_mask": normal(Q, K), "memory_key_padding_mask": memory_padding},
         {"activation": "gelu", "norm_first": True, "epsilon": 0.01, "memory_mask": "added", "memory_key_padding_mask": "hides"})):
    m = nn.TransformerDecoderLayer(MODEL, H, HIDDEN, dropout=0, batch_first=True, **options).double().eval()
    w = packed(packed(weights_of(m), "self_attn_"), "multihead_attn_")
    out = m(t, s, tgt_mask=subsequent, **{n: tensor(x) for n, x in masks.items()})
    case(name, {"x": tokens, "memory": memory, **masks, **w}, array(out), **said)


class GatedNetwork(nn.Module):
    """linear2(silu(gate x) * linear1 x)"""

    def __init__(self):
        super().__init__()
        self.gate, self.linear1, self.linear2 = nn.Linear(MODEL, HIDDEN), nn.Linear(MODEL, HIDDEN), nn.Linear(HIDDEN, MODEL)

    def forward(self, x):
        return self.linear2(functional.silu(self.gate(x)) * self.linear1(x))


class PreNormLayer(nn.Module):
    """x + attention(norm(x)), to a memory too if there is one, then with the network: RMS norms and SwiGLU, as language models have them."""

    def __init__(self, has_memory):
        super().__init__()
        self.self_attn, self.network = heads(), GatedNetwork()
        self.multihead_attn = heads() if has_memory else None
        self.norm1, self.norm2, self.norm3 = nn.RMSNorm(MODEL, 1e-5), nn.RMSNorm(MODEL, 1e-5), nn.RMSNorm(MODEL, 1e-5) if has_memory else None

    def forward(self, x, memory=None):
        n = self.norm1(x)
        x = x + self.self_attn(n, n, n, attn_mask=subsequent)[0]
        if memory is not None:
            x = x + self.multihead_attn(self.norm2(x), memory, memory)[0]
        return x + self.network((self.norm2 if memory is None else self.norm3)(x))


for name, sources in (("encoder_layer-gated", (t,)), ("decoder_layer-gated", (t, s))):
    m = PreNormLayer(len(sources) > 1).double().eval()
    w = {n.removeprefix("network_"): x for n, x in weights_of(m).items()}
    w = packed(packed(w, "self_attn_"), "multihead_attn_")
    given = {"x": tokens, "memory": memory} if len(sources) > 1 else {"x": tokens}
    said = {} if len(sources) > 1 else {"causal": True}
    case(name, {**given, **w}, array(m(*sources)), norm_first=True, norm="rms", activation="swiglu", **said)
for name, queries, keys, causal in (("attention_gradients", 5, 7, False), ("attention_gradients-causal", 7, 5, True)):
    x = qkv(queries, keys, d_out=normal(B, H, queries, V))
    given = [t.requires_grad_() for t in of(x)]
    attention(*given, is_causal=causal).backward(tensor(x["d_out"]))
    case(name, x, {f"d_{n}": array(t.grad) for n, t in zip("qkv", given)}, causal=causal)

if __name__ == "__main__":
    reference.write(pathlib.Path(sys.argv[1]))
    print(reference.summary())
