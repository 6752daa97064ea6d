"""OpenVINO on the CPU: a model for each row and number of threads."""

import numpy

from cases import LINEAR_STRUCTS, layer_weights, linear_weights, visible_of_all
from problem import Skipped


class OpenVino:
    """Imported by the first call."""

    def __init__(self):
        self.core = None

    def start(self):
        if self.core is None:
            import openvino
            from openvino import opset13

            self.openvino, self.ops, self.core = openvino, opset13, openvino.Core()

    def call(self, row, inputs):
        if row.type != "f32":
            raise Skipped("OpenVINO is measured in f32")
        self.start()
        if row.kernel in LINEAR_STRUCTS:
            x = inputs["x"]
            rows = self.parameter(x)
            return self.prepared(row, self.ops.matmul(rows, self.constant(linear_weights(row, inputs)), False, True), [rows], [x])
        if row.kernel == "multi_head":
            x = self.parameter(inputs["x"])
            return self.prepared(row, self.layer(row, inputs, x), [x], [inputs["x"]])
        arrays = self.heads_alike(*(inputs[name] for name in "qkv"))
        seen = visible_of_all(row, inputs)
        parameters = [self.parameter(x) for x in arrays]
        if row.kernel == "causal":
            return self.prepared(row, self.ops.scaled_dot_product_attention(*parameters, causal=True), parameters, arrays)
        if seen is not None:
            arrays.append(numpy.broadcast_to(seen, (1, 1, *seen.shape)).copy())
            parameters.append(self.parameter(arrays[-1]))
        return self.prepared(row, self.ops.scaled_dot_product_attention(*parameters), parameters, arrays)

    @staticmethod
    def heads_alike(q, k, v):
        """Where queries come in groups, keys and values are the same along them: [batch, heads, group or 1, ..]."""
        if q.ndim == k.ndim:
            return [q, k, v]
        return [q, k[:, :, None], v[:, :, None]]

    def parameter(self, x):
        return self.ops.parameter(x.shape, x.dtype)

    def constant(self, x):
        return self.ops.constant(numpy.ascontiguousarray(x))

    def layer(self, row, inputs, x):
        """Projections, attention and the projection of the heads side by side."""
        model, heads, w = inputs["x"].shape[2], inputs["wq"].shape[0], layer_weights(row, inputs)
        width = self.constant(numpy.array([0, 0, heads, -1]))
        by_heads = self.constant(numpy.array([0, 2, 1, 3]))

        def projected(name):
            flat = self.ops.matmul(x, self.constant(w[f"w{name}"].reshape(-1, model)), False, True)
            flat = self.ops.add(flat, self.constant(inputs[f"b{name}"].reshape(-1)))
            return self.ops.transpose(self.ops.reshape(flat, width, True), by_heads)

        attended = self.ops.scaled_dot_product_attention(*(projected(name) for name in "qkv"))
        joined = self.ops.reshape(self.ops.transpose(attended, by_heads), self.constant(numpy.array([0, 0, -1])), True)
        return self.ops.add(self.ops.matmul(joined, self.constant(w["wo"].reshape(model, -1)), False, True), self.constant(w["bo"]))

    def prepared(self, row, result, parameters, arrays):
        options = {"INFERENCE_NUM_THREADS": row.threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        request = self.core.compile_model(self.openvino.Model([result], parameters, row.name), "CPU", options).create_infer_request()
        arrays = [numpy.ascontiguousarray(x) for x in arrays]
        for number, x in enumerate(arrays):
            request.set_input_tensor(number, self.openvino.Tensor(x, shared_memory=True))

        def call():  # holds the arrays
            request.infer(share_inputs=True, share_outputs=True)
            return request.get_output_tensor(0).data if arrays else None

        return call
