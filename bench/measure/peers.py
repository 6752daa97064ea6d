"""The libraries that kernels are measured beside. A peer of a row is a call without arguments that gives its result; everything that can
be prepared is prepared before. What a peer cannot do raises Skipped."""

import logging
import types
import warnings

import numpy

from cases import LINEAR_STRUCTS, layer_weights, linear_weights, visible_of_all
from formulas import t5_bucket
from flex import index_mask, index_score
from onednn_peer import OneDnn
from openvino_peer import OpenVino
from own import to_bf16
from problem import Skipped


def heads_in_one(x):
    """[batch, heads, group, ..] -> [batch, heads * group, ..] where there is a group."""
    return x.reshape(x.shape[0], -1, *x.shape[3:]) if x.ndim == 5 else x


class Torch:
    """PyTorch, eager or compiled; imported when it is first asked for."""

    def __init__(self):
        import torch

        self.torch = torch
        warnings.simplefilter("ignore")  # torch's compiler warns of what it was told to do
        logging.getLogger("torch").setLevel(logging.ERROR)
        torch.set_grad_enabled(False)
        torch._inductor.config.force_disable_caches = True  # a first call is a first call

    def tensor(self, x, row):
        if row.is_bf16 and x.dtype == numpy.float32:
            return self.torch.from_numpy(to_bf16(x).view("int16")).view(self.torch.bfloat16)
        return self.torch.from_numpy(numpy.ascontiguousarray(x))

    def compiled(self, function):
        # torch keeps what it compiles, eight calls at most, with a code: with one of its own none is compiled again at a later visit, or not at all.
        own = types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__, function.__defaults__, function.__closure__)
        return self.torch.compile(own, dynamic=False)

    def attention(self, row, inputs):
        functional = self.torch.nn.functional
        q, k, v = (self.tensor(heads_in_one(inputs[n]), row) for n in "qkv")
        options = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
        seen = visible_of_all(row, inputs)
        if row.kernel == "causal":
            options["is_causal"] = True
        elif seen is not None:
            options["attn_mask"] = self.torch.from_numpy(seen)
        return lambda: functional.scaled_dot_product_attention(q, k, v, **options)

    def multi_head(self, row, inputs):
        model, heads, w = inputs["x"].shape[2], inputs["wq"].shape[0], layer_weights(row, inputs)
        layer = self.torch.nn.MultiheadAttention(model, heads, batch_first=True).eval()
        layer.in_proj_weight.data = self.tensor(numpy.concatenate([w[f"w{n}"].reshape(-1, model) for n in "qkv"]), row)
        layer.in_proj_bias.data = self.tensor(numpy.concatenate([inputs[f"b{n}"].reshape(-1) for n in "qkv"]), row)
        layer.out_proj.weight.data = self.tensor(w["wo"].reshape(model, -1), row)
        layer.out_proj.bias.data = self.tensor(w["bo"], row)
        x = self.tensor(inputs["x"], row)
        return lambda: layer(x, x, x, need_weights=False)[0]

    def additive(self, row, inputs):
        q, k, v, wq, wk, wa = (self.tensor(inputs[n], row) for n in ("q", "k", "v", "wq", "wk", "wa"))

        def attend(q, k, v):
            hidden = self.torch.tanh((q @ wq.T)[:, :, None] + (k @ wk.T)[:, None])  # [batch, queries, keys, hidden]
            return self.torch.softmax(hidden @ wa, -1) @ v

        return attend, (q, k, v)

    def gradients(self, row, inputs):
        """Of a forward pass that was computed before."""
        with self.torch.enable_grad():
            qkv = [self.tensor(inputs[n], row).requires_grad_() for n in "qkv"]
            out = self.torch.nn.functional.scaled_dot_product_attention(*qkv, is_causal=bool(row.parameters.get("causal")))
        d_out = self.tensor(inputs["d_out"], row)
        return lambda: self.torch.autograd.grad(out, qkv, d_out, retain_graph=True)[0]

    def eager(self, row, inputs):
        if row.kernel == "attention_gradients":
            return self.gradients(row, inputs)
        if row.kernel in LINEAR_STRUCTS:
            x, w = (self.tensor(a, row) for a in (inputs["x"], linear_weights(row, inputs)))
            return lambda: self.torch.nn.functional.linear(x, w)
        if row.kernel == "multi_head":
            return self.multi_head(row, inputs)
        if row.kernel == "additive":
            attend, arguments = self.additive(row, inputs)
            return lambda: attend(*arguments)
        return self.attention(row, inputs)

    def flex(self, row, inputs):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        torch = self.torch
        q, k, v = (self.tensor(heads_in_one(inputs[n]), row) for n in "qkv")
        mask, score = self.mask_of(row, inputs), self.score_of(row, inputs, q.shape[2], k.shape[2])
        options = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
        if mask is not None:
            options["block_mask"] = create_block_mask(mask, None, None, q.shape[2], k.shape[2], device="cpu")
        if score is not None:
            options["score_mod"] = score
        attend = self.compiled(lambda q, k, v: flex_attention(q, k, v, **options))
        attend(q, k, v)  # compiles
        return lambda: attend(q, k, v)

    def mask_of(self, row, inputs):
        window, sinks = row.parameters.get("window"), row.parameters.get("sinks")
        if row.kernel == "sinks":
            return lambda b, h, i, j: (i >= j) & ((j < sinks) | (i - j < window))
        if row.kernel == "prefix_lm":
            prefix = int(inputs["prefix"][0])
            return lambda b, h, i, j: (i >= j) | (j < prefix)
        if row.kernel == "document":
            ids = self.torch.from_numpy(inputs["ids"][0].copy())
            return lambda b, h, i, j: ids[i] == ids[j]
        return index_mask(row)

    def score_of(self, row, inputs, queries, keys):
        if row.kernel == "relative_bias":  # one look-up for each pair, the buckets having been looked up before
            by_distance = self.tensor(inputs["bias"][t5_bucket(numpy.arange(1 - queries, keys))].T, row)
            return lambda s, b, h, i, j: s + by_distance[h, j - i + (queries - 1)]
        return index_score(self.torch, row, inputs["q"].shape[1], "cpu")


class OnnxRuntime:
    """onnxruntime's fused nodes on the CPU; a session for each row and number of threads."""

    def session(self, nodes, inputs, outputs, constants, threads):
        import onnx
        import onnxruntime

        real = onnx.TensorProto.FLOAT
        graph = onnx.helper.make_graph(
            nodes, "g", [onnx.helper.make_tensor_value_info(n, real, x.shape) for n, x in inputs.items()],
            [onnx.helper.make_tensor_value_info(n, real, None) for n in outputs],
            [onnx.numpy_helper.from_array(x, n) for n, x in constants.items()])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 23), onnx.helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 10
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, inputs)[0]

    def call(self, row, inputs):
        from onnx import helper

        if row.kernel == "multi_head":
            heads, model, w = inputs["wq"].shape[0], inputs["x"].shape[2], layer_weights(row, inputs)
            constants = {"w": numpy.concatenate([w[f"w{n}"].reshape(-1, model) for n in "qkv"]).T.copy(),
                         "b": numpy.concatenate([inputs[f"b{n}"].reshape(-1) for n in "qkv"]),
                         "wo": w["wo"].reshape(model, -1).T.copy(), "bo": w["bo"]}
            nodes = [helper.make_node("Attention", ["x", "w", "b"], ["joined"], domain="com.microsoft", num_heads=heads),
                     helper.make_node("MatMul", ["joined", "wo"], ["projected"]), helper.make_node("Add", ["projected", "bo"], ["out"])]
            return self.session(nodes, {"x": inputs["x"]}, ["out"], constants, row.threads)
        if row.kernel == "grouped_query":
            nodes = [helper.make_node("Attention", ["q", "k", "v"], ["out"])]
            arguments = {n: heads_in_one(inputs[n]) for n in "qkv"}
            return self.session(nodes, arguments, ["out"], {}, row.threads)
        # MultiHeadAttention has its heads side by side in memory: [batch, tokens, heads * depth]
        heads = inputs["q"].shape[1]
        arguments = {n: numpy.ascontiguousarray(inputs[n].swapaxes(1, 2)).reshape(inputs[n].shape[0], inputs[n].shape[2], -1) for n in "qkv"}
        nodes = [helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["out"], domain="com.microsoft", num_heads=heads,
                                  unidirectional=int(row.kernel == "causal"))]
        return self.session(nodes, arguments, ["out"], {}, row.threads)

    def as_ours(self, row, inputs, result):
        if row.kernel in ("multi_head", "grouped_query"):
            return result
        batch, heads, queries, _ = inputs["q"].shape
        return result.reshape(batch, queries, heads, -1).swapaxes(1, 2)


# Peers whose results lie as the kernel's, in the order in which they are loaded: both bring a library of TBB, and the second does with that of the first,
# which is newer.
WHOLE_PEERS = {"onednn": OneDnn, "openvino": OpenVino}


class Peers:
    """The peers by name. call(name, row, inputs) is prepared to be timed; result(...) is its output in the shape of the kernel's."""

    def __init__(self, attune):
        self.attune, self.torch_, self.onnxruntime = attune, None, OnnxRuntime()
        self.loaded = {}  # peers by name

    def set_threads(self, count):
        """Of all that have one number for the process."""
        if self.torch_ is not None:
            self.torch_.torch.set_num_threads(count)

    def torch(self, row):
        if self.torch_ is None:
            self.torch_ = Torch()
        self.set_threads(row.threads)
        return self.torch_

    def call(self, name, row, inputs):
        try:
            return self.prepared(name, row, inputs)
        except Skipped:
            raise
        except Exception as error:  # libraries say no in many ways; the table shows what they said
            raise Skipped(f"{type(error).__name__}: {str(error).strip().splitlines()[0][:160]}") from error

    def prepared(self, name, row, inputs):
        if name == "numpy":
            x, w = inputs["x"], linear_weights(row, inputs)
            return lambda: x @ w.T
        if name == "onnxruntime":
            return self.onnxruntime.call(row, inputs)
        if name in WHOLE_PEERS:
            if not self.loaded:
                self.loaded = {known: load() for known, load in WHOLE_PEERS.items()}
            return self.loaded[name].call(row, inputs)
        torch = self.torch(row)
        if name == "flex":
            return torch.flex(row, inputs)
        if name == "torch_compiled":
            attend, arguments = torch.additive(row, inputs)
            attend = torch.compiled(attend)
            attend(*arguments)
            return lambda: attend(*arguments)
        return torch.eager(row, inputs)

    def result(self, name, row, inputs, call, shape):
        """As an f32 array of the shape of the kernel's output."""
        result = call()
        if name == "onnxruntime":
            result = self.onnxruntime.as_ours(row, inputs, result)
        if hasattr(result, "detach"):
            result = result.detach().float().numpy()
        return result.reshape(shape)
