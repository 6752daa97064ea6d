#!/usr/bin/env python3
"""Exports small models of attention with PyTorch, for the tests of `attune import`.

    pip install torch==2.15.0 onnx==1.23.2 onnxscript==0.7.2
    tests/onnx/export_models.py build/bin/attune tests/onnx/models

NAME.onnx; what the part's inputs are, NAME.IN.npy by their names in the graph; and NAME.out.npy, which is PyTorch's result, or, where a projection follows,
what ONNX's reference has before it. The tests need no PyTorch.
"""

import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx.reference import ReferenceEvaluator
from torch import nn

AUTO = torch.export.Dim.AUTO
normal = torch.randn


class PackedHeads(nn.Module):
    """nn.MultiheadAttention with padding: queries, keys and values are parts of one product."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True).eval()
        nn.init.normal_(self.attention.in_proj_bias)

    def forward(self, x, padding):
        return self.attention(x, x, x, key_padding_mask=padding, need_weights=False)[0]


class Masked(nn.Module):
    """scaled_dot_product_attention with a boolean mask, which the exporter guards against rows of NaN."""

    def forward(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Repeated(nn.Module):
    """Grouped queries as Llama has them: keys and values repeated, a causal mask of one arange."""

    def forward(self, q, k, v):
        batch, heads, tokens, depth = k.shape
        group = q.shape[1] // heads
        k, v = (x[:, :, None].expand(batch, heads, group, tokens, depth).reshape(batch, heads * group, tokens, depth) for x in (k, v))
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(depth)
        i = torch.arange(tokens)
        scores = scores.masked_fill(i[None, :] > i[:, None], float("-inf"))
        return torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(batch, tokens, -1)


class WithPast(nn.Module):
    """GPT-2 with a cache: keys joined with past ones, a mask cut from a buffer, hidden scores the lowest number."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("mask", torch.tril(torch.ones(16, 16, dtype=torch.bool)).view(1, 1, 16, 16))

    def forward(self, x, past_k, past_v):
        q, k, v = (t.view(x.shape[0], x.shape[1], 2, 4).permute(0, 2, 1, 3) for t in self.qkv(x).split(8, dim=2))
        k, v = torch.cat((past_k, k), -2), torch.cat((past_v, v), -2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(4)
        keys, queries = k.size(-2), q.size(-2)
        scores = torch.where(self.mask[:, :, keys - queries : keys, :keys], scores, torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype))
        return torch.matmul(scores.softmax(-1), v).permute(0, 2, 1, 3).contiguous().view(x.shape[0], x.shape[1], 8)


class Buckets(nn.Module):
    """T5: a learned bias by the distance of positions; the products as einsum."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 2)

    def forward(self, q, k, v):
        i = torch.arange(q.shape[2])
        bias = self.table((i[None, :] - i[:, None]).clamp(-4, 3) + 4).permute(2, 0, 1)[None]
        scores = torch.einsum("bhid,bhjd->bhij", q, k) + bias
        return torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)


def models():
    padding = torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]], dtype=torch.bool)
    sequences = {0: AUTO, 2: AUTO}
    yield "torch_packed_heads", PackedHeads(), (normal(2, 5, 8), padding), {"dynamo": True}
    yield "torch_masked", Masked(), (normal(2, 2, 5, 4), normal(2, 2, 7, 4), normal(2, 2, 7, 3), torch.rand(5, 7) < 0.7), {"dynamo": True}
    yield "torch_repeated", Repeated(), (normal(2, 6, 5, 4), normal(2, 3, 5, 4), normal(2, 3, 5, 4)), {"dynamo": True, "dynamic_shapes": (sequences,) * 3}
    yield "torch_with_past", WithPast(), (normal(2, 3, 8), normal(2, 2, 4, 4), normal(2, 2, 4, 4)), {"dynamo": False, "opset_version": 17}
    yield "torch_buckets", Buckets(), (normal(2, 2, 5, 4), normal(2, 2, 5, 4), normal(2, 2, 5, 3)), {"dynamo": True, "dynamic_shapes": (sequences,) * 3}


def part_inputs(attune, path, node, shape):
    """The tensors of the model that the part begins with, by their names in the graph, with the extents that it declares."""
    ran = subprocess.run([attune, "import", path, "--node", node, *(["--shape", shape] if shape else [])], capture_output=True, text=True, check=True)
    found = re.findall(r"^// input '([^']+)' is (\S+) \[([^\]]*)\](?:, declared as \[([^\]]*)\])?", ran.stdout, re.M)
    return {name: (tensor, [int(n) for n in (declared or extents).split(" x ")]) for name, tensor, extents, declared in found}


def main():
    attune, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    torch.manual_seed(0)
    for name, module, inputs, options in models():
        with torch.no_grad():
            expected = module.eval()(*inputs).numpy()
        path = folder / f"{name}.onnx"
        with tempfile.TemporaryDirectory() as held:
            exported = pathlib.Path(held) / "model.onnx"
            torch.onnx.export(module, inputs, str(exported), **options, **({"external_data": False, "verbose": False} if options["dynamo"] else {}))
            model = onnx.shape_inference.infer_shapes(onnx.load(exported))
        model.doc_string = ""
        model.ClearField("metadata_props")
        model.graph.ClearField("metadata_props")
        for stated in [*model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output, *model.graph.initializer]:
            stated.ClearField("metadata_props")
            stated.doc_string = ""
        onnx.save(model, path)
        symbols = {d.dim_param: e for i, x in zip(model.graph.input, inputs) for d, e in zip(i.type.tensor_type.shape.dim, x.shape) if d.dim_param}
        projection = next((n for n in model.graph.node if n.op_type == "Gemm"), None)
        node, shape = projection.input[0] if projection else model.graph.output[0].name, ",".join(f"{s}={e}" for s, e in symbols.items())
        print(name, node, shape)
        tensors = part_inputs(attune, path, node, shape)
        del model.graph.output[:]
        for tensor in [tensor for tensor, _ in tensors.values()] + [node]:
            model.graph.output.append(onnx.helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, None))
        arrays = ReferenceEvaluator(model).run(None, {i.name: x.numpy() for i, x in zip(model.graph.input, inputs)})
        for (part_input, (_, extents)), array in zip(tensors.items(), arrays):
            np.save(folder / f"{name}.{part_input}.npy", array.reshape(extents))
        np.save(folder / f"{name}.out.npy", arrays[-1] if projection else expected)


main()
